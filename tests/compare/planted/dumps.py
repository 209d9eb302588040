"""Writes records as Ascend's PyTorch dumper does: /{operator}/{seq}/{input|output}/{name}, data in float32."""

import h5py
import numpy as np

FLOAT, HALF, LONG = 1, 10, 7
NPU, CUDA = 10, 1


def write(path, records, device):
    with h5py.File(path, "w") as file:
        for record in records:
            for side, tensors in (("input", record.inputs), ("output", record.outputs)):
                for name, value in tensors.items():
                    put(file, f"/{record.op}/{record.seq}/{side}/{name}", np.asarray(value), device)


def put(file, path, value, device):
    is_float = value.dtype.kind == "f"
    data = file.create_dataset(path, data=value.astype(np.float32) if is_float else value.astype(np.int64))
    # Parameters stay in fp32 where activations are kept in fp16.
    is_half = is_float and device.storage == np.float16 and np.array_equal(value, value.astype(np.float16), True)
    data.attrs["DeviceType"] = np.int32(NPU if device.is_npu else CUDA)
    data.attrs["DataType"] = np.int32(HALF if is_half else FLOAT if is_float else LONG)
    data.attrs["FormatType"] = np.int32(0)
    data.attrs["Type"] = np.int32(0)
    if value.ndim > 0:
        data.attrs["Stride"] = np.array([s // value.itemsize for s in value.strides], np.int64)
