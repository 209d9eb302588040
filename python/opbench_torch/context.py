"""The graph of one module as a context of a case file."""

from __future__ import annotations

import inspect
import json
import re
from dataclasses import replace
from typing import Any, Callable, Dict, List, Optional, Tuple, Union

import torch
from torch.utils._pytree import tree_flatten

from .calls import FunctionCall
from .cases import describe_tensor, described, only_counts, value_text
from .errors import DumperError
from .observer import Observer
from .operator_table import Described, Use, Values, dtypes_of, uses_of
from .selection import Selection

#: Products on the device have fp16 operands.
_STEPS = ("{name: native, variants: {default: native}}", "{name: npu, variants: {default: npu}, standard: cosine}")


class _Everything(Selection):
    def is_idle(self, base: str, makes_view: bool) -> bool:
        return base in ("size", "dim", "stride", "numel", "detach", "is_floating_point", "is_complex", "requires_grad_")


class _Graph(Observer):
    """Collects nodes. Tensors are identified by id(), so all of them are kept alive."""

    def __init__(self, name: str) -> None:
        super().__init__(name, "composite", _Everything())
        self.way = self
        self.nodes: List[str] = []
        self.names: Dict[int, str] = {}
        self.parameters: Dict[str, Described] = {}
        self.inputs: Dict[str, Described] = {}
        self._kept: List[torch.Tensor] = []
        self._counts: Dict[str, int] = {}  # number of uses of each name of a tensor or node
        self._nodes: Dict[str, int] = {}

    def call_it(self, tensor: torch.Tensor, wanted: str) -> str:
        """Returns a name for a tensor without a name, or a new name after it was written."""
        clean = re.sub(r"\W", "_", wanted)
        self._counts[clean] = self._counts.get(clean, 0) + 1
        self.names[id(tensor)] = clean if self._counts[clean] == 1 else f"{clean}_{self._counts[clean]}"
        self._kept.append(tensor)
        return self.names[id(tensor)]

    def described_as_known(self, tensor: torch.Tensor) -> Described:
        if id(tensor) not in self.names:  # created by a call that was not recorded
            self.inputs[self.call_it(tensor, "constant")] = describe_tensor(tensor)
        return replace(describe_tensor(tensor), strides=(), offset=0, name=self.names[id(tensor)])

    def operator(self, call: FunctionCall) -> Any:
        with self.quiet():
            inputs = described(call.values, self.described_as_known)
        result = call.run()
        with self.quiet():
            self._add(call, inputs, result)
        return result

    def _add(self, call: FunctionCall, inputs: Values, result: Any) -> None:
        if only_counts(inputs) or not any(isinstance(item, torch.Tensor) for item in tree_flatten(result)[0]):
            return
        if call.name in ("dropout", "alpha_dropout", "contiguous"):  # pass everything on
            self.names[id(result)] = inputs["self" if "self" in inputs else "input"].name
            self._kept.append(result)
            return
        node = f"{call.module}.{call.name}" if call.module else call.name
        results = list(result) if isinstance(result, (tuple, list)) else [result]
        results = [item for item in results if isinstance(item, torch.Tensor)]
        names = [self.call_it(item, node) for item in results]
        shapes = [replace(describe_tensor(item), strides=(), name=name) for item, name in zip(results, names)]
        outputs = {"result": shapes[0]} if not isinstance(result, (tuple, list)) else {
            f"result{index}": shape for index, shape in enumerate(shapes)}
        use = _special(call.name, inputs, shapes) or _first_use(call.name, inputs, outputs)
        if use is None:
            raise DumperError(f"{node} is not an operator of opbench, so the module cannot become a context; choose a part of it")
        self._nodes[node] = self._nodes.get(node, 0) + 1
        self.nodes.append(_node(node if self._nodes[node] == 1 else f"{node}.{self._nodes[node]}", use, names))

    def before_node(self, call: Any) -> None:
        return None

    def after_node(self, call: Any, grad_inputs: Any) -> None:
        return None


def _first_use(name: str, inputs: Values, outputs: Values) -> Optional[Use]:
    uses = uses_of(name.rstrip("_"), inputs, outputs)
    return uses[0] if uses and uses[0].inputs[0].dtype in dtypes_of(uses[0].op) | {"int64"} else None


# Functions of views, and functions without a row in the table.
def _special(name: str, inputs: Values, outputs: List[Described]) -> Optional[Use]:
    x = inputs.get("self", inputs.get("input"))
    if not isinstance(x, Described):
        return None
    rank = max(len(x.shape), 1)
    if name in ("chunk", "split", "split_with_sizes"):
        axis = inputs.get("dim", 0) % rank
        return Use("split", (x,), (("axis", axis), ("sizes", [part.shape[axis] for part in outputs])), tuple(outputs))
    if name in ("transpose", "t", "swapaxes") and rank > 1:
        first, second = (0, 1) if name == "t" else (inputs["dim0"] % rank, inputs["dim1"] % rank)
        order = list(range(rank))
        order[first], order[second] = second, first
        return Use("transpose", (x,), (("perm", order),), (outputs[0],))
    if name == "adaptive_avg_pool2d" and outputs[0].shape[-2:] == (1, 1):
        return Use("global_avg_pool2d", (x,), (), (outputs[0],))
    return None


def _node(name: str, use: Use, names: List[str]) -> str:
    found = [output.name if isinstance(output, Described) else "" for output in use.outputs]
    while found and not found[-1]:  # the last outputs that are not used
        found.pop()
    attrs = ", ".join(f"{key}: {value_text(value)}" for key, value in use.attrs)
    inputs = ", ".join(tensor.name for tensor in use.inputs)
    return (f"      - {{name: {json.dumps(name)}, op: {use.op}, in: [{inputs}], out: [{', '.join(found or names)}]"
            + (f", attrs: {{{attrs}}}" if attrs else "") + "}")


def context(module: torch.nn.Module, inputs: Union[torch.Tensor, Tuple[Any, ...]], name: str = "") -> str:
    """Returns a case file with one context: the graph of the module's forward pass, its parameters and buffers, and
    backward. Views become operators (`reshape`, `transpose`, `split`); dropouts are the identity.

    Errors: DumperError for an operator that opbench does not have."""
    args = inputs if isinstance(inputs, tuple) else (inputs,)
    name = name or re.sub(r"\W", "_", type(module).__name__)
    graph = _Graph(name)
    for path, tensor in [*module.named_parameters(), *module.named_buffers()]:
        graph.parameters[graph.call_it(tensor, path)] = describe_tensor(tensor)
    wanted = list(inspect.signature(module.forward).parameters)
    for index, tensor in enumerate(args):
        if isinstance(tensor, torch.Tensor):
            called = wanted[index] if index < len(wanted) else f"x{index}"
            graph.inputs[graph.call_it(tensor, called)] = describe_tensor(tensor)
    with graph.watch():
        result = module(*args)
    outputs = [graph.names[id(item)] for item in tree_flatten(result)[0] if isinstance(item, torch.Tensor)]
    return _text(name, graph, outputs)


class _Found(BaseException):
    pass


def first_call(path: str, run: Callable[[], None]) -> Tuple[torch.nn.Module, Tuple[Any, ...]]:
    """Returns the module at `path` of the first model called by `run`, and the arguments of its first call. Errors:
    DumperError if the module does not exist or is not called."""
    original, models, found = torch.nn.Module.__call__, [], []

    def call(module: torch.nn.Module, *args: Any, **kwargs: Any) -> Any:
        models.append(module)
        if module is _part(models[0], path):
            found.append((module, args))
            raise _Found
        return original(module, *args, **kwargs)

    torch.nn.Module.__call__ = call
    try:
        run()
    except _Found:
        pass
    finally:
        torch.nn.Module.__call__ = original
    if not found:
        raise DumperError(f"module {path} is never called")
    return found[0]


def _part(model: torch.nn.Module, path: str) -> torch.nn.Module:
    try:
        return model.get_submodule(path)
    except AttributeError as error:
        names = ", ".join(name for name, _ in model.named_children())
        raise DumperError(f"module {path} does not exist: {error}; the model has {names}") from error


def _text(name: str, graph: _Graph, outputs: List[str]) -> str:
    text = "\n".join(graph.nodes)
    used = {word for word in re.findall(r"\w+", " ".join(re.findall(r"in: \[(.*?)\]", text)))}
    tensors = (*graph.inputs.values(), *graph.parameters.values())
    floating = [tensor.dtype for tensor in tensors if tensor.dtype.startswith(("f", "bf"))]
    dtype = floating[0] if floating else "fp32"
    lines = [f"# {name}, captured by opbench_torch.", "contexts:", f"  - name: {name}", f"    dtypes: [{dtype}]"]
    for key, named in (("inputs", graph.inputs), ("parameters", graph.parameters)):
        shown = ", ".join(f"{one}: {_shape(tensor, dtype)}" for one, tensor in named.items() if one in used)
        lines += [f"    {key}: {{{shown}}}"] if shown else []
    lines += ["    nodes:", text, f"    outputs: [{', '.join(outputs)}]", "    backward: true", "    steps:"]
    lines += [f"      - {step}" for step in _STEPS]
    return "\n".join(lines) + "\n"


def _shape(tensor: Described, dtype: str) -> str:
    shape = json.dumps(list(tensor.shape))
    is_index = tensor.dtype != dtype and tensor.dtype.startswith(("i", "u"))
    return f"{{shape: {shape}, dtype: {tensor.dtype}}}" if is_index else shape
