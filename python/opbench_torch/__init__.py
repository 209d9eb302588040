"""Dumps, case files and reproducible starts from a running PyTorch model, and kernels in Python, for opbench."""

import importlib
import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any, List

from .errors import DumperError, missing
from .kernels import kernel
from .tables import read

if TYPE_CHECKING:
    from .beginnings import Reproducible, compare_setup, reproducible
    from .cases import Cases, cases
    from .closeness import assert_close
    from .context import context
    from .session import dumper

__all__ = ["Cases", "DumperError", "Reproducible", "assert_close", "cases", "compare_setup", "context", "dumper", "kernel",
           "read", "reproducible"]
__version__ = "0.1.0"

#: Modules that need PyTorch, NumPy and h5py. Importing the package and reading tables imports none of these.
_LAZY = {"Cases": "cases", "Reproducible": "beginnings", "assert_close": "closeness", "cases": "cases",
         "compare_setup": "beginnings", "context": "context", "dumper": "session", "reproducible": "beginnings"}


def __getattr__(name: str) -> Any:
    if name not in _LAZY:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    try:
        value = getattr(importlib.import_module(f"{__name__}.{_LAZY[name]}"), name)
    except ModuleNotFoundError as error:
        raise missing(error, name) from error
    globals()[name] = value
    return value


def __dir__() -> List[str]:
    return sorted({*globals(), *__all__})


class _Package(ModuleType):
    """Keeps the functions `cases` and `context` as attributes when the modules of these names are imported."""

    def __setattr__(self, name: str, value: Any) -> None:
        if name not in _LAZY or not isinstance(value, ModuleType):
            super().__setattr__(name, value)


sys.modules[__name__].__class__ = _Package
