"""Numbers and types of the HDF5 layout of Ascend's dumper (adapted PyTorch 1.5), and conversion of values."""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import IntEnum
from typing import Any, Dict, List, Optional, Tuple, Union

import numpy as np
import torch

from .buffers import LEAST_BYTES, Buffers, Lease
from .errors import DumperError


class SaveType(IntEnum):
    """Attribute `Type` of a dataset: the argument's type in the dumper."""

    TENSOR = 0
    VEC_I64 = 2
    I64 = 3
    BOOL = 4
    DOUBLE = 5
    OPT_DOUBLE = 6
    SCALAR = 7
    OPT_INT64 = 9
    OPT_SCALAR = 10
    SCALAR_TYPE = 14
    AR_LONG_INT = 16
    OPT_MEM_FMT = 17


#: Attribute `DataType`. bf16 is stored as float32 with the attribute opbench_dtype; complex has ONNX's numbers.
DATA_TYPES = {
    torch.float32: 1, torch.uint8: 2, torch.int8: 3, torch.int16: 5, torch.int32: 6, torch.int64: 7, torch.bool: 9,
    torch.float16: 10, torch.float64: 11, torch.bfloat16: 1, torch.complex64: 14, torch.complex128: 15,
}

#: Names of dtypes in opbench.
DTYPE_NAMES = {
    torch.float32: "fp32", torch.uint8: "uint8", torch.int8: "int8", torch.int16: "int16", torch.int32: "int32",
    torch.int64: "int64", torch.bool: "bool", torch.float16: "fp16", torch.float64: "fp64", torch.bfloat16: "bf16",
    torch.complex64: "complex64", torch.complex128: "complex128",
}

#: Floats of one byte of newer versions of PyTorch. They are stored as float32, like bf16.
_BYTE_FLOATS = {getattr(torch, name): own for name, own in (
    ("float8_e4m3fn", "fp8_e4m3fn"), ("float8_e5m2", "fp8_e5m2"), ("float8_e8m0fnu", "e8m0")) if hasattr(torch, name)}
DATA_TYPES.update(dict.fromkeys(_BYTE_FLOATS, 1))
DTYPE_NAMES.update(_BYTE_FLOATS)

#: Attribute `DeviceType`: c10's numbers. 10 is the first free number, which Ascend's patch uses.
DEVICE_TYPES = {"cpu": 0, "cuda": 1, "xla": 9, "npu": 10, "xpu": 12, "mps": 13, "privateuseone": 10}

_MEMORY_FORMATS = {
    torch.contiguous_format: 0, torch.preserve_format: 1, torch.channels_last: 2, torch.channels_last_3d: 3,
}


@dataclass
class TensorValue:
    """A tensor as a dataset: a C-contiguous array in the stored type, and its attributes."""

    array: np.ndarray
    device_type: int
    data_type: int
    format_type: int = 0
    notes: Dict[str, str] = field(default_factory=dict)
    lease: Optional[Lease] = None  # owner of the array's memory
    side: Optional[str] = None  # "sample" or "statistics": an incomplete tensor, stored outside of input and output

    @property
    def bytes(self) -> int:
        return self.array.nbytes


@dataclass
class PlainValue:
    """A number or a list of integers as a dataset, with the attribute `Type` only."""

    array: np.ndarray
    save_type: SaveType

    @property
    def bytes(self) -> int:
        return self.array.nbytes


Value = Union[TensorValue, PlainValue]
#: Name below input or output ("self", "grads/grads_0") and value.
Named = Tuple[str, Value]


@dataclass
class Record:
    """One execution of an operator: /{name}/{seq}. None for `inputs`: the file has no group for them (load mode)."""

    name: str
    seq: int
    inputs: Optional[List[Named]]
    outputs: List[Named]
    notes: Dict[str, str]

    @property
    def bytes(self) -> int:
        return sum(getattr(value, "bytes", 0) for _, value in [*(self.inputs or []), *self.outputs])


def check_storable(tensor: torch.Tensor, where: str) -> None:
    """Errors: DumperError if the layout has no form for `tensor`, which is `where` in the message."""
    kind = None
    if tensor.layout != torch.strided:
        kind = f"{tensor.layout} tensor"
    elif tensor.dtype not in DATA_TYPES:
        kind = f"tensor of dtype {tensor.dtype}"
    elif tensor.device.type not in DEVICE_TYPES:
        kind = f"tensor on device {tensor.device.type}"
    if kind:
        name = where.split("/")[0]
        raise DumperError(f"{where} is a {kind}, which a dump cannot hold; leave the operator out with exclude='^{name}$'")


def copy_tensor(tensor: torch.Tensor, where: str) -> TensorValue:
    """Returns a dense copy in logical order on the CPU; fp16 and bf16 are widened to float32."""
    check_storable(tensor, where)
    array, lease = _dense(tensor.detach().resolve_conj().resolve_neg())
    value = TensorValue(array, DEVICE_TYPES[tensor.device.type], DATA_TYPES[tensor.dtype], storage_format(tensor), lease=lease)
    if array.dtype in (np.uint8, np.bool_):
        value.array = array.view(np.int8)
    # fp16 from the CPU is garbage in the original dumper's files. The mark distinguishes opbench's files.
    is_marked = tensor.dtype in (torch.bfloat16, *_BYTE_FLOATS) or (tensor.dtype == torch.float16 and value.device_type == 0)
    # PyTorch has no hif8 and no int4: the values of such a tensor are float32 or int8, and it has an attribute of this name.
    mark = getattr(tensor, "opbench_dtype", DTYPE_NAMES[tensor.dtype] if is_marked else None)
    if mark is not None:
        value.notes["opbench_dtype"] = mark
    return value


_buffers = Buffers()


def _dense(source: torch.Tensor) -> Tuple[np.ndarray, Optional[Lease]]:
    dtype = torch.float32 if source.dtype in (torch.float16, torch.bfloat16, *_BYTE_FLOATS) else source.dtype
    if source.numel() * source.element_size() < LEAST_BYTES:
        return torch.empty(source.shape, dtype=dtype).copy_(source).numpy(), None
    kind = torch.empty(0, dtype=dtype).numpy().dtype
    lease = _buffers.take(source.numel() * kind.itemsize)
    array = lease.array(source.numel() * kind.itemsize).view(kind).reshape(tuple(source.shape))
    torch.from_numpy(array).copy_(source)
    return array, lease


def storage_format(tensor: torch.Tensor) -> int:
    """aclFormat of an NPU tensor's storage; 0 (NCHW) for other tensors."""
    if tensor.device.type not in ("npu", "privateuseone"):
        return 0
    import torch_npu  # installed only with an NPU

    return int(torch_npu.get_npu_format(tensor))


def whole(value: int) -> int:
    """Converts to int64. Autograd's nodes of PyTorch 1.13 return -1 as 2**64 - 1."""
    return value - (1 << 64) if value >= 1 << 63 else value


def plain(save_type: SaveType, value: Any) -> Optional[PlainValue]:
    """Returns a number, a list of integers or an enumerator; None if the layout has no form for the value."""
    if save_type in (SaveType.VEC_I64, SaveType.AR_LONG_INT):
        return PlainValue(np.array([whole(int(item)) for item in value], np.int64), save_type)
    if save_type == SaveType.SCALAR_TYPE:
        number = -1 if value == torch.bfloat16 else DATA_TYPES.get(value, -1)
        return PlainValue(np.int32(number if number <= 11 else -1), save_type)
    if save_type == SaveType.OPT_MEM_FMT:
        return PlainValue(np.int32(_MEMORY_FORMATS.get(value, -1)), save_type)
    if save_type in (SaveType.DOUBLE, SaveType.OPT_DOUBLE):
        return PlainValue(np.float64(value), save_type)
    return _number(save_type, value)


def _number(save_type: SaveType, value: Any) -> Optional[PlainValue]:
    if isinstance(value, bool):
        return PlainValue(np.int8(value), save_type)
    if isinstance(value, int):
        return PlainValue(np.int64(whole(value)), save_type)
    if isinstance(value, float):
        return PlainValue(np.float64(value), save_type)
    return None  # complex
