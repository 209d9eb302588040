"""Strided tensors as chains of views of a dense tensor, in the notation of opbench's operator `contiguous`."""

from __future__ import annotations

from typing import List

from .operator_table import Described


def is_dense(tensor: Described) -> bool:
    """True for row-major order without gaps. The stride of an extent of 1 is ignored."""
    step = 1
    for extent, stride in zip(reversed(tensor.shape), reversed(tensor.strides)):
        if extent == 0:
            return True
        if extent != 1 and stride != step:
            return False
        step *= extent
    return True


def chain_of(tensor: Described) -> str:
    """Returns "transpose(1,2)", "permute(0,2,3,1)", else "as_strided([shape],[strides],0)"; "" for a dense tensor."""
    if is_dense(tensor):
        return ""
    order = sorted(range(len(tensor.shape)), key=lambda axis: -tensor.strides[axis])
    base = Described(tuple(tensor.shape[axis] for axis in order), tuple(tensor.strides[axis] for axis in order), tensor.dtype)
    if 0 in tensor.strides or not is_dense(base):
        return f"as_strided({_list(tensor.shape)},{_list(tensor.strides)},0)"
    permutation = [order.index(axis) for axis in range(len(order))]
    moved = [axis for axis, source in enumerate(permutation) if axis != source]
    if len(moved) == 2:
        return f"transpose({moved[0]},{moved[1]})"
    return f"permute({','.join(map(str, permutation))})"


def _list(values: "tuple[int, ...]") -> str:
    numbers: List[str] = [str(value) for value in values]
    return f"[{','.join(numbers)}]"
