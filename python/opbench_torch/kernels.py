"""Kernels in Python files, as variants of operators: `opbench run --kernels FILE.py`. Imports neither PyTorch nor NumPy."""

from __future__ import annotations

import importlib.util
import os
import sys
import traceback
from typing import Any, Callable, Iterable, List, NamedTuple, Optional, TypeVar

from .errors import DumperError

Function = TypeVar("Function", bound=Callable[..., Any])

DTYPES = ("fp64", "fp32", "fp16", "bf16", "int64", "int32", "int16", "int8", "uint8", "bool", "fp8_e4m3fn", "fp8_e5m2", "e8m0")


class Kernel(NamedTuple):
    op: str
    name: str
    function: Callable[..., Any]
    dtypes: List[str]  # empty: all of the operator's
    formats: List[str]  # empty: the origin format
    destination: bool
    array: str  # "torch" or "numpy"
    refuse: Optional[Callable[..., Optional[str]]]
    file: str
    line: int

    @property
    def source(self) -> str:
        return f"{os.path.basename(self.file)}:{self.line}"

    @property
    def summary(self) -> str:
        lines = (getattr(self.function, "__doc__", None) or "").strip().splitlines()
        return lines[0].strip() if lines else ""


_REGISTERED: List[Kernel] = []


def kernel(op: str, *, dtypes: Optional[Iterable[str]] = None, formats: Optional[Iterable[str]] = None,
           name: Optional[str] = None, destination: bool = False, array: str = "torch",
           refuse: Optional[Callable[..., Optional[str]]] = None) -> Callable[[Function], Function]:
    """Makes a function a variant of the operator `op`. The function itself stays what it is.

    It gets the inputs in the order of the operator (None for one that is not given) and the attributes that it names as
    keyword arguments; with `**kwargs` all of them. It returns a tensor or array, or a tuple of them. With
    `destination=True` the outputs follow the inputs, and it fills them. With `array="numpy"` it gets NumPy arrays.

    `dtypes`: those of opbench that it takes ("fp32"), all by default. `formats`: storage formats that it takes
    ("NC1HWC0"), the origin format by default. `refuse`: a function of the same arguments that returns the reason why the
    kernel does not take them, or None. `name`: by default that of the function.

    Errors: ValueError for an unknown dtype or array."""
    if not isinstance(op, str):
        raise ValueError('name the operator: @opbench_torch.kernel("softplus")')
    known = _listed(dtypes)
    unknown = [dtype for dtype in known if dtype not in DTYPES]
    if unknown:
        raise ValueError(f"dtype {unknown[0]!r} is unknown; one of {', '.join(DTYPES)}")
    if array not in ("torch", "numpy"):
        raise ValueError(f"array={array!r} is unknown; 'torch' or 'numpy'")
    frame = sys._getframe(1)

    def register(function: Function) -> Function:
        code = getattr(function, "__code__", frame.f_code)
        line = code.co_firstlineno if code is not frame.f_code else frame.f_lineno
        called = name or getattr(function, "__name__", type(function).__name__)
        added = Kernel(op, called, function, known, _listed(formats), destination, array, refuse, code.co_filename, line)
        for other in _REGISTERED:
            if (other.op, other.name, other.file) == (op, called, added.file):
                raise ValueError(f"{op} has a kernel {called!r} at {other.source} already; give this one another name=")
        _REGISTERED.append(added)
        return function

    return register


def _listed(values: Optional[Iterable[str]]) -> List[str]:
    return [values] if isinstance(values, str) else list(values or ())


def load_kernels(path: str) -> List[Kernel]:
    """The kernels of a file, which is run as a module of its own. Modules in its folder can be imported.
    Errors: DumperError with file and line."""
    path = os.path.abspath(path)
    if not os.path.isfile(path):
        raise DumperError(f"{path} is not a file; name a Python file with kernels")
    module_name = "opbench_kernels_" + os.path.splitext(os.path.basename(path))[0]
    spec = importlib.util.spec_from_file_location(module_name, path)
    if spec is None or spec.loader is None:
        raise DumperError(f"{path} is not a Python file; its name must end in .py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[module_name] = module
    sys.path.insert(0, os.path.dirname(path))
    first = len(_REGISTERED)
    try:
        spec.loader.exec_module(module)
    except (Exception, SystemExit) as error:
        raise DumperError(described(error, path)) from error
    if len(_REGISTERED) == first:
        raise DumperError(f'{path} has no kernel; decorate a function with @opbench_torch.kernel("softplus")')
    return _REGISTERED[first:]


def described(error: BaseException, path: str) -> str:
    """One line: "kernels.py:7: NameError: name 'x' is not defined". The place is the last one in the file."""
    line = error.lineno if isinstance(error, SyntaxError) and error.filename == path else None
    for frame in traceback.extract_tb(error.__traceback__):
        if frame.filename == path:
            line = frame.lineno
    message = error.msg if isinstance(error, SyntaxError) else str(error)
    place = f"{os.path.basename(path)}:{line}: " if line else ""
    return f"{place}{type(error).__name__}" + (f": {first_line(message)}" if first_line(message) else "")


def first_line(text: str) -> str:
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return lines[0] if lines else ""
