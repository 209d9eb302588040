"""Inputs from a dump, for calls that match recorded calls."""

from __future__ import annotations

import re
import threading
from dataclasses import dataclass, replace
from typing import Any, Dict, Iterator, List, Optional, Set, Tuple

import h5py
import numpy as np
import torch

from .arguments import bind, is_written
from .calls import OperatorCall
from .errors import DumperError
from .layout import DATA_TYPES, PlainValue, SaveType

#: Names of one operator on different devices and in different versions, without digits at the end.
_SAME = (
    {"ConvolutionBackward", "CudnnConvolutionBackward", "MkldnnConvolutionBackward", "NpuConvolutionBackward",
     "ThnnConvDepthwise2DBackward", "ConvolutionOverrideableBackward"},
    {"NativeBatchNormBackward", "CudnnBatchNormBackward", "MiopenBatchNormBackward"},
    {"native_batch_norm", "cudnn_batch_norm"},
    {"convolution", "cudnn_convolution", "npu_conv2d"},
)
_OTHER_NAMES = {"input": "self", "self": "input", "eps": "epsilon", "epsilon": "eps"}
_FLOATS = {1, 10, 11}
_WHOLE = {6, 7}


@dataclass
class Description:
    """Properties of a live tensor that must match a record."""

    shape: Tuple[int, ...]
    data_type: int


def describe(tensor: torch.Tensor, where: str) -> Description:
    return Description(tuple(tensor.shape), DATA_TYPES.get(tensor.dtype, -1))


class Recorded:
    """A dump with inputs. Each record serves one call: the first that fits, in the order of the numbers.

    Errors: DumperError if it cannot be opened."""

    def __init__(self, path: str) -> None:
        self.path = path
        self._lock = threading.Lock()
        try:
            self._file = h5py.File(path, "r")
        except OSError as error:
            raise DumperError(f"{path} cannot be loaded: {error}; load_path= is an HDF5 dump with inputs") from error
        self._used: Set[Tuple[str, int]] = set()
        self._numbers: Dict[str, List[int]] = {
            name: sorted(int(number) for number in self._file[name] if number.isdigit())
            for name in self._file if isinstance(self._file[name], h5py.Group)}

    def close(self) -> None:
        self._file.close()

    def find(self, name: str, inputs: List[Tuple[str, Any]]) -> Optional["Match"]:
        """Returns the next record with tensors of equal shapes and kinds, and equal integers and lists. Scalars may
        differ."""
        with self._lock:
            for candidate in self._names(name):
                for number in self._numbers[candidate]:
                    group = self._file[candidate][str(number)]
                    if (candidate, number) not in self._used and "input" in group and _fits(group["input"], inputs):
                        self._used.add((candidate, number))
                        return Match(number, group["input"])
        return None

    def _names(self, name: str) -> Iterator[str]:
        if name in self._numbers:
            yield name
            return
        base = re.sub(r"\d+$", "", name)
        for names in _SAME:
            if base in names:
                yield from (other for other in self._numbers if re.sub(r"\d+$", "", other) in names)


def _dataset(group: h5py.Group, name: str) -> Optional[h5py.Dataset]:
    found = group.get(name) or group.get(_OTHER_NAMES.get(name, name))
    return found if isinstance(found, h5py.Dataset) else None


def _fits(group: h5py.Group, inputs: List[Tuple[str, Any]]) -> bool:
    return all(_value_fits(_dataset(group, name), value) for name, value in inputs)


def _value_fits(dataset: Optional[h5py.Dataset], value: Any) -> bool:
    if isinstance(value, PlainValue):
        if dataset is None or value.save_type in (SaveType.SCALAR, SaveType.OPT_SCALAR):
            return dataset is not None
        return np.array_equal(dataset[...], value.array)
    if dataset is None or dataset.shape != value.shape:
        return False
    number = int(dataset.attrs.get("DataType", -1))
    return number == value.data_type or {number, value.data_type} <= _FLOATS or {number, value.data_type} <= _WHOLE


@dataclass
class Match:
    """Inputs of a record."""

    seq: int
    group: h5py.Group

    def tensor(self, name: str, like: torch.Tensor) -> torch.Tensor:
        """Returns the recorded values in the dtype, device and memory order of `like`. The last bits depend on
        these."""
        dataset = _dataset(self.group, name)
        assert dataset is not None
        array = np.asarray(dataset[...])
        if int(dataset.attrs.get("DataType", 0)) == 2:
            array = array.view(np.uint8)
        return torch.empty_like(like).copy_(torch.from_numpy(array.copy()))

    def fill(self, name: str, tensor: torch.Tensor) -> None:
        """Copies the recorded values into the tensor without autograd."""
        if _dataset(self.group, name) is None:
            return
        source, target = self.tensor(name, tensor), tensor.data
        for axis, step in enumerate(target.stride()):
            if step == 0 and target.shape[axis] > 1:
                source, target = source.narrow(axis, 0, 1), target.narrow(axis, 0, 1)
        target.copy_(source)

    def feed(self, call: OperatorCall) -> OperatorCall:
        """Returns the call with recorded inputs. Tensors that it changes are filled, others replaced."""
        args, kwargs = list(call.args), dict(call.kwargs)
        for index, (argument, value) in enumerate(bind(call.func._schema, call.args, call.kwargs)):
            replaced = self._replaced(argument, value)
            if index < len(args):
                args[index] = replaced
            elif argument.name in kwargs or replaced is not value:
                kwargs[argument.name] = replaced
        return replace(call, args=args, kwargs=kwargs)

    def _replaced(self, argument: Any, value: Any) -> Any:
        name = argument.name
        if isinstance(value, (list, tuple)) and any(isinstance(item, torch.Tensor) for item in value):
            names = [f"{name}/{name}_{index}" for index in range(len(value))]
            if is_written(argument):
                for path, item in zip(names, value):
                    self.fill(path, item)
                return value
            return [self.tensor(path, item) if isinstance(item, torch.Tensor) else item for path, item in zip(names, value)]
        if isinstance(value, torch.Tensor):
            if is_written(argument):
                self.fill(name, value)
                return value
            return self.tensor(name, value)
        dataset = _dataset(self.group, name)
        is_scalar = str(argument.type) in ("number", "Optional[number]", "Tensor") and isinstance(value, (bool, int, float))
        return dataset[()].item() if is_scalar and dataset is not None else value
