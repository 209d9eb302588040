"""Autograd's nodes: hooks on the nodes of a backward pass, their saved values, and whether a node is running."""

from __future__ import annotations

import re
import threading
from typing import Any, Callable, Dict, Iterator, List, Sequence, Tuple

import torch
from torch.autograd import Variable

from .arguments import encode, saved_kind
from .layout import Named, copy_tensor

#: Nodes that PyTorch does not generate. They have no record, but the operators that they call do.
_HAND_WRITTEN = {"AccumulateGrad", "CopySlices", "CopyBackwards", "Broadcast", "Scatter", "Gather", "GraphRoot", "Error",
                 "NotImplemented", "DelayedError", "UndefinedGrad", "CheckpointFunctionBackward", "Identity"}


def node_name(node: Any) -> str:
    """Example: "AddmmBackward0". For a custom Function the class's name and "Backward"."""
    return node.name().split("::")[-1]


def is_custom(node: Any) -> bool:
    """True if the node's backward is Python code."""
    return isinstance(node, torch._C._FunctionBase)


class BackwardWatch:
    """Hooks every node that a backward pass can reach, while it runs.

    begin() is called for each pass. before(node, grads) may return other grads, after(node, grad_inputs, grads) other
    grad_inputs."""

    def __init__(self, begin: Callable[[], None], before: Callable[..., Any], after: Callable[..., Any]) -> None:
        self._begin, self._before, self._after = begin, before, after
        self._hooked: Dict[Any, int] = {}
        self._lock = threading.Lock()
        self._thread = threading.local()
        self._engine: Any = None

    def install(self) -> None:
        self._engine = Variable._execution_engine
        Variable._execution_engine = _WatchedEngine(self._engine, self)

    def remove(self) -> None:
        Variable._execution_engine = self._engine

    def is_of_node(self, frame: Any) -> bool:
        """True if a generated node called the caller of `frame` without Python code between, for example in the
        recomputation of a checkpoint. Threads of the engine have no frames."""
        return getattr(self._thread, "inside", False) and (frame is None or frame.f_code is BackwardWatch.run.__code__)

    def run(self, *args: Any, **kwargs: Any) -> Any:
        tensors = kwargs["tensors"] if "tensors" in kwargs else args[0]
        self._begin()
        nodes, handles = self._attach(tensors)
        outer = getattr(self._thread, "inside", False)
        self._thread.inside = False
        try:
            return self._engine.run_backward(*args, **kwargs)
        finally:
            self._thread.inside = outer
            for handle in handles:
                handle.remove()
            with self._lock:
                for node in nodes:
                    del self._hooked[node]

    def _attach(self, tensors: Sequence[Any]) -> Tuple[List[Any], List[Any]]:
        nodes, handles = [], []
        for node in _reachable(tensors):
            if node_name(node) in _HAND_WRITTEN:
                continue
            with self._lock:
                if node in self._hooked:
                    continue  # an outer pass through the same graph has set its hooks
                self._hooked[node] = 1
            nodes.append(node)
            handles.append(node.register_prehook(self._enter(node)))
            handles.append(node.register_hook(self._leave(node)))
        return nodes, handles

    def _enter(self, node: Any) -> Callable[..., Any]:
        def enter(grads: Any) -> Any:
            replaced = self._before(node, grads)
            self._thread.inside = not is_custom(node)  # operators called from Python code are recorded separately
            return replaced

        return enter

    def _leave(self, node: Any) -> Callable[..., Any]:
        def leave(grad_inputs: Any, grads: Any) -> Any:
            self._thread.inside = False
            return self._after(node, grad_inputs, grads)

        return leave


class _WatchedEngine:
    """Replaces PyTorch's engine object."""

    def __init__(self, engine: Any, watch: BackwardWatch) -> None:
        self._engine, self._watch = engine, watch

    def run_backward(self, *args: Any, **kwargs: Any) -> Any:
        return self._watch.run(*args, **kwargs)

    def __getattr__(self, name: str) -> Any:
        return getattr(self._engine, name)


def _reachable(tensors: Sequence[Any]) -> Iterator[Any]:
    seen = set()
    waiting = [getattr(tensor, "grad_fn", None) or getattr(tensor, "node", None) for tensor in _sequence(tensors)]
    while waiting:
        node = waiting.pop()
        if node is None or node in seen:
            continue
        seen.add(node)
        yield node
        waiting += [next_node for next_node, _ in node.next_functions]


def _sequence(tensors: Any) -> Sequence[Any]:
    return (tensors,) if isinstance(tensors, torch.Tensor) else tensors


def saved_values(node: Any) -> Dict[str, Any]:
    """Saved values of the node, by the names of derivatives.yaml, without values that were freed.

    A custom Function names its saved values in the class's attribute `opbench_saved`: first the tensors of
    save_for_backward in their order, then attributes of ctx."""
    if is_custom(node):
        return _saved_by_custom(node)
    saved = {}
    for attribute in dir(node):
        if not attribute.startswith("_saved_"):
            continue
        try:
            # Sizes are symbolic since PyTorch 1.13. The layout uses their older names.
            saved[attribute[len("_saved_"):].replace("_sym_", "_")] = getattr(node, attribute)
        except RuntimeError:  # freed, changed in place, or a checkpoint that returns it only once
            continue
    return saved


def _saved_by_custom(node: Any) -> Dict[str, Any]:
    try:
        tensors = list(node.saved_tensors)
    except RuntimeError:
        return {}
    names = list(getattr(getattr(node, "_forward_cls", None), "opbench_saved", ()))
    saved = {names[index] if index < len(names) else f"saved_{index}": tensor for index, tensor in enumerate(tensors)}
    saved.update({name: getattr(node, name, None) for name in names[len(tensors):]})
    return saved


def encode_saved(node: Any, where: str, copy: Any = copy_tensor) -> List[Named]:
    name = node_name(node)
    return [named for key, value in saved_values(node).items()
            for named in encode(key, value, saved_kind(name, key), where, is_forward=False, copy=copy)]


def encode_list(name: str, values: Sequence[Any], where: str, copy: Any = copy_tensor) -> List[Named]:
    """Returns grads or grad_inputs. Undefined ones are omitted, their indices are kept."""
    return list(encode(name, list(values), ("TensorType", False), where, is_forward=False, copy=copy))


def base_name(name: str) -> str:
    """Returns "ReluBackward" for ReluBackward0."""
    return re.sub(r"\d+$", "", name)
