"""Writes records as Ascend's PyTorch dumper does: /{operator}/{seq}/{input|output}/{name}, fp16 widened to fp32."""

import h5py
import numpy as np

from records import Scalar, ScalarType

# The attribute DataType, and how the elements are stored.
DATA_TYPES = {np.dtype(np.float32): 1, np.dtype(np.uint8): 2, np.dtype(np.int64): 7, np.dtype(np.float16): 10}
STORED = {np.dtype(np.float16): np.float32, np.dtype(np.uint8): np.int8}
NPU, CUDA = 10, 1
NCHW, ND = 0, 2
# The attribute Type of a dataset.
TENSOR, VEC_I64, I64, BOOL, DOUBLE, SCALAR, SCALAR_TYPE, AR_LONG_INT = 0, 2, 3, 4, 5, 7, 14, 16


def write(path, records, device):
    with h5py.File(path, "w") as file:
        for record in records:
            for side, values in (("input", record.inputs), ("output", record.outputs)):
                for name, value in values.items():
                    place = f"/{record.op}/{record.seq}/{side}/{name}"
                    if isinstance(value, np.ndarray):
                        put_tensor(file, place, value, device)
                    else:
                        put_number(file, place, value, record.is_backward)


def put_tensor(file, path, value, device):
    data = file.create_dataset(path, data=value.astype(STORED.get(value.dtype, value.dtype)))
    data.attrs["DeviceType"] = np.int32(NPU if device.is_npu else CUDA)
    data.attrs["DataType"] = np.int32(DATA_TYPES[value.dtype])
    data.attrs["FormatType"] = np.int32(ND if device.is_npu and value.ndim != 4 else NCHW)
    data.attrs["Type"] = np.int32(TENSOR)
    data.attrs["Stride"] = np.array([np.prod(value.shape[i + 1:], dtype=np.int64) for i in range(value.ndim)], np.int64)


def put_number(file, path, value, is_backward):
    kind, stored = number(value, is_backward)
    file.create_dataset(path, data=stored).attrs["Type"] = np.int32(kind)


def number(value, is_backward):
    """Its Type and its stored value."""
    if isinstance(value, tuple):  # an IntArrayRef, which an autograd node keeps as a vector
        return VEC_I64 if is_backward else AR_LONG_INT, np.array(value, np.int64)
    if isinstance(value, Scalar):
        return SCALAR, np.int64(value.value)
    if isinstance(value, ScalarType):
        return SCALAR_TYPE, np.int32(DATA_TYPES[value.dtype])
    if isinstance(value, bool):
        return BOOL, np.int8(value)
    return (I64, np.int64(value)) if isinstance(value, int) else (DOUBLE, np.float64(value))
