"""Less than a whole tensor: some of its elements, or statistics."""

from __future__ import annotations

import threading
import zlib
from collections import OrderedDict
from dataclasses import replace
from typing import Any, Callable, Dict, Optional, Tuple

import numpy as np
import torch
from torch.multiprocessing.reductions import StorageWeakRef

from .layout import DEVICE_TYPES, DTYPE_NAMES, DATA_TYPES, TensorValue, check_storable, copy_tensor

#: Tensors up to this size are always looked at again: batch norm changes its running statistics without telling autograd.
_NEVER_REMEMBERED = 1 << 14
_REMEMBERED = 4096  # tensors

Copy = Callable[[torch.Tensor, str], TensorValue]


def sampler(most: int) -> Copy:
    """Tensors of more than `most` elements as at most so many, evenly spaced in logical order, from the first on."""

    def copy(tensor: torch.Tensor, where: str) -> TensorValue:
        if tensor.numel() <= most:
            return copy_tensor(tensor, where)
        check_storable(tensor, where)
        step = -(-tensor.numel() // most)
        value = copy_tensor(tensor.detach().reshape(-1)[::step], where)
        notes = {**value.notes, "opbench_shape": _text(tensor), "opbench_sample": f"every {step}th element"}
        return replace(value, side="sample", notes=notes)

    return copy


def _text(tensor: torch.Tensor) -> str:
    return "x".join(map(str, tensor.shape))


class Statistics:
    """Minimum, maximum, mean and L2 norm of a tensor instead of its data, in its dtype as it is stored, and a hash.

    What was looked at is remembered: an operator's result is the next one's input and kept for backward."""

    def __init__(self) -> None:
        self._known: "OrderedDict[int, Tuple[StorageWeakRef, Dict[Any, TensorValue]]]" = OrderedDict()
        self._lock = threading.Lock()

    def __call__(self, tensor: torch.Tensor, where: str) -> TensorValue:
        check_storable(tensor, where)
        if tensor.numel() <= _NEVER_REMEMBERED:
            return _statistics(tensor)
        storage = _storage(tensor)
        key = (tensor._version, tensor.storage_offset(), tensor.shape, tensor.stride(), tensor.dtype)
        with self._lock:
            if storage._cdata not in self._known:
                # The weak reference keeps the storage's address from being used again, and not its data.
                self._known[storage._cdata] = (StorageWeakRef(storage), {})
                if len(self._known) > _REMEMBERED:
                    self._known.popitem(last=False)
            known = self._known[storage._cdata][1]
        if key not in known:
            known[key] = _statistics(tensor)
        return known[key]

    def forget(self, tensor: torch.Tensor) -> None:
        """Of a tensor that was written: its version changes later, and with `.data` not at all."""
        with self._lock:
            self._known.pop(_storage(tensor)._cdata, None)


def _storage(tensor: torch.Tensor) -> Any:
    return tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage().untyped()


def _statistics(tensor: torch.Tensor) -> TensorValue:
    source = tensor.detach().resolve_conj().resolve_neg()
    values = _summary(source)
    is_float = tensor.dtype in (torch.float32, torch.float16, torch.bfloat16)
    notes = {"opbench_shape": _text(tensor), "opbench_hash": _hash(source), "opbench_statistics": "min max mean norm"}
    device = DEVICE_TYPES[tensor.device.type]
    if tensor.dtype == torch.bfloat16 or (tensor.dtype == torch.float16 and device == 0):
        notes["opbench_dtype"] = DTYPE_NAMES[tensor.dtype]
    return TensorValue(values.astype(np.float32 if is_float else np.float64), device,
                       DATA_TYPES[tensor.dtype] if is_float else DATA_TYPES[torch.float64], notes=notes, side="statistics")


def _summary(source: torch.Tensor) -> np.ndarray:
    if source.numel() == 0:
        return np.zeros(4)
    if source.is_complex():
        source = torch.view_as_real(source)
    if not source.is_floating_point():
        source = source.double()
    elif source.dtype != torch.float64:
        source = source.float()
    low, high = torch.aminmax(source)
    return torch.stack([low, high, source.mean(), torch.linalg.vector_norm(source)]).double().cpu().numpy()


def _hash(source: torch.Tensor) -> str:
    """32 bits of all bytes in logical order: CRC-32 of sums of 64-bit words, by column and by row of 8 KiB."""
    data = source.cpu().contiguous().reshape(-1).view(torch.uint8)
    whole = data.numel() // 8192 * 8192
    code = zlib.crc32(data[whole:].numpy())
    if whole:
        words = data[:whole].view(torch.int64).reshape(-1, 1024)
        for axis in (0, 1):
            code = zlib.crc32(words.sum(axis).numpy(), code)
    return f"{code:08x}"


def reducer(sample: Optional[int], statistics: bool) -> Copy:
    """What the options ask for."""
    if statistics:
        return Statistics()
    return copy_tensor if sample is None else sampler(sample)
