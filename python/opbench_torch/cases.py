"""The operators of a model as a case file."""

from __future__ import annotations

import contextlib
import json
import math
from collections import Counter
from dataclasses import dataclass, field
from typing import Any, Dict, Iterator, List, Optional, Tuple, Union

import torch

from .arguments import bind, operator_name
from .backward import base_name, node_name, saved_values
from .calls import NodeCall, OperatorCall
from .layout import DTYPE_NAMES, whole
from .observer import Observer
from .operator_table import Described, Use, Values, dtypes_of, uses_of
from .places import module_of
from .selection import Selection
from .views import chain_of, is_dense

_SPLITS = {"split_Tensor", "split_with_sizes", "split_sizes", "chunk", "unsafe_split_Tensor", "unsafe_chunk"}
_COPIES = {"clone", "contiguous", "_to_copy"}


_PASSING = {"CloneBackward", "CatBackward"}  # nodes that return their gradient or views of it


@dataclass
class Row:
    """A case: operator, count, first place, and inputs that are views."""

    use: Use
    dtype: str
    name: str
    count: int = 0
    views: Dict[int, str] = field(default_factory=dict)


class Cases:
    """The recorded operators, identical ones merged. `unknown` counts calls of operators that opbench does not have,
    `random` calls with random results. `text` is a case file, `write` writes it to a path."""

    def __init__(self, title: str = "a model") -> None:
        self.title = title
        self.rows: List[Row] = []
        self.unknown: "Counter[str]" = Counter()
        self.random: "Counter[str]" = Counter()
        self._index: Dict[Tuple[Use, str], Row] = {}

    def add(self, name: str, module: Optional[str], inputs: Values, outputs: Values) -> None:
        """Adds a call, by its name in dumps."""
        if base_name(name) in _PASSING or only_counts(inputs):
            return
        uses = _special(name, inputs, outputs) or uses_of(name, inputs, outputs)
        if uses == []:
            self.random[name] += 1
            return
        taken = [use for use in uses or [] if _is_taken(use)]
        if not taken:
            self.unknown[name] += 1
        for use in taken:
            if _computes(use):
                self._count(use, f"{module}.{use.op}" if module else use.op)

    def _count(self, use: Use, name: str) -> None:
        logical = Use(use.op, tuple(Described(t.shape, (), t.dtype) for t in use.inputs), _hashable(use.attrs))
        key = (logical, _dtype(use))
        if key not in self._index:
            views = {index: chain_of(t) for index, t in enumerate(use.inputs) if not is_dense(t)}
            self._index[key] = Row(use, _dtype(use), name, views=views)
            self.rows.append(self._index[key])
        self._index[key].count += 1

    @property
    def text(self) -> str:
        calls = sum(row.count for row in self.rows)
        lines = [f"# {self.title}: {calls} calls of operators, {len(self.rows)} different ones, captured by opbench_torch."]
        for what, counts in (("not known to opbench", self.unknown), ("drawn at random", self.random)):
            if counts:
                lines.append(f"# {what}: " + ", ".join(f"{name} x{count}" for name, count in counts.most_common()))
        return "\n".join([*lines, "cases:", *(_line(row) for row in self.rows)]) + "\n"

    def write(self, path: Any) -> None:
        with open(path, "w", encoding="utf-8") as file:
            file.write(self.text)


def only_counts(inputs: Values) -> bool:
    """True if all tensors are single integers, such as batch norm's number of batches."""
    tensors = [value for value in inputs.values() if isinstance(value, Described)]
    return bool(tensors) and all(not tensor.shape and "int" in tensor.dtype for tensor in tensors)


def _hashable(attrs: Any) -> Any:
    return tuple((name, tuple(value) if isinstance(value, list) else value) for name, value in attrs)


# The dtype of the first floating-point input, else of the first input. Statistics and weights in fp32 follow
# activations in fp16.
def _dtype(use: Use) -> str:
    floating = [t.dtype for t in use.inputs if t.dtype in ("fp64", "fp32", "fp16", "bf16")]
    return (floating or [t.dtype for t in use.inputs])[0]


def _is_taken(use: Use) -> bool:
    x = use.inputs[0]
    fits = use.op != "reshape" or math.prod(dict(use.attrs)["shape"]) == math.prod(x.shape)  # else a sum over broadcast axes
    return fits and _dtype(use) in dtypes_of(use.op) and all(len(tensor.shape) <= 5 for tensor in use.inputs)


# False if a gradient only passes through a sum, which needs no benchmark.
def _computes(use: Use) -> bool:
    attrs = dict(use.attrs)
    return not (use.op == "reshape" or (use.op == "muls" and attrs.get("value") == 1))


def _line(row: Row) -> str:
    inputs = []
    for tensor in row.use.inputs:
        shape = json.dumps(list(tensor.shape))
        is_index = tensor.dtype != row.dtype and tensor.dtype not in ("fp64", "fp32", "fp16", "bf16")
        inputs.append(f"{{shape: {shape}, dtype: {tensor.dtype}}}" if is_index else shape)
    attrs = ", ".join(f"{name}: {value_text(value)}" for name, value in row.use.attrs)
    parts = [f"name: {json.dumps(row.name)}", f"op: {row.use.op}", f"inputs: [{', '.join(inputs)}]"]
    parts += [f"attrs: {{{attrs}}}"] if attrs else []
    parts += [f"dtypes: [{row.dtype}]", f"count: {row.count}"]
    views = "; ".join(f"input {index} is {chain}" for index, chain in row.views.items())
    return f"  - {{{', '.join(parts)}}}" + (f"  # {views}" if views and row.use.op != "contiguous" else "")


def value_text(value: Any) -> str:
    if isinstance(value, (list, tuple)):
        return str(value[0]) if len(value) == 1 else json.dumps(list(value))
    if isinstance(value, bool):
        return str(value).lower()
    return json.dumps(value) if isinstance(value, str) and not value.isidentifier() else str(value)


# Calls without a row in the table, because a record lacks a value or the operator makes a view.
def _special(name: str, inputs: Values, outputs: Values) -> Optional[List[Use]]:
    x = inputs.get("self")
    if name in _SPLITS and isinstance(x, Described):
        axis = inputs.get("dim", 0) % max(len(x.shape), 1)
        parts = [value.shape[axis] for key, value in outputs.items() if key.startswith("result/")]
        return [Use("split", (x,), (("axis", axis), ("sizes", parts)))]
    if name in _COPIES and isinstance(x, Described) and not is_dense(x) and x.dtype == outputs["result"].dtype:
        view = chain_of(x)
        base = Described(*_base(x, view), x.dtype)
        return [Use("contiguous", (base,), (("view", view),))]
    grads = tuple(value for key, value in inputs.items() if key.startswith("grads/"))
    if name.startswith("SplitBackward") and len(grads) > 1:
        return [Use("concat", grads, (("axis", inputs["dim"] % len(grads[0].shape)),))]
    if name.startswith("MeanBackward") and inputs.get("self_sizes") and inputs.get("dim"):
        shape, grad = tuple(inputs["self_sizes"]), inputs["grads/grads_0"]
        reduced = Described(tuple(grad.shape), grad.strides, grad.dtype)
        axes = [axis % len(shape) for axis in inputs["dim"]]
        attrs = (("axes", axes), ("keep_dims", bool(inputs.get("keepdim"))))
        return [Use("reduce_mean_grad", (reduced, Described(shape, (), grad.dtype)), attrs)]
    return None


# Shape and strides of the dense tensor at the start of the chain.
def _base(tensor: Described, chain: str) -> Tuple[Tuple[int, ...], Tuple[int, ...]]:
    if chain.startswith("as_strided"):
        last = sum((extent - 1) * step for extent, step in zip(tensor.shape, tensor.strides))
        return (last + 1,), (1,)
    order = sorted(range(len(tensor.shape)), key=lambda axis: -tensor.strides[axis])
    return tuple(tensor.shape[axis] for axis in order), ()


class _Describing:
    """Adds every call to the cases and runs it unchanged."""

    def __init__(self, cases: Cases, observer: "_CaseObserver") -> None:
        self._cases, self._observer = cases, observer

    def operator(self, call: OperatorCall) -> Any:
        schema = call.func._schema
        inputs = described(((argument.name, value) for argument, value in bind(schema, call.args, call.kwargs)))
        result = call.run()
        returns = schema.returns
        results = (result,) if len(returns) == 1 else tuple(result or ())
        names = [item.name or ("result" if len(returns) == 1 else f"result{index}") for index, item in enumerate(returns)]
        outputs = described(zip(names, results))
        self._cases.add(operator_name(schema), call.module, inputs, outputs)
        return result

    def before_node(self, call: NodeCall) -> None:
        return None

    def after_node(self, call: NodeCall, grad_inputs: Any) -> None:
        with self._observer.quiet():
            inputs = described([("grads", list(call.grads)), *saved_values(call.node).items()])
            outputs = described([("grad_inputs", list(grad_inputs))])
            self._cases.add(node_name(call.node), module_of(call.node), inputs, outputs)


class _CaseObserver(Observer):
    """Includes views only if they are splits, because other views compute nothing."""

    def __init__(self, cases: Cases, steps: Optional[int]) -> None:
        super().__init__(cases.title, "operators", _CaseSelection(steps=steps))
        self.way = _Describing(cases, self)


class _CaseSelection(Selection):
    def is_idle(self, base: str, makes_view: bool) -> bool:
        is_split = any(name == base or name.startswith(base + "_") for name in _SPLITS)
        return base != "_to_copy" and not is_split and super().is_idle(base, makes_view)


def described(values: Any, describe: Any = None) -> Values:
    """Returns tensors without their data; numbers and lists are unchanged."""
    describe, found = describe or describe_tensor, {}
    for name, value in values:
        if isinstance(value, torch.Tensor):
            found[name] = describe(value)
        elif isinstance(value, (list, tuple)) and any(isinstance(item, torch.Tensor) for item in value):
            found.update({f"{name}/{name}_{index}": describe(item) for index, item in enumerate(value)
                          if isinstance(item, torch.Tensor)})
        elif isinstance(value, torch.dtype):
            found[name] = DTYPE_NAMES.get(value, str(value))
        elif isinstance(value, (list, tuple)) and all(isinstance(item, int) for item in value):
            found[name] = [whole(int(item)) for item in value]
        elif isinstance(value, int) and not isinstance(value, bool):
            found[name] = whole(value)
        elif isinstance(value, (bool, float)):
            found[name] = value
    return found


def describe_tensor(tensor: torch.Tensor) -> Described:
    device = {"cpu": "CPU", "cuda": "CUDA", "npu": "NPU"}.get(tensor.device.type, tensor.device.type)
    return Described(tuple(tensor.shape), tuple(tensor.stride()) if tensor.layout == torch.strided else (),
                     DTYPE_NAMES.get(tensor.dtype, str(tensor.dtype)), tensor.storage_offset(), device)


@contextlib.contextmanager
def watching(cases: Cases, steps: Optional[int] = None) -> Iterator[Observer]:
    """Adds the operators that run inside of the `with`."""
    observer = _CaseObserver(cases, steps)
    with observer.watch():
        yield observer


def cases(model: torch.nn.Module, inputs: Union[torch.Tensor, Tuple[Any, ...], Dict[str, Any]], backward: bool = True) -> Cases:
    """Runs the model once, forward and backward from the sum of all its results, and returns its operators.

    inputs: the model's arguments: a tensor, a tuple, or a dictionary."""
    found = Cases(type(model).__name__)
    args = inputs if isinstance(inputs, tuple) else () if isinstance(inputs, dict) else (inputs,)
    with torch.set_grad_enabled(backward):
        with watching(found):
            result = model(*args, **(inputs if isinstance(inputs, dict) else {}))
        if backward:
            loss = sum(item.float().sum() for item in torch.utils._pytree.tree_flatten(result)[0]
                       if isinstance(item, torch.Tensor) and item.requires_grad)
            if isinstance(loss, torch.Tensor):
                with watching(found):
                    loss.backward()
    return found
