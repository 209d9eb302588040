#!/usr/bin/env python3
"""Holds golden results to opbench's error bounds: tests/golden/llm_ops.py FOLDER [OPERATOR..]

FOLDER holds a folder of .npz files for each operator. A file has its inputs (`in.NAME`), its exact outputs in fp64
(`out.NAME`), gradients of inputs (`grad.NAME`) and a JSON text `meta` (dtypes, attributes). Outputs are rounded to their
dtype and given to `opbench_torch.assert_close`, as results of a device would be: opbench's own reference has to explain
them. Prints a line for each operator; exit code 1 if an output is wrong or cannot be checked."""

from __future__ import annotations

import argparse
import json
import os
import sys
from typing import Any, List, Optional

import numpy as np
import torch

from forms import BYTE_DTYPES, DTYPES, FORMS, LEFT_OUT, TESTED_ELSEWHERE, Attrs, Form, Key

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
import opbench_torch  # noqa: E402


def byte_tensor(stored: "np.ndarray[Any, Any]", dtype: str) -> torch.Tensor:
    """Values of codes, or of int4, as a tensor that names its dtype."""
    values = torch.from_numpy(np.array(stored if dtype == "int4" else decoded(dtype)[stored], order="C"))
    tensor = values if dtype == "int4" else values.float()
    setattr(tensor, "opbench_dtype", BYTE_DTYPES[dtype])
    return tensor


def decoded(dtype: str) -> "np.ndarray[Any, Any]":
    """The value of every code."""
    with np.load(os.path.join(Case.folder, "formats", f"decode_{dtype}.npz")) as file:
        return file["out.value"]


class Case:
    """One golden file."""

    folder = ""  # of all operators

    def __init__(self, path: str) -> None:
        with np.load(path) as file:
            self.values = {name: file[name] for name in file.files if name != "meta"}
            self.meta = json.loads(bytes(file["meta"]))
        self.attrs: Attrs = self.meta.get("attrs", {})
        self._complete()

    def _complete(self) -> None:
        """Adds arrays that an operator of opbench has in another form."""
        values = self.values
        if "out.value" in values:
            values["in.codes"] = np.arange(256, dtype=np.uint8)
        if "out.bits" in values or "out.packed_int32" in values:
            values["in.one"] = np.ones(1, np.float32)
        if "out.scale_e8m0" in values:  # in pairs along the axis
            scales = np.moveaxis(values["out.scale_e8m0"], self.attrs["axis"], -1)
            padded = np.pad(scales, [(0, 0)] * (scales.ndim - 1) + [(0, scales.shape[-1] % 2)])
            pairs = padded.reshape(*padded.shape[:-1], -1, 2)
            axis = self.attrs["axis"] % scales.ndim
            values["out.pairs"] = np.moveaxis(pairs, -2, axis)
        if self.meta["op"] == "dequant_swiglu_quant":  # rows without a group are left out
            for name in ("in.x", "in.activation_scale"):
                if name in values:
                    values[name] = values[name][:len(values["out.y"])]

    def key(self, name: str, side: str) -> str:
        return name if name.startswith(("in.", "out.", "grad.", "emu.")) else f"{side}.{name}"

    def tensor(self, name: Key, side: str) -> Optional[torch.Tensor]:
        if callable(name):
            return name(self)
        name, _, dtype = name.partition(":")
        if name.startswith("attr."):
            number = self.attrs[name.removeprefix("attr.")]
            return torch.tensor(number, dtype=torch.float64 if isinstance(number, float) else torch.int64)
        key = self.key(name, side)
        if not name or key not in self.values:
            return None
        plain = key.split(".", 1)[1].removeprefix("grad_")
        dtype = self.attrs.get(dtype, dtype) or self.meta.get("dtypes", {}).get(plain, "")
        if dtype in BYTE_DTYPES:
            return byte_tensor(self.values[key], dtype)
        values = torch.from_numpy(np.array(self.values[key], order="C"))
        if not values.is_floating_point():
            return values.to(DTYPES[dtype]) if dtype else values
        return values.to(DTYPES[dtype or self.meta["dtype"]])


def check_candidates(case: Case, form: Form) -> str:
    """Empty if exactly the candidates are right that the case accepts."""
    wrong = []
    for i, is_accepted in enumerate(case.values["out.accepted"]):
        outputs = [case.tensor(f"in.cand{i}_value", "in"), case.tensor(f"in.cand{i}_index", "in")]
        try:
            opbench_torch.assert_close(outputs, op=form.op, inputs=[case.tensor("x", "in")], **form.attrs(case.attrs))
            is_right = True
        except AssertionError:
            is_right = False
        if is_right != is_accepted:
            wrong.append(f"{form.op}: candidate {i} is {'right' if is_right else 'wrong'} here")
    return "; ".join(wrong)


def check(case: Case, form: Form) -> str:
    """Empty if every output is within its bound, or the case has none of them; else the reason."""
    if "out.accepted" in case.values:
        return check_candidates(case, form)
    inputs = [case.tensor(name, "in") for name in form.inputs]
    outputs = [case.tensor(name, "out") for name in form.outputs]
    if all(output is None for output in outputs):
        return ""
    try:
        opbench_torch.assert_close(outputs, op=form.op, inputs=inputs, **form.attrs(case.attrs), **form.of_case(case))
    except (AssertionError, ValueError) as error:
        return f"{form.op}: {error}"
    return ""


def check_operator(folder: str, op: str, is_verbose: bool) -> bool:
    reasons: List[str] = []
    files = sorted(name for name in os.listdir(os.path.join(folder, op))
                   if name.endswith(".npz") and name not in TESTED_ELSEWHERE)
    checks = 0
    for name in files:
        case = Case(os.path.join(folder, op, name))
        if name in LEFT_OUT:
            continue
        forms = [form for form in FORMS.get(op, []) if form.when(case.attrs) and form.takes(case)]
        if not forms:
            reasons.append(f"{name}: no operator of opbench takes it")
        for form in forms:
            checks += 1
            reason = check(case, form)
            if reason:
                reasons.append(f"{name}: {reason}")
    print(f"{op:32} {len(files):3} cases {checks:3} checks {'all within their bounds' if not reasons else f'{len(reasons)} NOT'}",
          flush=True)
    for reason in reasons if is_verbose else reasons[:1]:
        print("    " + reason.replace("\n", "\n    "))
    return not reasons


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.split("\n", maxsplit=1)[0])
    parser.add_argument("folder")
    parser.add_argument("operators", nargs="*")
    parser.add_argument("-v", "--verbose", action="store_true", help="all reasons, not only the first of an operator")
    options = parser.parse_args()
    Case.folder = options.folder
    all_ops = sorted(name for name in os.listdir(options.folder) if os.path.isdir(os.path.join(options.folder, name)))
    results = [check_operator(options.folder, op, options.verbose) for op in options.operators or all_ops]
    print(f"{sum(results)} of {len(results)} operators within their bounds")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
