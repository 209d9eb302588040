"""The two modes that record forward operators: below autograd, and as called by the model."""

from __future__ import annotations

import contextlib
import inspect
import sys
import types
from functools import lru_cache
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence, Tuple

import torch
from torch.overrides import TorchFunctionMode
from torch.utils import _python_dispatch
from torch.utils._python_dispatch import TorchDispatchMode

#: handler(func, args, kwargs) runs the operator and returns its result. The handler of operators also gets the calling
#: frame.
Handler = Callable[..., Any]


class OperatorMode(TorchDispatchMode):
    """Operators as backends get them: addmm of a linear layer, native_batch_norm of a batch norm."""

    def __init__(self, handler: Handler) -> None:
        super().__init__()
        self._handler = handler

    def __torch_dispatch__(self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Optional[Dict[str, Any]] = None) -> Any:
        caller = sys._getframe().f_back
        while caller is not None and caller.f_code.co_name == "__torch_dispatch__":  # skips PyTorch's own frame around this one
            caller = caller.f_back
        return self._handler(func, args, kwargs or {}, caller)


class CompositeMode(TorchFunctionMode):
    """Functions as the model calls them: linear, batch_norm. Functions called by those are not recorded."""

    def __init__(self, handler: Handler) -> None:
        super().__init__()
        self._handler = handler

    def __torch_function__(self, func: Any, types: Any, args: Sequence[Any] = (), kwargs: Optional[Dict[str, Any]] = None) -> Any:
        return self._handler(func, args, kwargs or {})


@contextlib.contextmanager
def no_modes() -> Iterator[None]:
    """Disables recording. Needed because modes may get a number instead of a tensor, which called functions reject."""
    with contextlib.ExitStack() as exits:
        if hasattr(_python_dispatch, "_disable_current_modes"):  # since PyTorch 2.0
            exits.enter_context(_python_dispatch._disable_current_modes())
        guard = None if hasattr(_python_dispatch, "_disable_current_modes") else torch._C._DisableTorchDispatch()
        exits.enter_context(torch._C.DisableTorchFunction())
        exits.enter_context(torch.no_grad())
        yield
    del guard


def function_name(func: Any) -> Optional[str]:
    """Returns "add" for Tensor.__add__, "linear" for F.linear; None for attributes, hooks and backward(), which are not
    operators."""
    name = getattr(func, "__name__", "")
    if name.startswith("__"):
        inner = name[2:-2]
        is_inplace = inner.startswith("i") and hasattr(torch.Tensor, f"__{inner[1:]}__") and inner not in ("invert",)
        name = (inner[1:] if is_inplace else inner).replace("truediv", "div") + ("_" if is_inplace else "")
    is_operator = hasattr(torch.ops.aten, name) if name.isidentifier() else False
    is_functional = getattr(func, "__module__", None) == "torch.nn.functional"
    return name if is_operator or is_functional else None


def bind_function(func: Any, name: str, args: Sequence[Any], kwargs: Dict[str, Any]) -> Optional[List[Tuple[str, Any]]]:
    """Returns names and values of a function's arguments; None if no signature of that name accepts them."""
    signature = inspect.signature(func) if isinstance(func, types.FunctionType) else None
    if signature and not any(one.kind == one.VAR_POSITIONAL for one in signature.parameters.values()):
        bound = signature.bind(*args, **kwargs)
        bound.apply_defaults()
        return [(_schema_name(name, key), value) for key, value in bound.arguments.items()]
    # Pools select one of two functions by return_indices, which is not in any schema.
    kwargs = {key: value for key, value in kwargs.items() if key != "return_indices"}
    for schema in _schemas(name):
        values = _bind_schema(schema, args, kwargs)
        if values is not None:
            return values
    return None


# torch.nn.functional names an argument `input` that most schemas name `self`.
@lru_cache(maxsize=None)
def _schema_name(operator: str, argument: str) -> str:
    known = {described.name for schema in _schemas(operator) for described in schema.arguments}
    return "self" if argument == "input" and "input" not in known and "self" in known else argument


@lru_cache(maxsize=None)
def _schemas(name: str) -> List[Any]:
    packet = getattr(torch.ops.aten, name, None)
    return [] if packet is None else [getattr(packet, overload)._schema for overload in packet.overloads()]


def _bind_schema(schema: Any, args: Sequence[Any], kwargs: Dict[str, Any]) -> Optional[List[Tuple[str, Any]]]:
    arguments = schema.arguments
    places = [argument for argument in arguments if not argument.kwarg_only]
    if len(places) == 1 and len(args) > 1:
        return None
    # view(2, 3) is equal to view([2, 3])
    if len(args) > len(places) and places and "List" in str(places[-1].type):
        args = [*args[:len(places) - 1], list(args[len(places) - 1:])]
    given = {argument.name: value for argument, value in zip(places, args)}
    names = {argument.name for argument in arguments}
    for key, value in kwargs.items():
        key = key if key in names else {"input": "self", "axis": "dim"}.get(key, key)
        if key not in names or key in given:
            return None
        given[key] = value
    if len(args) > len(places):
        return None
    values = []
    for argument in arguments:
        if argument.name not in given and not argument.has_default_value():
            return None
        value = given.get(argument.name, argument.default_value)
        if not _fits(str(argument.type), value):
            return None
        values.append((argument.name, value))
    return values


def _fits(kind: str, value: Any) -> bool:
    if kind.startswith("Optional["):
        return value is None or _fits(kind[len("Optional["):-1], value)
    if kind == "Tensor":
        return isinstance(value, torch.Tensor)
    if kind.startswith("List["):
        return isinstance(value, (list, tuple)) or (isinstance(value, int) and kind == "List[int]")
    if kind in ("number", "Scalar", "float"):
        return isinstance(value, (int, float, complex))
    if kind == "int":
        return isinstance(value, (int, torch.dtype, torch.layout, torch.memory_format))
    if kind == "bool":
        return isinstance(value, bool)
    return True
