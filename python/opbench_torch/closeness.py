"""assert_close: a result against the error bound that opbench derives from operator, dtype and inputs."""

from __future__ import annotations

import json
import os
import re
import tempfile
import time
from typing import Any, Dict, List, Mapping, Optional

import numpy as np
import torch

from .call_record import CallRecord, Values, call_record
from .checks import Check, announce, hides_frames
from .errors import DumperError
from .hdf5_file import Hdf5File
from .layout import DATA_TYPES, DEVICE_TYPES, DTYPE_NAMES, Named, PlainValue, Record, SaveType, copy_tensor
from .program import program_path, run_program

__tracebackhide__ = hides_frames
#: Dtypes that `opbench judge` reads.
_DTYPES = [dtype for dtype in DATA_TYPES if not dtype.is_complex]
#: A call with plain numbers is checked by a row of the program.
_OTHER_ROW = "a built-in row is used"
_WORST = re.compile(r"worst at \[.*?\]: (\S+), expected (\S+), error bound ([^\s;]+)")


def assert_close(actual: Any, *, op: str, inputs: Any, standard: str = "bound", strict: bool = False,
                 memory_mib: Optional[int] = None, **attrs: Any) -> None:
    """Checks the output of an operator by `opbench judge`. Returns if no element exceeds its error bound.

    actual: a tensor, or several in a sequence or a dict from names; None: an output that is not checked.
    op: an operator of opbench (`opbench list`), or a name of PyTorch, CANN or ONNX (`opbench opmap`).
    inputs: a tensor, a sequence in the order of the operator, or a dict from the names that `opbench opmap` prints.
    attrs: attributes of the operator, such as beta=2. standard, strict, memory_mib: flags of `opbench judge`.
    Tensors: of PyTorch on any device, NumPy arrays, and objects with __dlpack__.

    Errors: AssertionError with the report of `opbench judge` if an element is wrong; ValueError if the call cannot be
    checked, with the reason; DumperError if the program or a package is not there."""
    flags = ["--standard", standard, *(["--strict"] if strict else []), *(["--memory", str(memory_mib)] if memory_mib else [])]
    check: Check = {"operator": op, "dtype": "", "inputs": [], "outputs": [], "verdict": "UNKNOWN", "reason": "",
                    "worst_error_by_bound": None, "claim": ""}
    start = time.perf_counter()
    try:
        _check(check, actual, op, inputs, attrs, flags)
    except (ValueError, DumperError) as error:
        check["reason"] = str(error)
        raise
    finally:
        announce({**check, "seconds": round(time.perf_counter() - start, 4)})
    if check["verdict"] == "GUILTY":
        raise AssertionError(check["reason"])


def _check(check: Check, actual: Any, op: str, inputs: Any, attrs: Mapping[str, Any], flags: List[str]) -> None:
    program_path()  # the table of operators may come from it
    given = _tensors(inputs if isinstance(inputs, (Mapping, list, tuple)) else [inputs], "inputs")
    if not any(value is not None for value in (given.values() if isinstance(given, dict) else given)):
        raise ValueError("inputs holds no tensor; give the inputs of the operator")
    record = call_record(op, given, _outputs(actual), _plain_types(attrs), lambda value: isinstance(value, torch.Tensor))
    check.update(dtype=DTYPE_NAMES[record.outputs[0][1].dtype], inputs=_described(record.inputs),
                 outputs=_described(record.outputs))
    verdict = _judge(op, record, flags)
    _add_findings(check, verdict)
    if verdict["verdict"] == "GUILTY":
        check.update(verdict="GUILTY", reason=_report(op, check, verdict))
        return
    told = verdict.get("reason", "")
    reason = ("" if told.startswith(_OTHER_ROW) else told) or _unchecked(op, record, verdict)
    if verdict["verdict"] != "OK" or reason:
        raise ValueError(f"{op} cannot be checked: {reason}")
    check["verdict"] = "OK"


# Values.


def _tensors(value: Any, where: str) -> Any:
    """The value with every array as a tensor that a dump can hold; numbers, lists of numbers and None as they are."""
    if isinstance(value, Mapping):
        return {name: _tensors(item, f"{where}[{name!r}]") for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_tensors(item, f"{where}[{index}]") for index, item in enumerate(value)]
    if isinstance(value, np.generic):
        return value.item()
    return value if value is None or isinstance(value, (bool, int, float)) else _tensor(value, where)


def _outputs(actual: Any) -> Any:
    if isinstance(actual, Mapping):
        found: Any = {name: None if item is None else _tensor(item, f"actual[{name!r}]") for name, item in actual.items()}
    else:
        items = actual if isinstance(actual, (list, tuple)) else [actual]
        found = [None if item is None else _tensor(item, f"actual[{index}]") for index, item in enumerate(items)]
    if all(item is None for item in (found.values() if isinstance(found, dict) else found)):
        raise ValueError("actual holds no tensor; give the output of the operator")
    return found


def _tensor(value: Any, where: str) -> torch.Tensor:
    try:
        tensor = _as_tensor(value)
        is_taken = tensor.layout == torch.strided and tensor.dtype in _DTYPES
        if is_taken and tensor.device.type not in DEVICE_TYPES:
            tensor = tensor.detach().cpu()
    except (TypeError, ValueError, RuntimeError, BufferError) as error:
        raise ValueError(f"{where} cannot be read: {error}; "
                         "give a torch tensor, a NumPy array or an object with __dlpack__") from error
    if not is_taken:
        kind = tensor.dtype if tensor.layout == torch.strided else tensor.layout
        allowed = ", ".join(DTYPE_NAMES[dtype] for dtype in _DTYPES)
        raise ValueError(f"{where} is a tensor of {kind}; allowed are dense tensors of {allowed}")
    return tensor


def _as_tensor(value: Any) -> torch.Tensor:
    if isinstance(value, torch.Tensor):
        return value
    if isinstance(value, (np.ndarray, np.generic)):
        array = np.array(value, order="C")
        if array.dtype.name == "bfloat16":
            return torch.from_numpy(array.view(np.int16)).view(torch.bfloat16)
        return torch.from_numpy(array.astype(array.dtype.newbyteorder("="), copy=False))
    if hasattr(value, "__dlpack__"):
        return torch.from_dlpack(value)
    raise TypeError(f"it is a {type(value).__name__}")


def _plain_types(attrs: Mapping[str, Any]) -> Dict[str, Any]:
    return {name: _plain(value) for name, value in attrs.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, torch.dtype):
        return DTYPE_NAMES.get(value, str(value))
    if isinstance(value, (list, tuple)):
        return [_plain(item) for item in value]
    return value.item() if isinstance(value, np.generic) else value


def _encoded(values: Values) -> List[Named]:
    return [(name, copy_tensor(value, name) if isinstance(value, torch.Tensor) else _number(name, value))
            for name, value in values]


def _number(name: str, value: Any) -> PlainValue:
    if isinstance(value, bool):
        return PlainValue(np.int8(value), SaveType.BOOL)
    if isinstance(value, int):
        return PlainValue(np.int64(value), SaveType.I64)
    if isinstance(value, float):
        return PlainValue(np.float64(value), SaveType.DOUBLE)
    if isinstance(value, list) and all(isinstance(item, int) for item in value):
        return PlainValue(np.array(value, np.int64), SaveType.VEC_I64)
    raise ValueError(f"{name.split('/')[-1]} is {value!r}; "
                     "allowed are tensors, numbers, lists of whole numbers, and words of attributes")


def _described(values: Values) -> List[Dict[str, Any]]:
    return [{"name": name, "shape": list(value.shape), "dtype": DTYPE_NAMES[value.dtype]} if isinstance(value, torch.Tensor)
            else {"name": name, "value": value if _is_json(value) else str(value)} for name, value in values]


def _is_json(value: Any) -> bool:
    return not isinstance(value, float) or bool(np.isfinite(value))


# The program.


def _judge(op: str, record: CallRecord, flags: List[str]) -> Dict[str, Any]:
    with tempfile.TemporaryDirectory(prefix="opbench-") as folder:
        dump = os.path.join(folder, "call.h5")
        _write(dump, Record(record.name, 1, _encoded(record.inputs), _encoded(record.outputs), {}))
        if record.row is not None:
            flags = [*flags, "--map", os.path.join(folder, "row.yaml")]
            with open(flags[-1], "w", encoding="utf-8") as file:
                json.dump({"operators": [record.row]}, file)
        verdict = _verdict(op, [dump, *flags, "--implementations", "none"])
        if verdict["verdict"] == "GUILTY":  # variants run for wrong results alone, which keeps right ones cheap
            verdict = _verdict(op, [dump, *flags, "--implementations", "some"])
        return verdict


def _write(path: str, record: Record) -> None:
    file = None
    try:
        file = Hdf5File(path)
        file.add(record)
        file.commit(path)
    except (OSError, RuntimeError) as error:
        if file is not None:
            file.discard()
        raise DumperError(f"cannot write {path}: {error}; free space there, or choose another folder by TMPDIR") from error


def _verdict(op: str, arguments: List[str]) -> Dict[str, Any]:
    done = run_program(["judge", *arguments, "--json", "-", "--quiet"])
    said = done.stderr.strip()
    if done.returncode == 2:
        said, in_row = re.subn(r"^opbench: \S*row\.yaml:\d+: ", "", said)
        hint = f"; `opbench list {op}` prints what it takes" if in_row else ""
        raise ValueError(f"{op} cannot be checked: {said.replace('opbench: ', '', 1)}{hint}")
    try:
        return json.loads(done.stdout)["records"][0]
    except (ValueError, LookupError) as error:
        raise DumperError(f"opbench judge ended with exit code {done.returncode}: {said or 'no message'}") from error


# Results.


def _name_of(path: str) -> str:
    return path.split("/output/", 1)[-1]


def _add_findings(check: Check, verdict: Mapping[str, Any]) -> None:
    findings = {_name_of(finding["path"]): finding for finding in verdict["outputs"]}
    for output in check["outputs"]:
        finding = findings.get(output["name"], {})
        output.update({key: finding.get(key) for key in ("wrong", "elements", "wrong_elements", "min_tolerance", "formula")})
        output["worst_error_by_bound"] = _ratio(finding.get("reason", ""))
    ratios = [output["worst_error_by_bound"] for output in check["outputs"] if output["worst_error_by_bound"] is not None]
    check["worst_error_by_bound"] = max(ratios, default=None)
    check["claim"] = ", ".join(dict.fromkeys(finding["numerics"] for finding in verdict["outputs"] if "numerics" in finding))


# None: `judge` prints an error bound only if an element exceeds it.
def _ratio(reason: str) -> Optional[float]:
    found = _WORST.search(reason)
    if found is None:
        return None
    actual, expected, bound = map(float, found.groups())
    ratio = abs(actual - expected) / bound if bound else float("inf")
    return ratio if np.isfinite(ratio) else None


# Why a result that is not wrong was not checked; empty: all was checked.
def _unchecked(op: str, record: CallRecord, verdict: Mapping[str, Any]) -> str:
    if verdict["verdict"] == "RANDOM":
        return "its result is drawn at random"
    missing = [name for name, _ in record.outputs if name not in {_name_of(finding["path"]) for finding in verdict["outputs"]}]
    if missing:
        return f"output {', '.join(missing)} is not one that opbench computes for {op}; `opbench opmap {op}` prints its outputs"
    return ""


def _report(op: str, check: Check, verdict: Mapping[str, Any]) -> str:
    shapes = ", ".join(f"{value['name']} {value['shape']}" for value in check["inputs"] if "shape" in value)
    lines = [f"GUILTY: {op} {verdict['dtype']}, inputs {shapes}"]
    for finding in verdict["outputs"]:
        if not finding["wrong"]:
            continue
        lines.append(f"{_name_of(finding['path'])}: {finding['reason']}")
        if finding["wrong_elements"]:
            pattern = f": {finding['pattern']}" if finding.get("pattern") else ""
            lines.append(f"{finding['wrong_elements']} of {finding['elements']} elements are wrong{pattern}")
            lines += [f"Looks like: {cause['text']}" for cause in finding.get("causes", [])]
    return "\n".join([*lines, *filter(None, [verdict.get("implementation")])])
