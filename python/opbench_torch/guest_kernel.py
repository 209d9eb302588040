"""A user's kernel with the inputs and attributes of a case."""

from __future__ import annotations

import inspect
from typing import Any, Dict, List, Sequence

import torch

from .errors import DumperError
from .guest_memory import Guarded, Refused, TensorDesc, has_numpy_dtype, long_name
from .guest_results import plain_results
from .kernels import Kernel


class KernelCall:
    """`prepare` gets the inputs of a call, `run` is timed, `results` checks what it returned."""

    is_users = True  # its results are checked, and spoiled after a call

    def __init__(self, kernel: Kernel, inputs: Sequence[TensorDesc], outputs: Sequence[TensorDesc], attrs: Dict[str, Any],
                 device: torch.device) -> None:
        if kernel.array == "numpy":
            _check_numpy([*inputs, *outputs], device)
        self._kernel, self._outputs, self._device = kernel, outputs, device
        self._not_given = [_is_not_given(desc, outputs) for desc in inputs]
        self._guarded = [Guarded(output, device) for output in outputs] if kernel.destination else []
        self._all_attrs = attrs
        self._attrs = _accepted(kernel, attrs, len(inputs) + len(self._guarded))
        self._arguments: List[Any] = []

    def prepare(self, inputs: Sequence[torch.Tensor]) -> None:
        for guarded in self._guarded:
            guarded.poison()
        given = [None if absent else tensor for tensor, absent in zip(inputs, self._not_given)]
        tensors = given + [guarded.tensor for guarded in self._guarded]
        self._arguments = [_array(tensor) for tensor in tensors] if self._kernel.array == "numpy" else tensors

    def refusal(self, inputs: Sequence[torch.Tensor]) -> None:
        """Errors: Refused if the kernel does not take the case."""
        if self._kernel.refuse is None:
            return
        self.prepare(inputs)
        attrs = _accepted(self._kernel._replace(function=self._kernel.refuse), self._all_attrs, len(self._arguments))
        reason = self._kernel.refuse(*self._arguments, **attrs)
        if reason:
            raise Refused(str(reason))

    def run(self) -> Any:
        return self._kernel.function(*self._arguments, **self._attrs)

    def results(self, returned: Any) -> List[Any]:
        if not self._guarded:
            return plain_results(returned, self._outputs, self._device)
        for guarded in self._guarded:
            guarded.check()
        return [guarded.tensor for guarded in self._guarded]


# An optional input that is not given has the shape [0]. An empty input has it too, but then the outputs are empty.
def _is_not_given(desc: TensorDesc, outputs: Sequence[TensorDesc]) -> bool:
    return desc.shape == [0] and any(0 not in output.shape for output in outputs)


def _array(tensor: Any) -> Any:
    return None if tensor is None else tensor.numpy()


def _check_numpy(tensors: Sequence[TensorDesc], device: torch.device) -> None:
    if device.type != "cpu":
        raise Refused(f"NumPy does not have the device {device}")
    for desc in tensors:
        if not has_numpy_dtype(desc.dtype):
            raise Refused(f"NumPy has no {long_name(desc.dtype)}")


# The attributes that the function names. Errors: DumperError if it cannot be called with them.
def _accepted(kernel: Kernel, attrs: Dict[str, Any], arguments: int) -> Dict[str, Any]:
    try:
        signature = inspect.signature(kernel.function)
    except (TypeError, ValueError):  # a function of C
        return {}
    named = list(signature.parameters.values())
    positional = [parameter for parameter in named if parameter.kind is not parameter.KEYWORD_ONLY][:arguments]
    taken = {parameter.name for parameter in positional if parameter.kind is not parameter.VAR_KEYWORD}
    if any(parameter.kind is parameter.VAR_KEYWORD for parameter in named):
        accepted = {name: value for name, value in attrs.items() if name not in taken}
    else:
        keywords = {parameter.name for parameter in named
                    if parameter.kind in (parameter.POSITIONAL_OR_KEYWORD, parameter.KEYWORD_ONLY)} - taken
        accepted = {name: value for name, value in attrs.items() if name in keywords}
    try:
        signature.bind(*[None] * arguments, **accepted)
    except TypeError as error:
        raise DumperError(f"{kernel.source}: {kernel.name} cannot be called with {arguments} tensors and the attributes "
                          f"{', '.join(attrs) or 'none'}: {error}") from error
    return accepted
