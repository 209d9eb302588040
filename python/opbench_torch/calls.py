"""A call of an operator, forward or backward: name, inputs and outputs."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Dict, List, Optional, Sequence, Tuple

import torch

from .arguments import bind, encode, encode_inputs, encode_outputs, has_tensor, is_written
from .backward import encode_list, encode_saved, node_name
from .layout import Named
from .places import module_of

_UNKNOWN = ("", False)


@dataclass
class OperatorCall:
    """A call of an ATen operator, below autograd."""

    name: str
    module: Optional[str]
    func: Any
    args: Sequence[Any]
    kwargs: Dict[str, Any]

    def inputs(self, copy: Any) -> List[Named]:
        return encode_inputs(self.func._schema, self.args, self.kwargs, self.name, copy)

    def run(self) -> Any:
        return self.func(*self.args, **self.kwargs)

    def outputs(self, result: Any, copy: Any) -> List[Named]:
        return encode_outputs(self.func._schema, self.args, self.kwargs, result, self.name, copy)

    def written(self) -> List[torch.Tensor]:
        """The tensors that the call changes."""
        found = []
        for argument, value in bind(self.func._schema, self.args, self.kwargs):
            if is_written(argument):
                found += [item for item in (value if isinstance(value, (list, tuple)) else [value])
                          if isinstance(item, torch.Tensor)]
        return found


@dataclass
class FunctionCall:
    """A call of a composite function by the model."""

    name: str
    module: Optional[str]
    func: Any
    args: Sequence[Any]
    kwargs: Dict[str, Any]
    values: List[Tuple[str, Any]]

    def inputs(self, copy: Any) -> List[Named]:
        return [named for key, value in self.values for named in encode(key, value, _UNKNOWN, self.name, copy=copy)]

    def run(self) -> Any:
        return self.func(*self.args, **self.kwargs)

    def outputs(self, result: Any, copy: Any) -> List[Named]:
        if not has_tensor([result]):
            return []
        if self.written():
            return list(encode("self", self.values[0][1], _UNKNOWN, self.name, copy=copy))
        items = enumerate(result) if isinstance(result, (tuple, list)) else [("", result)]
        return [named for index, item in items if isinstance(item, torch.Tensor)
                for named in encode(f"result{index}", item, _UNKNOWN, self.name, copy=copy)]

    def written(self) -> List[torch.Tensor]:
        first = self.values[0][1]
        return [first] if self.name.endswith("_") and isinstance(first, torch.Tensor) else []


@dataclass
class NodeCall:
    """A run of an autograd node."""

    node: Any
    grads: Sequence[Any]

    @property
    def name(self) -> str:
        return node_name(self.node)

    @property
    def module(self) -> Optional[str]:
        return module_of(self.node)

    def inputs(self, copy: Any) -> List[Named]:
        return encode_list("grads", self.grads, self.name, copy) + encode_saved(self.node, self.name, copy)

    def outputs(self, grad_inputs: Any, copy: Any) -> List[Named]:
        return encode_list("grad_inputs", grad_inputs, self.name, copy)
