"""Selection of calls to record."""

from __future__ import annotations

import re
from typing import Iterable, List, Optional, Set, Union

import torch

from .backward import base_name
from .errors import DumperError

#: Forward operators that compute nothing, in addition to those that only make views. The original dumper also omits
#: them.
_IDLE = {"detach", "_unsafe_view", "_reshape_alias", "_to_copy", "to", "item", "_local_scalar_dense", "pin_memory", "numpy_T",
         "is_pinned", "is_same_size", "is_floating_point", "is_complex", "size", "stride", "dim", "numel", "set_", "resize_",
         "resize_as_", "lift", "lift_fresh", "empty_like", "new_empty", "new_empty_strided", "requires_grad_", "retain_grad",
         "backward", "cpu", "cuda", "npu", "type", "numpy", "view", "view_as", "t", "expand_as", "expand", "permute", "squeeze",
         "unsqueeze", "chunk", "split", "narrow", "slice", "select", "transpose", "_has_compatible_shallow_copy_type", "zeros_like", "ones_like"}
_IDLE_NODES = {name + "Backward" for name in (
    "View", "UnsafeView", "ReshapeAlias", "T", "Permute", "Transpose", "Unsqueeze", "Squeeze", "Alias", "ToCopy")}


class Selection:
    """Selection by the options. Module filters are paths such as "layer3" ("model.layer3" too) or modules."""

    def __init__(self, include: Optional[str] = None, exclude: Optional[str] = None,
                 modules: Iterable[Union[str, torch.nn.Module]] = (), steps: Optional[int] = None, views: bool = False) -> None:
        self._include, self._exclude = _pattern("include", include), _pattern("exclude", exclude)
        if isinstance(modules, (str, torch.nn.Module)):
            modules = [modules]
        self._paths: List[str] = [item[len("model."):] if item.startswith("model.") else item
                                  for item in modules if isinstance(item, str)]
        self._modules = [item for item in modules if isinstance(item, torch.nn.Module)]
        self._is_any_module = not self._paths and not self._modules
        self._given = list(self._paths)
        self._names: Set[str] = set()  # names of all modules of the called models
        self._taken: Set[str] = set()  # paths that have run operators
        if steps is not None and steps < 1:
            raise DumperError(f"steps is {steps}; a capture has 1 step or more")
        self.steps = steps
        self._views = views

    def found_root(self, root: torch.nn.Module) -> None:
        """Replaces module filters by paths in the called model."""
        for name, module in root.named_modules():
            self._names.add(name)
            if name and any(module is wanted for wanted in self._modules) and name not in self._paths:
                self._paths.append(name)

    def takes(self, name: str, module: Optional[str]) -> bool:
        """True if an operator of this name in this module is recorded, unless it is a view."""
        if self._include and not self._include.search(name):
            return False
        if self._exclude and self._exclude.search(name):
            return False
        if self._is_any_module:
            return True
        found = [path for path in self._paths if module is not None and (module == path or module.startswith(path + "."))]
        self._taken.update(found)
        return bool(found)

    def check_modules(self) -> None:
        """Errors: DumperError if a path is not of a module of the called models."""
        for path in self._given:
            if path in self._names or path in self._taken:
                continue
            tops = sorted({name.split(".")[0] for name in self._names if name})
            known = f"it has {', '.join(tops[:8])}" + (", ..." if len(tops) > 8 else "") if tops else "no module with parts was called"
            raise DumperError(f"modules={path!r}: the model has no such module; {known}")

    def is_idle(self, base: str, makes_view: bool) -> bool:
        """True for a forward operator that computes nothing."""
        return not self._views and (makes_view or base in _IDLE)

    def is_idle_node(self, name: str) -> bool:
        return not self._views and (base_name(name) in _IDLE_NODES or base_name(name).rstrip("0123456789") in _IDLE_NODES)


def _pattern(option: str, text: Optional[str]) -> Optional["re.Pattern[str]"]:
    try:
        return None if text is None else re.compile(text)
    except re.error as error:
        raise DumperError(f"{option}={text!r} is not a regular expression: {error}") from error
