"""Dumps, cases and comparable beginnings from a running PyTorch model: what opbench reads."""

from .beginnings import Reproducible, compare_setup, reproducible
from .cases import Cases, cases
from .context import context
from .errors import DumperError
from .session import dumper
from .tables import read

__all__ = ["Cases", "DumperError", "Reproducible", "cases", "compare_setup", "context", "dumper", "read", "reproducible"]
__version__ = "0.1.0"
