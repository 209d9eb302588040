"""The table of operators from `opbench opmap`, for calls that are described instead of recorded.

It is the output of `opbench opmap --as json`: op_table.json next to this file, if the build created the package,
else the output of the program: $OPBENCH_PROGRAM, or `opbench` in the path."""

from __future__ import annotations

import json
import os
import re
import subprocess
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Dict, List, Optional, Set, Tuple

from .program import find_program


def dtypes_of(op: str) -> "set[str]":
    """Dtypes that opbench's operators support, with opbench's names."""
    return set(_table()["dtypes"].get(op, ()))


def operators() -> Set[str]:
    """The names of opbench's operators."""
    return set(_table()["dtypes"])


def names() -> Set[str]:
    """The names of operators in dumps, plainly spelled."""
    return set(_by_name())


def rows_of(name: str) -> List[Dict[str, Any]]:
    """The rows that may fit a recorded name, in the order in which they are tried."""
    return _rows(name)


def part_of(op: str) -> Dict[str, Any]:
    """How dumps name the inputs and outputs of an operator of opbench: the first such part; empty: no row has it."""
    rows = sorted(_table()["operators"], key=lambda row: op not in row["names"])
    return next((part for row in rows for part in row.get("parts", []) if part["op"] == op), {})


@dataclass(frozen=True)
class Described:
    """A tensor without its data. Strides are in elements."""

    shape: Tuple[int, ...]
    strides: Tuple[int, ...]
    dtype: str
    offset: int = 0
    device: str = "CPU"
    name: str = ""  # identifies the tensor, if that is necessary


#: A call's arguments or results by name ("self", "grads/grads_0"): descriptions of tensors; numbers and lists
#: unchanged.
Values = Dict[str, Any]


@dataclass(frozen=True)
class Use:
    """An operator of opbench: its inputs, and attributes by name."""

    op: str
    inputs: Tuple[Described, ...]
    attrs: Tuple[Tuple[str, Any], ...]
    outputs: Tuple[Optional[Described], ...] = ()  # None: the call does not have this output


class Unfit(Exception):
    """The row does not fit the call."""


def uses_of(name: str, inputs: Values, outputs: Values) -> Optional[List[Use]]:
    """Operators that compute a call, by the first row that fits. None: no row fits; empty: its results are random."""
    for row in _rows(name):
        if row.get("random"):
            return []
        if not _holds(row, inputs, outputs):
            continue
        found = []
        for part in row["parts"]:
            try:
                found.append(_use(part, inputs, outputs))
            except Unfit:
                continue
        if found:
            return found
    return None


def spellings(recorded: str) -> List[str]:
    """Spellings of a name that the table may have, from exact to plain ("add__Tensor", "add_Tensor", "add")."""
    names = [recorded]
    name = recorded.split("::")[-1].replace(".", "_")
    names.append(name)
    twice = name.find("__", 1)
    if twice >= 0:
        name = name[:twice] + name[twice + 1:]
    name = name[:-1] if name.endswith("_") else name
    names.append(name)
    names.append(re.sub(r"\d+$", "", name) if "Backward" in name else re.sub(r"(?<=.)_(?=[A-Z]).*", "", name))
    return list(dict.fromkeys(filter(None, names)))


@lru_cache(maxsize=1)
def _table() -> Dict[str, Any]:
    path = os.path.join(os.path.dirname(__file__), "op_table.json")
    if os.path.exists(path):
        with open(path, encoding="utf-8") as file:
            return json.load(file)
    program = find_program()
    if not program:
        raise FileNotFoundError("opbench_torch has no table of operators; install the package that opbench's build has put together "
                                "(pip install build/release/python), or put the program opbench into PATH")
    return json.loads(subprocess.run([program, "opmap", "--as", "json"], capture_output=True, check=True).stdout)


@lru_cache(maxsize=1)
def _by_name() -> Dict[str, List[Dict[str, Any]]]:
    rows: Dict[str, List[Dict[str, Any]]] = {}
    for row in _table()["operators"]:
        for name in row["names"]:
            rows.setdefault(name, []).append(row)
    return rows


def _rows(name: str) -> List[Dict[str, Any]]:
    found: List[Dict[str, Any]] = []
    for spelling in spellings(name):
        found += [row for row in _by_name().get(spelling, []) if row not in found]
    return found


def _holds(row: Dict[str, Any], inputs: Values, outputs: Values) -> bool:
    for key, is_needed in (("where", False), ("only", True)):
        for name, wanted in row.get(key, {}).items():
            value = inputs.get(name)
            if value is None and not is_needed:
                continue
            if value is None or isinstance(value, Described):
                return False
            if wanted and [float(item) for item in _listed(value)] != wanted:
                return False
    tensors = [value for value in (*inputs.values(), *outputs.values()) if isinstance(value, Described)]
    return not row.get("devices") or (bool(tensors) and tensors[0].device in row["devices"])


def _listed(value: Any) -> List[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _use(part: Dict[str, Any], inputs: Values, outputs: Values) -> Use:
    tensors: List[Described] = []
    for wanted in part["inputs"]:
        tensors += _tensors(wanted, inputs, outputs)
    results = tuple(_find(text, outputs) if text else None for text in part["outputs"])
    if not any(isinstance(result, Described) for result in results):
        raise Unfit("no output is there")
    attrs = []
    for attr, source in part.get("attrs", {}).items():
        value = _attribute(source, inputs, outputs)
        if value is not None:
            attrs.append((attr, value))
        elif attr in part.get("needs", []):
            raise Unfit(f"{attr} is not there")
    return Use(part["op"], tuple(tensors), tuple(attrs), results)


def _tensors(text: str, inputs: Values, outputs: Values) -> List[Described]:
    if text.endswith("*"):
        found = []
        while isinstance(inputs.get(f"{text[:-1]}{len(found)}"), Described):
            found.append(inputs[f"{text[:-1]}{len(found)}"])
        if not found:
            raise Unfit(f"{text} is not there")
        return found
    if " with axis " in text:
        raise Unfit(f"{text} is another view")
    name, _, axes = text.replace(" axes", "").partition(" of ")
    value = _find(name, inputs, outputs)
    if isinstance(value, Described):
        if axes and len(value.shape) != int(axes):
            raise Unfit(f"{name} has {len(value.shape)} axes")
        return [value]
    if "?" in text and value is None:
        return []
    raise Unfit(f"{text} is not a tensor")


# Returns the first existing alternative of "a|b?|output c".
def _find(text: str, values: Values, outputs: Optional[Values] = None) -> Any:
    for name in text.replace("?", "").split("|"):
        where = (outputs or {}) if name.startswith("output ") else values
        value = where.get(name[len("output "):] if name.startswith("output ") else name)
        if value is not None:
            return value
    return None


def _attribute(source: str, inputs: Values, outputs: Values) -> Any:
    if source.startswith("="):
        return source[1:]
    for word in ("shape of ", "plane of ", "dtype of "):
        if source.startswith(word):
            value = _find(source[len(word):], inputs)
            value = _find(source[len(word):], outputs) if value is None else value
            if not isinstance(value, Described):
                raise Unfit(f"{source} is not there")
            return value.dtype if word[0] == "d" else list(value.shape[-2:] if word[0] == "p" else value.shape)
    if source.startswith(("rows of ", "kept shape of ", "extents of ", "borders of ", "whole plane of ")):
        raise Unfit(f"{source} is left to opbench judge")
    if source.startswith("1 - "):
        value = _find(source[4:], inputs)
        return None if value is None else 1 - value
    if source.startswith("- "):
        value = _find(source[2:], inputs)
        return None if value is None else [-one for one in value]
    names, _, words = source.partition(" as ")
    value = _find(names, inputs)
    if isinstance(value, Described):
        raise Unfit(f"{names} is a tensor, and its value is not known")
    if value is None or not words or value in words.split("|"):
        return value
    return words.split("|")[int(value)]
