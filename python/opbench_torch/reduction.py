"""Reductions of a tensor: some of its elements, or statistics."""

from __future__ import annotations

import threading
import zlib
from collections import OrderedDict, deque
from concurrent.futures import Future, ThreadPoolExecutor, wait
from dataclasses import replace
from typing import Any, Callable, Dict, Optional, Tuple

import numpy as np
import torch
from torch.multiprocessing.reductions import StorageWeakRef

from .layout import DEVICE_TYPES, DTYPE_NAMES, DATA_TYPES, TensorValue, check_storable, copy_tensor

#: Tensors up to this size are always read again: batch norm changes its running statistics without telling autograd.
_NEVER_REMEMBERED = 1 << 14
_REMEMBERED = 4096  # tensors
_BLOCK = 1 << 17  # elements
_AT_A_TIME = 4  # tensors being reduced or waiting

Copy = Callable[[torch.Tensor, str], TensorValue]


def sampler(most: int) -> Copy:
    """Reduces larger tensors to `most` elements, evenly spaced in logical order, starting at the first."""

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
    """Stores minimum, maximum, mean and L2 norm of a tensor in its stored dtype, and a hash, instead of its data.

    Other threads than the model's reduce large tensors, so the value is a Future. The tensor must not be written
    before `before_writing`. Results are cached: an operator's result is the next operator's input and is saved for
    backward."""

    def __init__(self) -> None:
        self._known: "OrderedDict[int, Tuple[StorageWeakRef, Dict[Any, Future[TensorValue]]]]" = OrderedDict()
        self._lock = threading.Lock()
        self._threads = ThreadPoolExecutor(2, "opbench statistics")
        self._running: "deque[Future[TensorValue]]" = deque()

    def __call__(self, tensor: torch.Tensor, where: str) -> Any:
        check_storable(tensor, where)
        if tensor.numel() <= _NEVER_REMEMBERED or tensor.is_inference():
            return _statistics(tensor)
        known, key = self._of_storage(tensor), _key(tensor, tensor._version)
        if key not in known:
            known[key] = self._begin(tensor)
        return known[key]

    def before_writing(self, tensor: torch.Tensor) -> None:
        """Waits until no thread reads the tensor's storage."""
        for future in list(self._of_storage(tensor).values()):
            wait([future])

    def written(self, tensor: torch.Tensor) -> None:
        """Must be called after an operator wrote the tensor, when its version has not yet increased by one. A write
        with `.data` never increases it, so cached results of the storage are dropped."""
        known = self._of_storage(tensor)
        known.clear()
        if tensor.numel() > _NEVER_REMEMBERED and not tensor.is_inference():
            known[_key(tensor, tensor._version)] = known[_key(tensor, tensor._version + 1)] = self._begin(tensor)

    # Few at a time, because each keeps its tensor alive.
    def _begin(self, tensor: torch.Tensor) -> "Future[TensorValue]":
        while len(self._running) >= _AT_A_TIME:
            wait([self._running.popleft()])
        future = self._threads.submit(_statistics, tensor.detach())
        self._running.append(future)
        return future

    def _of_storage(self, tensor: torch.Tensor) -> "Dict[Any, Future[TensorValue]]":
        storage = tensor.untyped_storage() if hasattr(tensor, "untyped_storage") else tensor.storage().untyped()
        with self._lock:
            if storage._cdata not in self._known:
                # The weak reference keeps the storage's address from being reused, without keeping its data.
                self._known[storage._cdata] = (StorageWeakRef(storage), {})
                if len(self._known) > _REMEMBERED:
                    self._known.popitem(last=False)
            return self._known[storage._cdata][1]


def _key(tensor: torch.Tensor, version: int) -> Any:
    return version, tensor.storage_offset(), tensor.shape, tensor.stride(), tensor.dtype


def _statistics(tensor: torch.Tensor) -> TensorValue:
    sums = _Sums(tensor.detach().resolve_conj().resolve_neg().cpu().contiguous().reshape(-1))
    is_float = tensor.dtype in (torch.float32, torch.float16, torch.bfloat16)
    device = DEVICE_TYPES[tensor.device.type]
    notes = {"opbench_shape": _text(tensor), "opbench_hash": sums.hash()}
    if tensor.dtype == torch.bfloat16 or (tensor.dtype == torch.float16 and device == 0):
        notes["opbench_dtype"] = DTYPE_NAMES[tensor.dtype]
    return TensorValue(sums.values().astype(np.float32 if is_float else np.float64), device,
                       DATA_TYPES[tensor.dtype] if is_float else DATA_TYPES[torch.float64], notes=notes, side="statistics")


class _Sums:
    """Statistics of a dense vector, computed block by block while the block is in the cache.

    NumPy needs one thread for each tensor. PyTorch's reductions would wait for threads that the model uses."""

    def __init__(self, data: torch.Tensor) -> None:
        self.count = data.numel()
        self.low, self.high, self.total, self.squares = np.inf, -np.inf, 0.0, 0.0
        self.columns = np.zeros(1024, np.int64)
        self.rows = [np.zeros(0, np.int64)]
        self.rest = b""
        with np.errstate(all="ignore"):
            for block in data.split(_BLOCK) if self.count else ():
                self._look_at(block)
                self._mix(block.view(torch.uint8).numpy())

    def _look_at(self, part: torch.Tensor) -> None:
        if part.is_complex():
            part = torch.view_as_real(part).reshape(-1)
        block = (part.float() if part.dtype in (torch.float16, torch.bfloat16) else part).numpy()
        block = block if block.dtype.kind == "f" else block.astype(np.float64)
        whole = block.size // 1024 * 1024
        rows, rest = block[:whole].reshape(-1, 1024), block[whole:].astype(np.float64)
        # Vectorised short sums in the block's dtype are faster and more accurate than one long sum.
        total = float(np.einsum("ij->i", rows).sum(dtype=np.float64) + rest.sum())
        square = float(np.einsum("ij,ij->j", rows, rows).sum(dtype=np.float64) + np.square(rest).sum())
        if not 1e-30 < square < 1e30:  # squares leave the range of float32 before the values do
            square = float(np.sum(np.square(block, dtype=np.float64)))
        self.low, self.high = np.minimum(self.low, block.min()), np.maximum(self.high, block.max())
        self.total, self.squares = self.total + total, self.squares + square

    def _mix(self, data: np.ndarray) -> None:
        whole = data.size // 8192 * 8192
        words = data[:whole].view(np.int64).reshape(-1, 1024)
        self.columns += words.sum(0)
        self.rows.append(words.sum(1))
        self.rest = data[whole:].tobytes()

    def values(self) -> np.ndarray:
        """Minimum, maximum, mean, norm; zeros for an empty tensor."""
        if self.count == 0:
            return np.zeros(4)
        return np.array([self.low, self.high, self.total / self.count, np.sqrt(self.squares)])

    def hash(self) -> str:
        """A hash of 32 bits of all bytes in logical order: CRC-32 of sums of 64-bit words, by column and by row of 8
        KiB."""
        code = zlib.crc32(self.columns)
        for piece in (*self.rows, self.rest):
            code = zlib.crc32(piece, code)
        return f"{code:08x}"


def reducer(sample: Optional[int], statistics: bool) -> Copy:
    """Returns the reduction for the options."""
    if statistics:
        return Statistics()
    return copy_tensor if sample is None else sampler(sample)
