"""Tensors of a guest: views of the memory that it shares with opbench."""

from __future__ import annotations

import mmap
import os
import re
import resource
from typing import Any, Dict, List, NamedTuple, Optional

import numpy as np
import torch

from .errors import DumperError

#: Before and after an output that a kernel fills.
GUARD_BYTES = 256
TORCH_VERSION = tuple(int(part) for part in re.findall(r"\d+", torch.__version__)[:2])

_NUMPY = {"fp64": np.float64, "fp32": np.float32, "fp16": np.float16, "int64": np.int64, "int32": np.int32, "int16": np.int16,
          "int8": np.int8, "uint8": np.uint8, "bool": np.bool_}
#: Dtypes that NumPy does not have, with those that hold their bits.
_BITS = {"bf16": np.int16, "fp8_e4m3fn": np.uint8, "fp8_e5m2": np.uint8, "e8m0": np.uint8}
_TORCH = {"fp64": "float64", "fp32": "float32", "fp16": "float16", "bf16": "bfloat16", "fp8_e4m3fn": "float8_e4m3fn",
          "fp8_e5m2": "float8_e5m2", "e8m0": "float8_e8m0fnu"}
NAMES = {np.dtype(numpy_type): name for name, numpy_type in _NUMPY.items()}


class Refused(Exception):
    """The guest does not take a case. The message is the reason."""


class TensorDesc(NamedTuple):
    name: str
    dtype: str
    format: str
    shape: List[int]
    storage: List[int]
    at: int

    @classmethod
    def of(cls, message: Dict[str, Any]) -> "TensorDesc":
        return cls(*(message[field] for field in cls._fields))


def long_name(dtype: str) -> str:
    """Returns "float32" for "fp32"."""
    return _TORCH.get(dtype, dtype)


def has_numpy_dtype(dtype: str) -> bool:
    return dtype in _NUMPY


def torch_dtype(dtype: str) -> torch.dtype:
    """Errors: Refused."""
    found: Optional[torch.dtype] = getattr(torch, long_name(dtype), None)
    if found is None or (dtype in _BITS and TORCH_VERSION < (1, 7)):  # earlier ones cannot view int16 as bf16
        raise Refused(f"PyTorch {torch.__version__} has no {dtype}")
    return found


def limit_memory() -> None:
    """Lets kernels take three quarters of the machine's memory. Private memory is limited, not address space, which devices
    reserve."""
    with open("/proc/self/statm", encoding="ascii") as file:
        used = int(file.read().split()[5])  # pages of private memory
    most = (used + os.sysconf("SC_PHYS_PAGES") * 3 // 4) * os.sysconf("SC_PAGESIZE")
    soft, _ = resource.getrlimit(resource.RLIMIT_DATA)
    most = most if soft == resource.RLIM_INFINITY else min(soft, most)
    resource.setrlimit(resource.RLIMIT_DATA, (most, most))


class SharedMemory:
    """Memory of a descriptor, which grows and does not shrink."""

    def __init__(self, descriptor: int) -> None:
        self._descriptor = os.dup(descriptor)  # a kernel may close the other one
        self._bytes = np.empty(0, np.uint8)

    def grow(self, size: int) -> None:
        # Tensors of open sessions keep the earlier mapping of the same memory.
        if size > self._bytes.size:
            self._bytes = np.frombuffer(mmap.mmap(self._descriptor, size), np.uint8)

    def tensor(self, desc: TensorDesc) -> torch.Tensor:
        """A view in the extents of the storage. Errors: Refused for a dtype that PyTorch does not have."""
        dtype = torch_dtype(desc.dtype)
        bits = np.dtype(_NUMPY.get(desc.dtype, _BITS.get(desc.dtype)))
        count = int(np.prod(desc.storage, dtype=np.int64))
        if desc.at + count * bits.itemsize > self._bytes.size:
            raise DumperError(f"{desc.name} ends after the shared memory of {self._bytes.size} bytes")
        array = self._bytes[desc.at:desc.at + count * bits.itemsize].view(bits)
        tensor = torch.from_numpy(array)
        return (tensor.view(dtype) if desc.dtype in _BITS else tensor).reshape(desc.storage)


class Guarded:
    """An output that a kernel fills, on its device, between guards."""

    def __init__(self, desc: TensorDesc, device: torch.device) -> None:
        dtype = torch_dtype(desc.dtype)
        self._name = desc.name
        held = torch.uint8 if desc.dtype in _BITS and desc.dtype != "bf16" else dtype
        self._value = float("nan") if held.is_floating_point else 1 if held is torch.bool else 77
        count = int(np.prod(desc.storage, dtype=np.int64))
        guard = GUARD_BYTES // torch.empty(0, dtype=held).element_size()
        self._all = torch.empty(count + 2 * guard, dtype=held, device=device)
        self._guards = {"before": self._all[:guard], "after": self._all[guard + count:]}
        inside = self._all[guard:guard + count]
        self.tensor = (inside if held is dtype else inside.view(dtype)).reshape(desc.storage)

    def poison(self) -> None:
        self._all.fill_(self._value)

    def check(self) -> None:
        """Errors: DumperError if a guard was changed."""
        for where, guard in self._guards.items():
            changed = guard == guard if guard.is_floating_point() else guard != self._value
            if bool(changed.any()):
                raise DumperError(f"wrote {where} its output {self._name}")
