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
from dataclasses import dataclass, field
from typing import Any, Callable, Dict, List, Mapping, Optional

import numpy as np
import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
import opbench_torch  # noqa: E402

DTYPES = {"fp64": torch.float64, "fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16,
          "int64": torch.int64, "int32": torch.int32, "int16": torch.int16, "int8": torch.int8, "uint8": torch.uint8,
          "bool": torch.bool}
Attrs = Mapping[str, Any]


@dataclass
class Form:
    """How an operator of opbench takes a golden case.

    inputs: keys of the case in the operator's order, without `in.`; with `out.` or `grad.` others; "" or a key that the
    case lacks: not given. outputs: keys likewise, of `out.` unless they say `grad.`; "": not checked; "y:fp32" has a
    dtype of its own. attrs: opbench's attributes from those of the case. by_shapes: others, from the shapes of its tensors.
    when: cases that this form takes."""

    op: str
    inputs: List[str]
    outputs: List[str]
    attrs: Callable[[Attrs], Dict[str, Any]] = field(default=lambda attrs: {})
    when: Callable[[Attrs], bool] = field(default=lambda attrs: True)
    by_shapes: Callable[[Attrs], Dict[str, Any]] = field(default=lambda shapes: {})


def unary(op: str, **attrs: Any) -> List[Form]:
    """An activation and its gradient."""
    return [Form(op, ["x"], ["y"], lambda _: attrs), Form(f"{op}_grad", ["grad_y", "x"], ["grad.x"], lambda _: attrs)]


def without(attrs: Attrs, *names: str) -> Dict[str, Any]:
    """The attributes of a case that opbench has as well."""
    return {name: value for name, value in attrs.items() if name not in names}


FORMS: Dict[str, List[Form]] = {
    "cos": unary("cos"),
    "gelu_erf": unary("gelu", approximate="none"),
    "gelu_tanh": unary("gelu", approximate="tanh"),
    "group_norm": [Form("group_norm", ["x", "gamma", "beta"], ["y", "mean:fp32", "rstd:fp32"],
                        lambda a: {"groups": a["num_groups"], "eps": a["eps"]})],
    "grouped_matmul": [Form("grouped_matmul", ["x", "weight", "group_list", "bias"], ["y"],
                            lambda a: {"group_list_type": a["group_list_type"]})],
    "hardsigmoid": unary("hardsigmoid"),
    "hardswish": unary("hardswish"),
    "moe_finalize_routing_v2": [Form("moe_finalize_routing_v2",
                                     ["expanded_x", "expanded_row_idx", "x1", "x2", "bias", "scales", "expert_idx"],
                                     ["y"], lambda a: {"drop_pad_mode": a["drop_pad_mode"]})],
    "moe_gating_top_k": [Form("moe_gating_top_k", ["x", "bias"], ["y", "expert_idx", "norm_out:fp32"],
                              lambda a: {**without(a, "renorm"), "out_flag": True})],
    "moe_gating_top_k_softmax": [Form("moe_gating_top_k_softmax", ["x", "finished"],
                                      ["y", "expert_idx", "row_idx"], dict)],
    "moe_init_routing_v2": [Form("moe_init_routing_v2", ["x", "expert_idx"],
                                 ["expanded_x", "expanded_row_idx", "expert_tokens_count_or_cumsum",
                                  "expert_tokens_before_capacity"],
                                 lambda a: {**a, "expert_tokens_before_capacity_flag": a["drop_pad_mode"] == 1})],
    "moe_token_permute": [Form("moe_token_permute", ["tokens", "indices"], ["permuted_tokens", "sorted_indices"],
                               lambda a: without(a, "padded_mode")),
                          Form("moe_token_permute_grad", ["grad_permuted", "out.sorted_indices"], ["grad.tokens"],
                               by_shapes=lambda shapes: {"num_topk": shapes["in.indices"][1]})],
    "moe_token_unpermute": [Form("moe_token_unpermute", ["permuted_tokens", "sorted_indices", "probs"], ["out"]),
                            Form("moe_token_unpermute_grad",
                                 ["permuted_tokens", "grad_out", "sorted_indices", "probs"],
                                 ["grad.permuted_tokens", "grad.probs"])],
    "silu": unary("silu"),
    "sin": unary("sin"),
    "tie_rule": [Form("topk", ["x"], ["candidates"], lambda a: without(a, "bound"))],
    "tril": [Form("tril", ["x"], ["y"], dict)],
    "triu": [Form("triu", ["x"], ["y"], dict)],
}

# No operator takes the bound of its scores: tests/judge/indices_test.cc has these numbers.
TESTED_ELSEWHERE = {"scores_within_bound.npz"}


class Case:
    """One golden file."""

    def __init__(self, path: str) -> None:
        with np.load(path) as file:
            self.values = {name: file[name] for name in file.files if name != "meta"}
            self.meta = json.loads(bytes(file["meta"]))
        self.attrs: Attrs = self.meta.get("attrs", {})
        self.shapes = {name: values.shape for name, values in self.values.items()}

    def key(self, name: str, side: str) -> str:
        return name if name.startswith(("in.", "out.", "grad.")) else f"{side}.{name}"

    def tensor(self, name: str, side: str) -> Optional[torch.Tensor]:
        name, _, dtype = name.partition(":")
        key = self.key(name, side)
        if not name or key not in self.values:
            return None
        values = torch.from_numpy(np.array(self.values[key], order="C"))
        if not values.is_floating_point():
            return values.to(DTYPES[dtype]) if dtype else values
        plain = key.split(".", 1)[1].removeprefix("grad_")
        return values.to(DTYPES[dtype or self.meta.get("dtypes", {}).get(plain, self.meta["dtype"])])


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
        opbench_torch.assert_close(outputs, op=form.op, inputs=inputs, **form.attrs(case.attrs),
                                   **form.by_shapes(case.shapes))
    except (AssertionError, ValueError) as error:
        return f"{form.op}: {error}"
    return ""


def check_operator(folder: str, op: str, is_verbose: bool) -> bool:
    reasons: List[str] = []
    files = sorted(name for name in os.listdir(os.path.join(folder, op)) if name.endswith(".npz") and name not in TESTED_ELSEWHERE)
    checks = 0
    for name in files:
        case = Case(os.path.join(folder, op, name))
        forms = [form for form in FORMS.get(op, []) if form.when(case.attrs)]
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
    all_ops = sorted(name for name in os.listdir(options.folder) if os.path.isdir(os.path.join(options.folder, name)))
    results = [check_operator(options.folder, op, options.verbose) for op in options.operators or all_ops]
    print(f"{sum(results)} of {len(results)} operators within their bounds")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
