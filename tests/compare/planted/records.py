"""Recorded calls, as Ascend's dumper receives them."""

import dataclasses

import numpy as np


@dataclasses.dataclass
class Scalar:
    """A number that the schema calls Scalar, not int, float or bool."""

    value: int


@dataclasses.dataclass
class ScalarType:
    dtype: np.dtype


@dataclasses.dataclass
class Record:
    """Inputs are arrays, tuples of integers, Scalars, ScalarTypes and Python's numbers; outputs are arrays."""

    op: str
    seq: int
    inputs: dict
    outputs: dict

    @property
    def is_backward(self):
        return "Backward" in self.op
