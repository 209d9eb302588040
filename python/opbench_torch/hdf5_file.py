"""Records as HDF5, written with h5py's low-level interface: small datasets take a fifth of the high-level time."""

from __future__ import annotations

import os
from concurrent.futures import Future
from functools import lru_cache
from typing import Dict, List, Tuple

import h5py
import numpy as np

from .layout import Named, PlainValue, Record, TensorValue

_SCALAR = h5py.h5s.create(h5py.h5s.SCALAR)
_I32 = h5py.h5t.STD_I32LE
_I64 = h5py.h5t.STD_I64LE


class Hdf5File:
    """An HDF5 file that gets its final name when it is complete.

    Errors: OSError, or h5py's exceptions for errors of the library."""

    def __init__(self, target: str) -> None:
        self.target = target
        folder, name = os.path.split(os.path.abspath(target))
        self.temporary = os.path.join(folder, f".{name}.{os.getpid()}.partial")
        self._file = h5py.h5f.create(os.fsencode(self.temporary), h5py.h5f.ACC_TRUNC)
        self._operators: Dict[str, h5py.h5g.GroupID] = {}

    def add(self, record: Record) -> None:
        operator = self._operators.get(record.name)
        if operator is None:
            operator = self._operators[record.name] = h5py.h5g.create(self._file, record.name.encode())
        group = h5py.h5g.create(operator, str(record.seq).encode())
        groups: Dict[str, h5py.h5g.GroupID] = {"": group}
        if record.inputs is not None:
            self._add_side(groups, "input", record.inputs, record.notes)
        self._add_side(groups, "output", record.outputs, record.notes)

    def _add_side(self, groups: Dict[str, h5py.h5g.GroupID], side: str, values: List[Named], notes: Dict[str, str]) -> None:
        _open(groups, side)
        for name, value in values:
            value = value.result() if isinstance(value, Future) else value
            reduced = value.side if isinstance(value, TensorValue) else None
            folder, _, leaf = f"{reduced}/{side}/{name}".rpartition("/") if reduced else f"{side}/{name}".rpartition("/")
            if isinstance(value, TensorValue):
                _write_tensor(_open(groups, folder), leaf.encode(), value, notes)
            else:
                _write_plain(_open(groups, folder), leaf.encode(), value, notes)

    def mark_incomplete(self, reason: str) -> None:
        """Marks the file's content as incomplete."""
        _write_text(h5py.h5g.open(self._file, b"/"), "opbench_incomplete", reason)

    def commit(self, name: str) -> None:
        """Closes the file and gives it its final name."""
        self._operators.clear()
        self._file.close()
        os.replace(self.temporary, name)

    def discard(self) -> None:
        self._operators.clear()
        try:
            self._file.close()
        finally:
            if os.path.exists(self.temporary):
                os.unlink(self.temporary)


# Returns the group of a path below the record, which is created if it is missing.
def _open(groups: Dict[str, h5py.h5g.GroupID], path: str) -> h5py.h5g.GroupID:
    if path not in groups:
        parent, _, name = path.rpartition("/")
        groups[path] = h5py.h5g.create(_open(groups, parent), name.encode())
    return groups[path]


def _write_tensor(parent: h5py.h5g.GroupID, name: bytes, value: TensorValue, notes: Dict[str, str]) -> None:
    array = value.array
    kind = _number_type(array.dtype)
    dataset = h5py.h5d.create(parent, name, kind, _space(array.shape))
    _write_integer(dataset, b"DeviceType", value.device_type)
    _write_integer(dataset, b"DataType", value.data_type)
    _write_integer(dataset, b"FormatType", value.format_type)
    _write_integer(dataset, b"Type", 0)
    strides = np.array([step // array.itemsize for step in _dense_strides(array)], np.int64)
    attribute = h5py.h5a.create(dataset, b"Stride", _I64, h5py.h5s.create_simple(strides.shape))
    if strides.size:
        attribute.write(strides)
    _write_notes(dataset, {**value.notes, **notes})
    if array.size:
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, array, kind)


# numpy's strides are arbitrary for extents of 0 and 1.
def _dense_strides(array: np.ndarray) -> List[int]:
    strides, step = [], array.itemsize
    for extent in reversed(array.shape):
        strides.append(step)
        step *= max(extent, 1)
    return strides[::-1]


def _write_plain(parent: h5py.h5g.GroupID, name: bytes, value: PlainValue, notes: Dict[str, str]) -> None:
    array = np.asarray(value.array)
    kind = _number_type(array.dtype)
    dataset = h5py.h5d.create(parent, name, kind, _space(array.shape))
    _write_integer(dataset, b"Type", int(value.save_type))
    _write_notes(dataset, notes)
    if array.size:
        dataset.write(h5py.h5s.ALL, h5py.h5s.ALL, array, kind)


@lru_cache(maxsize=None)
def _number_type(dtype: np.dtype) -> h5py.h5t.TypeID:
    return h5py.h5t.py_create(dtype)


def _space(shape: Tuple[int, ...]) -> h5py.h5s.SpaceID:
    return h5py.h5s.create_simple(shape) if shape else _SCALAR


def _write_integer(dataset: h5py.h5d.DatasetID, name: bytes, value: int) -> None:
    h5py.h5a.create(dataset, name, _I32, _SCALAR).write(np.array(value, np.int32))


def _write_notes(dataset: h5py.h5d.DatasetID, notes: Dict[str, str]) -> None:
    for name, text in notes.items():
        _write_text(dataset, name, text)


# Fixed length, because readers of damaged files do not follow pointers to strings of variable length.
def _write_text(target: object, name: str, text: str) -> None:
    data = text.encode() or b" "
    kind = _text_type(len(data))
    h5py.h5a.create(target, name.encode(), kind, _SCALAR).write(np.array(data, f"S{len(data)}"), kind)


@lru_cache(maxsize=None)
def _text_type(size: int) -> h5py.h5t.TypeStringID:
    kind = h5py.h5t.C_S1.copy()
    kind.set_size(size)
    kind.set_cset(h5py.h5t.CSET_UTF8)
    return kind
