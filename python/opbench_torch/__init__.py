"""Dumps, case files and reproducible starts from a running PyTorch model, for opbench."""

from typing import Any

from .errors import DumperError, missing
from .tables import read

__all__ = ["Cases", "DumperError", "Reproducible", "cases", "compare_setup", "context", "dumper", "read", "reproducible"]
__version__ = "0.1.0"

try:
    from .beginnings import Reproducible, compare_setup, reproducible
    from .cases import Cases, cases
    from .context import context
    from .session import dumper
except ModuleNotFoundError as error:
    _error = error
    missing(error)  # reading tables needs no PyTorch

    def __getattr__(name: str) -> Any:
        if name in __all__:
            raise missing(_error, name)
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
