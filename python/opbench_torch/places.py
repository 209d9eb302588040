"""Place of a call: the module's path in the model, and the line of the user's code."""

from __future__ import annotations

import os
import sys
import threading
import weakref
from typing import Any, Callable, Dict, Iterator, List, Optional, Set

import torch
from torch.utils._pytree import tree_flatten

_PACKAGES = tuple(os.path.dirname(os.path.abspath(path)) + os.sep for path in (torch.__file__, __file__))
_KEY = "opbench_module"


def source_line() -> str:
    """Returns "train.py:31" for the innermost frame outside of PyTorch and of this package; "" without such a
    frame."""
    frame = sys._getframe(1)
    while frame is not None:
        file = frame.f_code.co_filename
        if not file.startswith(_PACKAGES) and not file.startswith("<"):
            return f"{file}:{frame.f_lineno}"
        frame = frame.f_back
    return ""


class ModulePaths:
    """Follows calls of modules in each thread, and labels autograd's nodes with the module that created them.

    `on_call` is called with each outermost module before it runs."""

    def __init__(self, on_call: Callable[[torch.nn.Module], None]) -> None:
        self._on_call = on_call
        self._thread = threading.local()
        self._names: "weakref.WeakKeyDictionary[torch.nn.Module, Dict[int, str]]" = weakref.WeakKeyDictionary()
        self._original: Any = None

    def install(self) -> None:
        self._original = original = torch.nn.Module.__call__
        paths = self

        def call(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
            return paths._follow(original, module, args, kwargs)

        torch.nn.Module.__call__ = call

    def remove(self) -> None:
        torch.nn.Module.__call__ = self._original

    @property
    def stack(self) -> List[Any]:
        """Pairs (module, path) from the outermost to the innermost."""
        if not hasattr(self._thread, "stack"):
            self._thread.stack = []
        return self._thread.stack

    def current(self) -> Optional[str]:
        """Path of the current module: "layer3.0.conv1"; "" in the outermost module, None outside of modules."""
        return self.stack[-1][1] if self.stack else None

    def enter_thread(self, stack: List[Any]) -> None:
        """Starts a helper thread at the module of the thread that it works for."""
        self._thread.stack = list(stack)

    def _follow(self, original: Any, module: torch.nn.Module, args: Any, kwargs: Any) -> Any:
        stack = self.stack
        if not stack:
            self._on_call(module)
        path = self._path(module)
        before = set(_nodes_of((args, kwargs))) if torch.is_grad_enabled() else set()
        stack.append((module, path))
        try:
            result = original(module, *args, **kwargs)
        finally:
            stack.pop()
        if path and torch.is_grad_enabled():
            _label(_nodes_of(result), before, path)
        return result

    def _path(self, module: torch.nn.Module) -> str:
        root = self.stack[0][0] if self.stack else module
        names = self._names.get(root)
        if names is None or id(module) not in names:
            names = self._names[root] = {id(part): name for name, part in root.named_modules()}
        return names.get(id(module), type(module).__name__)


def module_of(node: Any) -> Optional[str]:
    """Path of the module whose forward created this node."""
    return node.metadata.get(_KEY)


def _nodes_of(values: Any) -> Iterator[Any]:
    for value in tree_flatten(values)[0]:
        if isinstance(value, torch.Tensor) and value.grad_fn is not None:
            yield value.grad_fn


# Inner modules return first, so the first label is kept.
def _label(ends: Iterator[Any], before: Set[Any], path: str) -> None:
    seen = set(before)
    waiting = [node for node in ends if node not in seen]
    while waiting:
        node = waiting.pop()
        if node in seen:
            continue
        seen.add(node)
        node.metadata.setdefault(_KEY, path)
        waiting += [next_node for next_node, _ in node.next_functions if next_node is not None]
