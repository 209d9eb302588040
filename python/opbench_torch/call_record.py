"""Names in the record of one call, so that `opbench judge` recognises its operator, inputs and attributes."""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass
from typing import Any, Callable, Dict, Iterable, List, Mapping, Optional, Set, Tuple

import torch

from . import operator_table
from .checks import hides_frames

__tracebackhide__ = hides_frames
#: Prefix of records that a row of our own describes. No built-in row has such a name.
_OWN = "assert_close_"
#: What a row computes of recorded values, and the words between their names ("kept shape of x along dim").
_COMPUTED = re.compile(r"^(?:(?:whole plane|kept shape|plane|shape|rows|dtype|extents|borders) of |1 - |- )")
_BETWEEN = re.compile(r" along | from | by | with axis | of \d+ axes|[|?]")

Row = Dict[str, Any]
Values = List[Tuple[str, Any]]


@dataclass
class CallRecord:
    """Record name, values by recorded name, and the row for `judge --map` that the built-in table lacks."""

    name: str
    inputs: Values
    outputs: Values
    row: Optional[Row] = None


def call_record(op: str, inputs: Any, outputs: Any, attrs: Mapping[str, Any], is_tensor: Callable[[Any], bool]) -> CallRecord:
    """inputs, outputs: a mapping from names, or a sequence in the operator's order; None: absent.

    Errors: ValueError if the operator, an input or an attribute is not known; the message has the known ones."""
    rows = operator_table.rows_of(op)
    if op in operator_table.operators() and not (rows and isinstance(inputs, Mapping)):
        return _own_record(op, inputs, outputs, attrs)
    if not rows:
        raise ValueError(_unknown_operator(op))
    return _known_record(op, rows, inputs, outputs, attrs, is_tensor)


def _unknown_operator(op: str) -> str:
    spelled: Dict[str, List[str]] = {}
    for name in sorted({*operator_table.operators(), *operator_table.names()}):
        spelled.setdefault(name.lower(), []).append(name)
    word = op.split("::")[-1].split(".")[0].lower()
    near = [name for lower in difflib.get_close_matches(word, spelled, 3) for name in spelled[lower]]
    nearest = f"nearest: {', '.join(near)}" if near else "no name is near"
    return f"operator {op!r} is not known; {nearest}. `opbench list` and `opbench opmap` print all names"


# A call by opbench's own name: values by position, attributes by opbench's names.
def _own_record(op: str, inputs: Any, outputs: Any, attrs: Mapping[str, Any]) -> CallRecord:
    part = operator_table.part_of(op)
    given = _present(_named(inputs, _first_names(part.get("inputs", ())), "input"))
    if isinstance(outputs, Mapping) and part:
        outputs = _in_places(op, part["outputs"], outputs)
    results = _named(outputs, _first_names(part.get("outputs", ())), "result")
    numbers, sources = [], {}
    for name, value in attrs.items():
        if isinstance(value, str):
            sources[name] = f"={value}"
        elif value is not None:
            sources[name] = f"attributes/{name}"
            numbers.append((sources[name], value))
    row = {"names": [_OWN + op], "op": op, "inputs": [name for name, _ in given],
           "outputs": [name if value is not None else "" for name, value in results], "attrs": sources}
    return CallRecord(_OWN + op, given + numbers, _present(results), row)


# Outputs by name as a sequence in the operator's order.
def _in_places(op: str, texts: List[str], outputs: Mapping[str, Any]) -> List[Any]:
    places = {name: index for index, text in enumerate(texts) for name in text.split("|")}
    for name in outputs:
        if name not in places:
            raise ValueError(f"{op} has no output {name!r}; it has {', '.join(texts)}")
    found: List[Any] = [None] * len(texts)
    for name, value in outputs.items():
        found[places[name]] = value
    return found


def _named(values: Any, names: List[str], other: str) -> Values:
    if isinstance(values, Mapping):
        return list(values.items())
    flat: List[Any] = []
    for value in values:
        flat += value if isinstance(value, (list, tuple)) else [value]
    while flat and flat[-1] is None:
        flat.pop()
    if other == "input":  # opbench takes an optional input of shape [0] as absent
        flat = [torch.empty(0) if value is None else value for value in flat]
    fallback = [f"{other}{index}" for index in range(len(flat))]
    return list(zip(names[:len(flat)] if len(flat) <= len(names) else fallback, flat))


# The names of plain inputs: neither lists nor results that are inputs.
def _first_names(texts: Iterable[str]) -> List[str]:
    names = [text.split("|")[0].rstrip("?") for text in texts]
    return names if all(re.fullmatch(r"\w+", name) for name in names) and len(set(names)) == len(names) else []


def _present(values: Values) -> Values:
    return [(name, value) for name, value in values if value is not None]


# A call by a name of the table: the built-in rows decide which operator it is.
def _known_record(op: str, rows: List[Row], inputs: Any, outputs: Any, attrs: Mapping[str, Any],
                  is_tensor: Callable[[Any], bool]) -> CallRecord:
    rows = [row for row in rows if not row.get("random")]
    if not rows:
        raise ValueError(f"{op} draws its result at random; check the operator that applies the mask")
    known = set().union(*map(_names_of, rows))
    given = dict(inputs) if isinstance(inputs, Mapping) else _by_position(op, rows, list(inputs))
    for name in given:
        if not _reads(known, name):
            raise ValueError(f"{op} has no input {name!r}; it has {_inputs_text(rows)}")
    numbers = dict(_attribute(op, rows, known, name, value) for name, value in attrs.items() if value is not None)
    row = next((row for row in rows if _takes(row, given)), rows[0])
    values: Values = []
    for name, value in {**given, **numbers}.items():
        is_list = isinstance(value, (list, tuple)) and any(is_tensor(item) for item in value)
        values += [(f"{name}/{name}_{index}", item) for index, item in enumerate(value)] if is_list else [(name, value)]
    return CallRecord(op, _present(values), _present(_results(op, row, outputs)))


# "kept shape of x|y along dim" -> x, y, dim.
def _names_in(text: str) -> Set[str]:
    if text.startswith(("=", "output ")):
        return set()
    return set(filter(None, _BETWEEN.split(_COMPUTED.sub("", text.partition(" as ")[0]))))


# The names of recorded inputs and numbers that a row reads.
def _names_of(row: Row) -> Set[str]:
    texts = [text for part in row["parts"] for text in (*part["inputs"], *part.get("attrs", {}).values())]
    return set().union(row.get("where", ()), row.get("only", ()), *map(_names_in, texts))


def _inputs_text(rows: List[Row]) -> str:
    texts = [text for row in rows for part in row["parts"] for text in part["inputs"]]
    return ", ".join(dict.fromkeys(texts))


def _by_position(op: str, rows: List[Row], values: List[Any]) -> Dict[str, Any]:
    flat = [item for value in values for item in (value if isinstance(value, (list, tuple)) else [value])]
    for row in rows:
        if len(row["parts"]) > 1:
            continue
        texts = [text for text in row["parts"][0]["inputs"] if not text.startswith("output ")]
        if any(text.endswith("*") for text in texts):
            if len(texts) == 1 and flat:
                return {f"{texts[0][:-1]}{index}": value for index, value in enumerate(flat)}
        elif len([text for text in texts if "?" not in text]) <= len(values) <= len(texts):
            return {text.split("|")[0].rstrip("?").split(" ")[0]: value for text, value in zip(texts, values)}
    raise ValueError(f"{op} with {len(values)} inputs is not known; name them, inputs={{...}}: {_inputs_text(rows)}")


def _attribute(op: str, rows: List[Row], known: Set[str], name: str, value: Any) -> Tuple[str, Any]:
    sources = [source for row in rows for part in row["parts"] for key, source in part.get("attrs", {}).items()
               if key == name or name in _names_in(source)]
    for source in sources:
        names, _, words = source.partition(" as ")
        recorded = name if name in known else names.split("|")[0]
        if isinstance(value, str) and value in words.split("|"):
            return recorded, words.split("|").index(value)
        if not isinstance(value, str) and re.fullmatch(r"\w+", recorded):
            return recorded, value
    if isinstance(value, str) or name not in known:
        allowed = sorted({key for row in rows for part in row["parts"] for key in part.get("attrs", {})})
        raise ValueError(f"{op} has no attribute {name!r} of {value!r}; it has {', '.join(allowed) or 'none'}")
    return name, value


def _takes(row: Row, given: Mapping[str, Any]) -> bool:
    return all(_reads(_names_of(row), name) for name in given)


# Lists are "tensors/tensors_*" in rows; a call gives "tensors", or one of "tensors/tensors_0".
def _reads(names: Set[str], name: str) -> bool:
    return name in names or f"{name}/{name}_*" in names or re.sub(r"\d+$", "*", name) in names


def _results(op: str, row: Row, outputs: Any) -> Values:
    if isinstance(outputs, Mapping):
        return list(outputs.items())
    texts = list(dict.fromkeys(text for part in row["parts"] for text in part["outputs"]))
    if texts and texts[-1].endswith("*"):
        prefix = texts.pop()[:-1]
        texts += [f"{prefix}{index}" for index in range(len(outputs) - len(texts))]
    if len(outputs) > len(texts):
        raise ValueError(f"{op} has {len(texts)} outputs that opbench knows ({', '.join(texts)}), and actual has {len(outputs)}")
    return [(text.split("|")[0], value) for text, value in zip(texts, outputs)]
