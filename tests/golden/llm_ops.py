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
from typing import Any, Callable, Dict, List, Mapping, Optional, Union

import numpy as np
import torch

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)), "..", "..", "python"))
import opbench_torch  # noqa: E402

DTYPES = {"fp64": torch.float64, "fp32": torch.float32, "fp16": torch.float16, "bf16": torch.bfloat16,
          "int64": torch.int64, "int32": torch.int32, "int16": torch.int16, "int8": torch.int8, "uint8": torch.uint8,
          "bool": torch.bool}
Attrs = Mapping[str, Any]
Key = Union[str, Callable[["Case"], Optional[torch.Tensor]]]

# Dtypes of one byte: names in the golden cases and here. PyTorch 1.13 has none of them: their values are given as
# float32 or int8 with an attribute that names the dtype.
BYTE_DTYPES = {"float8_e4m3fn": "fp8_e4m3fn", "float8_e5m2": "fp8_e5m2", "hifloat8": "hif8", "float8_e8m0": "e8m0",
               "int4": "int4"}


@dataclass
class Form:
    """How an operator of opbench takes a golden case.

    inputs: keys of the case in the operator's order, without `in.`; with `out.` or `grad.` others; "" or a key that the
    case lacks: not given. outputs: keys likewise, of `out.` unless they say `grad.`; "": not checked; "y:fp32" has a
    dtype of its own; a function makes the tensor from the case. attrs: opbench's attributes from those of the case. by_shapes: others, from the shapes of its tensors.
    when: cases that this form takes."""

    op: str
    inputs: List[Key]
    outputs: List[Key]
    attrs: Callable[[Attrs], Dict[str, Any]] = field(default=lambda attrs: {})
    when: Callable[[Attrs], bool] = field(default=lambda attrs: True)
    by_shapes: Callable[[Attrs], Dict[str, Any]] = field(default=lambda shapes: {})


#: Cases that opbench does not have, with the reason.
LEFT_OUT = {
    "c4_float4_e2m1_axis-1_alg0.npz": "no floats of 4 bits",
    "decode_float4_e1m2.npz": "no floats of 4 bits",
    "decode_float4_e2m1.npz": "no floats of 4 bits",
    "encode_float4_e1m2.npz": "no floats of 4 bits",
    "encode_float4_e2m1.npz": "no floats of 4 bits",
    "pack_int4.npz": "int4 is not packed",
    "trans_quant_param.npz": "scales are not packed",
}


def unary(op: str, **attrs: Any) -> List[Form]:
    """An activation and its gradient."""
    return [Form(op, ["x"], ["y"], lambda _: attrs), Form(f"{op}_grad", ["grad_y", "x"], ["grad.x"], lambda _: attrs)]


def without(attrs: Attrs, *names: str) -> Dict[str, Any]:
    """The attributes of a case that opbench has as well."""
    return {name: value for name, value in attrs.items() if name not in names}


def steps(attrs: Attrs) -> Dict[str, Any]:
    """The dtype of a quantised output."""
    return {"dst_type": BYTE_DTYPES.get(attrs["dst_type"], attrs["dst_type"])}


def add_rms_norm(*outputs: str) -> List[Form]:
    """Exact results, or those of a chip."""
    return [Form("add_rms_norm", ["x1", "x2", "gamma"], [outputs[0], outputs[1] + ":fp32", outputs[2]], dict)]


def groups(a: Attrs) -> Dict[str, Any]:
    return {"groups": a["num_groups"], "eps": a["eps"]}


def norm_attrs(a: Attrs) -> Dict[str, Any]:
    return {"p": float(a["p"]), "axes": a["axes"], "keep_dims": a["keepdim"], "epsilon": a["epsilon"]}


def without_epsilon(a: Attrs) -> Dict[str, Any]:
    return {name: value for name, value in norm_attrs(a).items() if name != "epsilon"}


ROTARY_MODES = ["half", "interleave", "quarter", "interleave-half"]


def rotary_mode(attrs: Attrs) -> Dict[str, Any]:
    return {"mode": attrs["rotary_mode"] if "rotary_mode" in attrs else ROTARY_MODES[attrs["mode"]]}


def copies(name: str) -> Callable[[Case], Optional[torch.Tensor]]:
    """Eight copies of each number, as the device writes statistics."""

    def made(case: Case) -> Optional[torch.Tensor]:
        numbers = case.tensor(f"out.{name}:fp32", "out")
        return None if numbers is None else numbers.unsqueeze(-1).repeat_interleave(8, dim=-1)

    return made


def totals(name: str) -> Callable[[Case], Optional[torch.Tensor]]:
    """The running totals of sequences, which a case has among its attributes."""
    return lambda case: torch.tensor(case.attrs[name]) if name in case.attrs else None


def either(*names: str) -> Callable[[Case], Optional[torch.Tensor]]:
    return lambda case: next((found for found in (case.tensor(name, "in") for name in names) if found is not None), None)


def attention() -> List[Form]:
    optional: List[Key] = [either("pse", "pse_slope"), "drop_mask", "atten_mask", "prefix", totals("actual_seq_qlen"),
                           totals("actual_seq_kvlen"), "sink"]

    def attrs(a: Attrs) -> Dict[str, Any]:
        same = ("head_num", "input_layout", "keep_prob", "sparse_mode", "pre_tokens", "next_tokens", "pse_type",
                "softmax_layout")
        return {"scale_value": a["scale"], **{name: a[name] for name in same if name in a}}

    return [Form("flash_attention_score", ["query", "key", "value", *optional],
                 ["attention_out", copies("softmax_max"), copies("softmax_sum")], attrs),
            Form("flash_attention_score_grad",
                 ["query", "key", "value", "grad_out", copies("softmax_max"), copies("softmax_sum"), "out.attention_out",
                  *optional],
                 ["grad.query", "grad.key", "grad.value", "grad.sink"], attrs)]


INFERENCE_INPUTS = ["query", "key_cache", "value_cache", "", "", "actual_seq_lengths_kv", "block_table", "query_rope",
                    "key_rope_cache"]


def inference_attrs(attrs: Attrs) -> Dict[str, Any]:
    names = ("num_heads", "num_key_value_heads", "scale", "input_layout", "sparse_mode", "softmax_lse_flag")
    return {name: attrs[name] for name in names}


def torch_attention() -> List[Form]:
    def attrs(a: Attrs) -> Dict[str, Any]:
        return {"is_causal": a["is_causal"], "scale": a["scale"]}

    qkv: List[Key] = ["query", "key", "value"]
    return [Form("scaled_dot_product_attention", [*qkv, "attn_mask"], ["output", "logsumexp:fp32"], attrs),
            Form("scaled_dot_product_attention_grad",
                 [*qkv, "grad_out", "out.logsumexp:fp32", "out.output", "attn_mask"],
                 ["grad.query", "grad.key", "grad.value"], attrs)]


INTEGER_PAIRS = [("trunc_divide", "div_trunc"), ("floor_divide", "div_floor")] + [
    (op, op) for op in ("add", "sub", "mul", "remainder", "fmod", "bitwise_and", "bitwise_or", "bitwise_xor", "lt", "ge",
                        "eq", "maximum")]


FORMS: Dict[str, List[Form]] = {
    "add_rms_norm": add_rms_norm("y", "rstd", "x") + add_rms_norm("emu.y_910b", "emu.rstd_910b", "emu.x")
    + add_rms_norm("emu.y_950", "rstd", "emu.x")
    + [Form("add_rms_norm_grad", ["grad_y", "grad_x", "out.x:fp32", "out.rstd:fp32", "gamma"],
            ["grad.x1", "grad.x2", "grad.gamma:fp32"])],
    "apply_rotary_pos_emb": [Form("apply_rotary_pos_emb", ["query", "key", "cos", "sin"], ["query", "key"], rotary_mode)],
    "ascend_anti_quant": [Form("ascend_anti_quant", ["x", "scale", "offset"], ["y:dst_type"],
                               lambda a: {"dst_type": a["dst_type"], "sqrt_mode": a["sqrt_mode"]})],
    "ascend_quant_v2": [Form("ascend_quant_v2", ["x", "scale", "offset"], ["y:dst_type"],
                             lambda a: {**steps(a), "sqrt_mode": a["sqrt_mode"], "round_mode": a["round_mode"]})],
    "attention_update": [Form("attention_update", ["lse", "local_out"], ["out", "lse:fp32"])],
    "clipped_swiglu": [Form("clipped_swiglu", ["x"], ["y"], dict),
                       Form("clipped_swiglu_grad", ["grad_y", "x"], ["grad.x"], dict)],
    "cos": unary("cos"),
    "cumsum": [Form("cumsum", ["x"], ["y"], dict)],
    "dequant_swiglu_quant": [Form("dequant_swiglu_quant",
                                  ["x", "weight_scale", "activation_scale", "quant_scale", "quant_offset", "group_index"],
                                  ["y", "scale:fp32"], dict)],
    "dynamic_block_quant": [Form("dynamic_block_quant", ["x"], ["y:dst_type", "scale:fp32"],
                                 lambda a: {**a, **steps(a)})],
    "dynamic_mx_quant": [Form("dynamic_mx_quant", ["x"], ["y:dst_type", "pairs:float8_e8m0"],
                              lambda a: {**{k: v for k, v in a.items() if k != "round_mode"}, **steps(a)})],
    "dynamic_quant": [Form("dynamic_quant", ["x", "smooth_scales"], ["y:dst_type", "scale:fp32", "offset:fp32"],
                           lambda a: {**a, **steps(a)})],
    "elu": unary("elu"),
    "erf": unary("erf"),
    "fast_gelu": unary("fast_gelu"),
    "fill": [Form("fill", ["out.y"], ["y"], lambda a: {"value": a["value"]})],
    "flash_attention_score": attention(),
    "float_rounding": [Form(op, ["x"], [op]) for op in ("floor", "ceil", "trunc", "round")] +
                      [Form(op, ["x", "y"], [op]) for op in ("fmod", "remainder")],
    "foreach_norm": [Form("norm", [tensor], [tensor], lambda a: {"p": float(a["ord"])})
                     for tensor in ("t0", "t1", "t2")],
    "formats": [Form("cast", ["x"], ["bits:type"], lambda a: {"to": BYTE_DTYPES[a["type"]]}),
                Form("ascend_quant_v2", ["x", "one:fp32"], ["bits_saturated:type"],
                     lambda a: {"dst_type": BYTE_DTYPES[a["type"]]}),
                Form("cast", ["codes:type"], ["value:fp32"], lambda a: {"to": "fp32"})],
    "fused_adamw": [Form("adam", ["param", "grad", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"],
                         ["param", "exp_avg", "exp_avg_sq", "max_exp_avg_sq"],
                         lambda a: {"decoupled": True, **{key: a[key] for key in a if key != "amsgrad"}})],
    "fused_infer_attention_score": [
        Form("fused_infer_attention_score", INFERENCE_INPUTS, ["attention_out", "softmax_lse:fp32"], inference_attrs,
             lambda a: a["key_antiquant_mode"] < 0),
        Form("fused_infer_attention_score_kv_int8",
             INFERENCE_INPUTS + ["key_antiquant_scale", "value_antiquant_scale"],
             ["attention_out", "softmax_lse:fp32"],
             lambda a: {**inference_attrs(a), "key_antiquant_mode": a["key_antiquant_mode"]},
             lambda a: a["key_antiquant_mode"] >= 0)],
    "gather_pa_kv_cache": [Form("gather_pa_kv_cache",
                                ["key_cache", "value_cache", "block_tables", "seq_lens", "out.key", "out.value",
                                 "seq_offset"], ["key", "value"],
                                lambda a: {"is_seq_lens_cumsum": a["is_seq_lens_cumsum"]})],
    "gelu_erf": unary("gelu", approximate="none"),
    "gelu_tanh": unary("gelu", approximate="tanh"),
    "group_norm": [Form("group_norm", ["x", "gamma", "beta"], ["y", "mean:fp32", "rstd:fp32"],
                        lambda a: {"groups": a["num_groups"], "eps": a["eps"]})],
    "grouped_matmul": [Form("grouped_matmul", ["x", "weight", "group_list", "bias"], ["y"],
                            lambda a: {"group_list_type": a["group_list_type"]})],
    "hardsigmoid": unary("hardsigmoid"),
    "hardswish": unary("hardswish"),
    "index_put": [Form("index_put", ["x", "values", "index0", "index1"], ["y"],
                       lambda a: {"accumulate": a["accumulate"]}, lambda a: a["indexed"][0] == 1,
                       lambda case: case.values["in.index0"].dtype != bool),
                  Form("index_put", ["x", "values", "index1"], ["y"],
                       lambda a: {"accumulate": a["accumulate"], "axis": 1}, lambda a: a["indexed"] == [0, 1]),
                  Form("masked_scatter", ["values", "index0", "x"], ["y"], lambda a: {"by_rows": True},
                       lambda a: a["indexed"] == [1], lambda case: case.values["in.index0"].dtype == bool)],
    "integer_arithmetic": [Form(op, ["a", "b"], [output]) for op, output in INTEGER_PAIRS] +
                          [Form(op, ["a"], [op]) for op in ("bitwise_not", "abs", "neg")],
    "leaky_relu": unary("leaky_relu"),
    "lp_norm": [Form("norm", ["x"], ["y"], norm_attrs),
                Form("norm_grad", ["grad_y", "x", "out.y"], ["grad.x"], without_epsilon)],
    "mish": unary("mish"),
    "moe_finalize_routing_v2": [Form("moe_finalize_routing_v2",
                                     ["expanded_x", "expanded_row_idx", "x1", "x2", "bias", "scales", "expert_idx"],
                                     ["y"], lambda a: {"drop_pad_mode": a["drop_pad_mode"]})],
    "moe_gating_top_k": [Form("moe_gating_top_k", ["x", "bias"], ["y", "expert_idx", "norm_out:fp32"],
                              lambda a: {**without(a, "renorm"), "out_flag": True})],
    "moe_gating_top_k_softmax": [Form("moe_gating_top_k_softmax", ["x", "finished"],
                                      ["y", "expert_idx", "row_idx"], dict)],
    "moe_init_routing_v2": [Form("moe_init_routing_v2", ["x", "expert_idx"],
                                 ["expanded_x", "expanded_row_idx", "expert_tokens_count_or_cumsum"],
                                 dict, lambda a: a["drop_pad_mode"] == 0),
                            Form("moe_init_routing_v2", ["x", "expert_idx"],
                                 ["expanded_x", "expanded_row_idx", "expert_tokens_before_capacity"],
                                 lambda a: {**a, "expert_tokens_before_capacity_flag": True},
                                 lambda a: a["drop_pad_mode"] == 1)],
    "moe_token_permute": [Form("moe_token_permute", ["tokens", "indices"], ["permuted_tokens", "sorted_indices"],
                               lambda a: without(a, "padded_mode")),
                          Form("moe_token_permute_grad", ["grad_permuted", "out.sorted_indices"], ["grad.tokens"],
                               by_shapes=lambda shapes: {"num_topk": shapes["in.indices"][1]})],
    "moe_token_unpermute": [Form("moe_token_unpermute", ["permuted_tokens", "sorted_indices", "probs"], ["out"]),
                            Form("moe_token_unpermute_grad",
                                 ["permuted_tokens", "grad_out", "sorted_indices", "probs"],
                                 ["grad.permuted_tokens", "grad.probs"])],
    "mrope": [Form("mrope", ["positions", "query", "key", "cos_sin_cache"], ["query", "key"],
                   lambda a: {**rotary_mode(a), "head_size": a["head_size"], "mrope_section": a["mrope_section"],
                              "cache_mode": a["cache_mode"]})],
    "nonzero": [Form("nonzero", ["x"], ["y"], of_case=lambda case: {"rows": case.values["out.y"].shape[0]})],
    "quant_batch_matmul_v3": [Form("quant_batch_matmul_v3", ["x1", "x2", "scale", "offset", "bias", "pertoken_scale"],
                                   ["y:output_dtype"], dict)],
    "range": [Form("range", ["attr.end", "attr.start", "attr.step"], ["y"],
                   lambda a: {"dtype": a["dtype"], "count": math.ceil((a["end"] - a["start"]) / a["step"])})],
    "rms_norm": [Form("rms_norm", ["x", "gamma"], ["y", "rstd:fp32"], dict),
                 Form("rms_norm_grad", ["grad_y", "x", "out.rstd:fp32", "gamma"], ["grad.x", "grad.gamma:fp32"])],
    "rope": [Form("rope", ["x", "cos", "sin"], ["y"], rotary_mode),
             Form("rope_grad", ["grad_y", "cos", "sin", "x"], ["grad.x", "grad.cos", "grad.sin"], rotary_mode)],
    "scaled_dot_product_attention": torch_attention(),
    "scatter": [Form("scatter", ["x", "index", "src"], ["y"],
                     lambda a: {"dim": a["dim"], "reduce": {"none": "update"}.get(a["reduce"], a["reduce"])})],
    "scatter_nd_update": [Form("scatter_nd_update", ["var", "indices", "updates"], ["var"])],
    "scatter_pa_kv_cache": [Form("scatter_pa_kv_cache", ["key", "value", "key_cache", "value_cache", "slot_mapping"],
                                 ["key_cache", "value_cache"], lambda a: {"cache_mode": a["cache_mode"]})],
    "silu": unary("silu"),
    "sin": unary("sin"),
    "swiglu": [Form("swiglu", ["x"], ["y"], dict), Form("swiglu_grad", ["grad_y", "x"], ["grad.x"], dict)],
    "tie_rule": [Form("topk", ["x"], ["candidates"], lambda a: without(a, "bound"))],
    "tril": [Form("tril", ["x"], ["y"], dict)],
    "triu": [Form("triu", ["x"], ["y"], dict)],
    "weight_quant_batch_matmul_v2": [
        Form("weight_quant_batch_matmul_v2", ["x", "weight:weight_type", "antiquant_scale", "antiquant_offset", "bias"],
             ["y"], lambda a: {"antiquant_group_size": a["antiquant_group_size"]})],
}

# No operator takes the bound of its scores: tests/judge/indices_test.cc has these numbers.
TESTED_ELSEWHERE = {"scores_within_bound.npz"}


def byte_tensor(stored: "np.ndarray[Any, Any]", dtype: str) -> torch.Tensor:
    """Values of codes, or of int4, as a tensor that names its dtype."""
    values = torch.from_numpy(np.array(stored if dtype == "int4" else decoded(dtype)[stored], order="C"))
    tensor = values if dtype == "int4" else values.float()
    tensor.opbench_dtype = BYTE_DTYPES[dtype]
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
        self.shapes = {name: values.shape for name, values in self.values.items()}
        self._complete()

    def _complete(self) -> None:
        """Adds arrays that an operator of opbench has in another form."""
        values = self.values
        if "out.value" in values:
            values["in.codes"] = np.arange(256, dtype=np.uint8)
        if "out.bits" in values:
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
        if name in LEFT_OUT:
            continue
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
    Case.folder = options.folder
    all_ops = sorted(name for name in os.listdir(options.folder) if os.path.isdir(os.path.join(options.folder, name)))
    results = [check_operator(options.folder, op, options.verbose) for op in options.operators or all_ops]
    print(f"{sum(results)} of {len(results)} operators within their bounds")
    return 0 if all(results) else 1


if __name__ == "__main__":
    sys.exit(main())
