"""Dumps, cases and comparable beginnings from a running PyTorch model: what opbench reads."""

from .errors import DumperError
from .session import dumper

__all__ = ["DumperError", "dumper"]
__version__ = "0.1.0"
