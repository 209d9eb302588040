"""Reused memory for copies that wait to be written. Page faults of new memory cost more than copying."""

from __future__ import annotations

import mmap
import threading
from typing import Dict, List

import numpy as np

#: Smaller copies use memory of NumPy.
LEAST_BYTES = 1 << 18
#: Limit of unused bytes that are kept.
_KEPT_BYTES = 128 << 20


class Lease:
    """A buffer, valid while this object exists."""

    def __init__(self, pool: "Buffers", memory: mmap.mmap) -> None:
        self._pool, self._memory = pool, memory

    def array(self, bytes_: int) -> np.ndarray:
        return np.frombuffer(self._memory, np.uint8, bytes_)

    def __del__(self) -> None:
        self._pool.give_back(self._memory)


class Buffers:
    """Thread-safe pool. Buffers are not part of malloc's heap, which would not return memory between them to the
    system."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: Dict[int, List[mmap.mmap]] = {}
        self._free_bytes = 0

    def take(self, bytes_: int) -> Lease:
        size = _rounded(bytes_)
        with self._lock:
            free = self._free.get(size)
            if free:
                self._free_bytes -= size
                return Lease(self, free.pop())
        return Lease(self, mmap.mmap(-1, size))

    def give_back(self, memory: mmap.mmap) -> None:
        size = len(memory)
        with self._lock:
            if self._free_bytes + size <= _KEPT_BYTES:
                self._free.setdefault(size, []).append(memory)
                self._free_bytes += size


# Few different sizes, at most an eighth larger than needed.
def _rounded(bytes_: int) -> int:
    step = max(1 << (bytes_.bit_length() - 4), mmap.PAGESIZE)
    return -(-bytes_ // step) * step
