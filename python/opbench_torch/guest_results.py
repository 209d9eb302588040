"""Checks of what a kernel returns: plain tensors in its own memory, or an error."""

from __future__ import annotations

from typing import Any, Iterable, List, Sequence, Tuple

import numpy as np
import torch

from .errors import DumperError
from .guest_memory import NAMES, TORCH_VERSION, TensorDesc, torch_dtype

_SAMPLES = 64
_BITS = {1: torch.uint8, 2: torch.int16, 4: torch.int32, 8: torch.int64}
#: First and last + 1 address.
Range = Tuple[int, int]


def plain_results(returned: Any, outputs: Sequence[TensorDesc], device: torch.device) -> List[Any]:
    """Tensors and arrays in the order of the outputs. Errors: DumperError."""
    results = list(returned) if type(returned) in (tuple, list) else [returned]
    if returned is None:
        raise DumperError("returned None; a kernel that fills its outputs is declared with destination=True")
    if len(results) != len(outputs):
        raise DumperError(f"returned {len(results)} results, expected {len(outputs)}: "
                          f"{', '.join(output.name for output in outputs)}")
    for result, output in zip(results, outputs):
        _check(result, output, device)
    return results


def _check(result: Any, output: TensorDesc, device: torch.device) -> None:
    is_tensor = type(result) in (torch.Tensor, torch.nn.Parameter)
    if not is_tensor and type(result) is not np.ndarray:
        raise DumperError(f"returned a {type(result).__name__}, not a plain tensor")
    if is_tensor and result.layout is not torch.strided:
        raise DumperError(f"returned a tensor with the layout {result.layout}, not a dense one")
    if is_tensor and result.device != device:
        raise DumperError(f"returned {output.name} on the device {result.device}, expected {device}")
    if list(result.shape) != output.storage:
        raise DumperError(f"returned {output.name} with the shape {list(result.shape)}, expected {output.storage}")
    expected = torch_dtype(output.dtype)
    is_right = result.dtype is expected if is_tensor else NAMES.get(result.dtype) == output.dtype
    if not is_right:
        found = str(result.dtype).replace("torch.", "")
        raise DumperError(f"returned {output.name} with the dtype {found}, expected {str(expected).replace('torch.', '')}")


def range_of(tensor: Any) -> Range:
    """Of a dense tensor or array."""
    if isinstance(tensor, np.ndarray):
        return tensor.__array_interface__["data"][0], tensor.__array_interface__["data"][0] + tensor.nbytes
    return tensor.data_ptr(), tensor.data_ptr() + tensor.numel() * tensor.element_size()


def is_view(result: Any, inputs: Iterable[Range], format_: str = "ND") -> bool:
    """True if the result is not computed yet as dense elements, in memory of its own."""
    if isinstance(result, np.ndarray):
        if not result.flags.c_contiguous or not result.flags.writeable:
            return True
    elif not _is_dense(result, format_) or getattr(result, "is_neg", bool)():  # a negative bit: -x as a view of x
        return True
    begin, end = range_of(result)
    return any(begin < last and first < end for first, last in inputs)


def _is_dense(tensor: torch.Tensor, format_: str) -> bool:
    layout = {"NHWC": torch.channels_last, "NDHWC": getattr(torch, "channels_last_3d", None)}.get(format_)
    if layout is not None and tensor.dim() == len(format_):
        return tensor.is_contiguous() or tensor.is_contiguous(memory_format=layout)
    return tensor.is_contiguous()


def dense_copy(result: Any) -> Any:
    if isinstance(result, np.ndarray):
        return np.array(result, order="C")
    return torch.empty(result.shape, dtype=result.dtype, device=result.device).copy_(result)


def as_tensor(result: Any) -> torch.Tensor:
    return torch.from_numpy(result) if isinstance(result, np.ndarray) else result.detach()


def sample_of(result: torch.Tensor) -> torch.Tensor:
    """A copy of some elements."""
    elements = result.reshape(-1)
    return elements[::max(elements.numel() // _SAMPLES, 1)].clone()


def has_same_bits(a: torch.Tensor, b: torch.Tensor) -> bool:
    if TORCH_VERSION < (1, 7):
        return bool(a.numpy().tobytes() == b.numpy().tobytes())
    bits = _BITS[a.element_size()]
    return torch.equal(a.view(bits), b.view(bits))


def spoil(result: torch.Tensor) -> None:
    """Changes every element, so that a kernel that returns the same memory again does not return the same numbers."""
    if result.is_floating_point() and result.element_size() > 1:
        result.fill_(float("nan"))
    elif result.element_size() == 1:
        bits = result if result.dtype is torch.bool else result.view(torch.uint8)
        bits.copy_(torch.logical_not(bits) if result.dtype is torch.bool else bits.bitwise_not())
    else:
        result.copy_(result.bitwise_not())
