"""Operators as PyTorch computes them: an expression, and gradients of it by autograd."""

from __future__ import annotations

import contextlib
import re
from typing import Any, Callable, Dict, Iterator, List, Optional, Sequence

import torch
import torch.nn.functional as F

from .errors import DumperError
from .guest_memory import Refused, TensorDesc, long_name, torch_dtype

_UNUSABLE = re.compile(r"not implemented|not support|unsupported|could not run|no kernel image|expected .*(dtype|scalar type)|"
                       r"does not take", re.IGNORECASE)


def refusal_of(error: BaseException) -> Optional[str]:
    """The text of an error that says that the device does not compute this dtype; None for others."""
    # PyTorch turns an exception of a hook into text, with the places in the code.
    text = re.sub(r"^Refused: | At: /.*", "", " ".join(str(error).split()))
    return text[:200] if isinstance(error, (RuntimeError, TypeError, IndexError)) and _UNUSABLE.search(text) else None


def _compiled(expression: str, shape: Sequence[int], dtype: str) -> Callable[[List[Any], Dict[str, Any]], Any]:
    names = {"torch": torch, "F": F, "SHAPE": list(shape), "DTYPE": long_name(dtype)}
    try:
        return eval(f"lambda x, a: {expression}", names)
    except SyntaxError as error:
        raise DumperError(f"{expression!r} is not an expression: {error.msg}") from error


class ExpressionCall:
    """`prepare` gets the inputs of a call, `run` is timed, `results` checks what it returned."""

    is_users = False

    def __init__(self, expression: str, outputs: Sequence[TensorDesc], attrs: Dict[str, Any]) -> None:
        self._function = _compiled(expression, outputs[0].shape, outputs[0].dtype)
        self._expression, self._outputs, self._attrs = expression, outputs, attrs
        self._x: List[Any] = []

    def prepare(self, inputs: Sequence[torch.Tensor]) -> None:
        self._x = list(inputs)
        # The shape [0] stands for an input that is not given. The expression takes it for each optional input but the last.
        while self._x and list(self._x[-1].shape) == [0] and f"len(x) > {len(self._x) - 1}" in self._expression:
            self._x.pop()

    def run(self) -> Any:
        with torch.no_grad():
            return self._function(self._x, self._attrs)

    def results(self, returned: Any) -> List[Any]:
        return _fitted(returned, self._outputs)


class GradientCall:
    """As ExpressionCall, for gradients of the expression with respect to inputs `gradients`. `arguments` says what the
    inputs of the call are."""

    is_users = False

    def __init__(self, expression: str, gradients: Sequence[int], arguments: Sequence[Any], inputs: Sequence[TensorDesc],
                 outputs: Sequence[TensorDesc], attrs: Dict[str, Any]) -> None:
        places = {(source, index): i for i, (source, index) in enumerate(arguments)}
        first = places.get(("output_gradient", 0))
        forward = outputs[0] if first is None else inputs[first]
        self._function = _compiled(expression, forward.shape, forward.dtype)
        self._gradients, self._places, self._outputs, self._attrs = gradients, places, outputs, attrs
        self._of: Callable[[], Any] = tuple

    def prepare(self, inputs: Sequence[torch.Tensor]) -> None:
        """Computes the expression."""
        given = {key: inputs[i] for key, i in self._places.items()}
        x, fillers = self._forward_inputs(given, inputs[0].device)
        leaves = [x[k] for k in self._gradients if x[k].is_floating_point()]
        for leaf in leaves:
            leaf.requires_grad_(True)
        replaced: Dict[int, torch.Tensor] = {}
        with torch.enable_grad(), _saved_values(replaced, fillers, any(source == "output" for source, _ in given)):
            y = self._function(x, self._attrs)
        ys = list(y) if isinstance(y, (tuple, list)) else [y]
        replaced.update({ys[k].data_ptr(): value for (source, k), value in given.items() if source == "output"})
        pairs = [(ys[k], value.reshape(ys[k].shape).to(ys[k].dtype)) for (source, k), value in given.items()
                 if source == "output_gradient" and ys[k].requires_grad]
        self._of = lambda: torch.autograd.grad([y for y, _ in pairs], leaves, [gradient for _, gradient in pairs],
                                               retain_graph=True, allow_unused=True) if pairs else [None] * len(leaves)
        self._device = inputs[0].device
        self._is_leaf = [x[k].is_floating_point() for k in self._gradients]

    # Inputs of the expression; those that the gradient does not depend on are zeros. Also addresses of zeros that must not
    # be read.
    def _forward_inputs(self, given: Dict[Any, torch.Tensor], device: torch.device) -> Any:
        x: List[Any] = [None] * (1 + max([k for source, k in given if "input" in source] + list(self._gradients)))
        fillers: List[int] = []
        for k in range(len(x)):
            value = given.get(("input", k), given.get(("zeros_like_input", k)))
            if value is None and k in self._gradients:
                output = self._outputs[self._gradients.index(k)]
                value = torch.zeros(output.shape, dtype=torch_dtype(output.dtype), device=device)
                fillers.append(value.data_ptr())
            x[k] = None if value is None else value.detach()
        return x, fillers

    def run(self) -> Any:
        return self._of()

    def results(self, returned: Any) -> List[Any]:
        found = iter(returned)
        gradients = [next(found) if is_leaf else None for is_leaf in self._is_leaf]
        filled = [torch.zeros(output.shape, dtype=torch_dtype(output.dtype), device=self._device)
                  if gradient is None else gradient
                 for gradient, output in zip(gradients, self._outputs)]
        return _fitted(tuple(filled), self._outputs)


# Autograd saves outputs of some operators, such as relu. Then the recorded outputs are used instead of computed ones.
@contextlib.contextmanager
def _saved_values(replaced: Dict[int, torch.Tensor], fillers: Sequence[int], has_outputs: bool) -> Iterator[None]:
    hooks = getattr(torch.autograd.graph, "saved_tensors_hooks", None) if hasattr(torch.autograd, "graph") else None
    if not fillers and not has_outputs:
        yield
        return
    if hooks is None:
        raise Refused(f"PyTorch {torch.__version__} cannot compute gradients without the inputs; 1.10 and later can")

    def unpack(saved: torch.Tensor) -> torch.Tensor:
        if saved.numel() > 0 and saved.data_ptr() in fillers:
            raise Refused("autograd needs an input that the operator does not take")
        value = replaced.get(saved.data_ptr())
        return saved if value is None or value.numel() != saved.numel() else value.reshape(saved.shape)

    with hooks(lambda tensor: tensor, unpack):
        yield


def _fitted(returned: Any, outputs: Sequence[TensorDesc]) -> List[torch.Tensor]:
    results = list(returned) if isinstance(returned, (tuple, list)) else [returned]
    if len(results) < len(outputs):
        raise DumperError(f"PyTorch returned {len(results)} results, expected {len(outputs)}")
    for result, output in zip(results, outputs):
        if list(result.shape) != output.shape:
            raise DumperError(f"PyTorch returned {output.name} with the shape {list(result.shape)}, expected {output.shape}")
    return results[:len(outputs)]
