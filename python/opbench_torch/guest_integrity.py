"""Finds changes that a kernel makes to the guest and to the methods of PyTorch that the guest uses."""

from __future__ import annotations

import sys
from types import FunctionType
from typing import Any, List, Mapping, Sequence, Tuple

import torch

from .errors import DumperError

#: The guest copies inputs and results by these. Other packages replace them, too, so that a change is only a remark.
_METHODS = ("copy_", "fill_", "detach", "to", "cpu", "clone", "view", "reshape", "contiguous")


class Integrity:
    """The functions of the guest and of its `objects` before the kernels are loaded."""

    def __init__(self, objects: Sequence[Any]) -> None:
        # The place of a name, the name, its value; and functions with their code.
        self._held: List[Tuple[Mapping[str, Any], str, Any]] = []
        self._codes: List[Tuple[FunctionType, Any]] = []
        for name, module in sorted(sys.modules.items()):
            if name.startswith(f"{__package__}.guest") or name == f"{__package__}.kernels":
                self._hold(vars(module))
                for value in list(vars(module).values()):
                    if isinstance(value, type) and value.__module__ == name:
                        self._hold(vars(value))
        for held in objects:
            self._hold(vars(held))
        self._methods = [(name, getattr(torch.Tensor, name)) for name in _METHODS]

    def _hold(self, names: Mapping[str, Any]) -> None:
        for name, value in names.items():
            if callable(value):
                self._held.append((names, name, value))
                if isinstance(value, FunctionType):
                    self._codes.append((value, value.__code__))

    def check(self, session: Any) -> None:
        """Errors: DumperError if a function of the guest or of the session was replaced."""
        for names, name, value in self._held:
            if names.get(name) is not value:
                raise DumperError(f"changed {name} of the guest, which measures it")
        for function, code in self._codes:
            if function.__code__ is not code:
                raise DumperError(f"changed {function.__name__} of the guest, which measures it")
        for name in vars(session):
            if hasattr(type(session), name):
                raise DumperError(f"changed {name} of the guest, which measures it")

    def replaced_methods(self) -> List[str]:
        return [name for name, method in self._methods if getattr(torch.Tensor, name) is not method]
