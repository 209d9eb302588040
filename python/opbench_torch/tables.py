"""Results of opbench as tidy pandas tables: a row for each measured object, a column for each field."""

from __future__ import annotations

import json
import os
from typing import Any, Dict, List

from .errors import DumperError

_COMPARE_TABLES = ("tensors", "operators")


def read(path: Any, table: str = "") -> Any:
    """Returns the records of a file that opbench wrote with --json or --out, as a DataFrame.

    results.json: a row for each case, number of threads and variant; the columns are the fields of docs/results.md
    without `samples_us`, `step` and `iterations`; shapes are text. table="samples": a row for each repetition, with
    `case`, `variant`, `threads`, `sample` and `time_us`. table="tasks": a row for each task of contexts' steps.
    compare.json: a row for each pair of tensors; table="operators": for each pair of calls. judge.json: a row for each
    record; check.json: a row for each item, with the fields of `speed` as speed_base_us and so on. Report of
    `pytest --opbench-report`: a row for each call of assert_close.
    Other data of the file (machine, command, version, verdict) is in `DataFrame.attrs`.

    Errors: DumperError if pandas is missing, and for other files."""
    content = _load(os.fspath(path))
    if "opbench" in content and "records" in content:
        rows = _results(content["records"], table, path)
    elif "opbench_compare" in content:
        rows = content[_one_of(table or "tensors", _COMPARE_TABLES, path)]
    elif "opbench_check" in content:
        _one_of(table, ("",), path)
        rows = [_flat(row, ("speed", "base_accuracy", "current_accuracy")) for row in content["items"]]
    elif "opbench_pytest" in content:
        _one_of(table, ("",), path)
        rows = content["calls"]
    elif "records" in content and "judged_elements" in content:
        _one_of(table, ("",), path)
        rows = content["records"]
    else:
        raise DumperError(f"{path} is not a results.json, compare.json, check.json, judge.json or report of pytest by opbench")
    return _frame(rows, {key: value for key, value in content.items() if not isinstance(value, list)})


def _load(path: str) -> Dict[str, Any]:
    try:
        with open(path, encoding="utf-8") as file:
            content = json.load(file)
    except (OSError, ValueError) as error:
        raise DumperError(f"{path} cannot be read: {error}") from error
    if not isinstance(content, dict):
        raise DumperError(f"{path} is not a file of opbench: it holds a {type(content).__name__}")
    return content


def _one_of(table: str, allowed: Any, path: Any) -> str:
    if table not in allowed:
        names = " and ".join(repr(name) for name in allowed if name) or "none"
        raise DumperError(f"{path} has no table {table!r}; it has {names}")
    return table


def _results(records: List[Dict[str, Any]], table: str, path: Any) -> List[Dict[str, Any]]:
    _one_of(table, ("", "samples", "tasks"), path)
    if table == "samples":
        return [{**_key(record), "sample": number, "time_us": time}
                for record in records for number, time in enumerate(record.get("samples_us") or [])]
    if table == "tasks":
        return [{**_key(record), **task} for record in records for task in (record.get("step") or {}).get("tasks", [])]
    return [{name: value for name, value in record.items() if name not in ("samples_us", "step", "iterations")}
            for record in records]


def _key(record: Dict[str, Any]) -> Dict[str, Any]:
    return {name: record.get(name) for name in ("case", "variant", "threads")}


def _flat(row: Dict[str, Any], nested: Any) -> Dict[str, Any]:
    flat = {name: value for name, value in row.items() if name not in nested}
    for name in nested:
        flat.update({f"{name}_{key}": value for key, value in (row.get(name) or {}).items()})
    return flat


def _frame(rows: List[Dict[str, Any]], facts: Dict[str, Any]) -> Any:
    try:
        import pandas
    except ImportError as error:
        raise DumperError("read() needs pandas; install it: apt-get install python3-pandas, or pip install pandas") from error
    frame = pandas.DataFrame(rows)
    frame.attrs.update(facts)
    return frame
