"""How opbench's operators take the golden cases of llm_ops.py."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Callable, Dict, List, Mapping, Optional, Union

import torch

if TYPE_CHECKING:
    from llm_ops import Case

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

    inputs: keys of the case in the operator's order, without `in.`; with `out.`, `grad.` or `attr.` others; "" or a key that
    the case lacks: not given. outputs: keys likewise, of `out.` unless they say `grad.` or `emu.`; "": not checked;
    "y:fp32" has a dtype of its own; a function makes the tensor from the case. attrs: opbench's attributes from those of
    the case; of_case: further ones from its tensors. when, takes: cases that this form takes, by attributes or tensors."""

    op: str
    inputs: List[Key]
    outputs: List[Key]
    attrs: Callable[[Attrs], Dict[str, Any]] = field(default=lambda attrs: {})
    when: Callable[[Attrs], bool] = field(default=lambda attrs: True)
    takes: Callable[["Case"], bool] = field(default=lambda case: True)
    of_case: Callable[["Case"], Dict[str, Any]] = field(default=lambda case: {})


#: Cases that opbench does not have, with the reason.
LEFT_OUT = {
    "c4_float4_e2m1_axis-1_alg0.npz": "no floats of 4 bits",
    "decode_float4_e1m2.npz": "no floats of 4 bits",
    "decode_float4_e2m1.npz": "no floats of 4 bits",
    "encode_float4_e1m2.npz": "no floats of 4 bits",
    "encode_float4_e2m1.npz": "no floats of 4 bits",
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


def resized(a: Attrs) -> Dict[str, Any]:
    scales = dict(zip(("scale_h", "scale_w"), a["scales"]))
    return {"align_corners": a["align_corners"], **scales}


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


def of_type(attrs: Attrs) -> bool:
    return "type" in attrs


def without_type(attrs: Attrs) -> bool:
    return "type" not in attrs


def quant_params(case: Case) -> Optional[torch.Tensor]:
    """Packed scales, which are uint64."""
    packed = case.values.get("out.packed")
    return None if packed is None else torch.from_numpy(packed.astype("int64"))


LSTM_INPUTS: List[Key] = ["x", "h", "c", "w_ih", "w_hh", "b_ih", "b_hh"]
INTEGER_PAIRS = [("trunc_divide", "div_trunc"), ("floor_divide", "div_floor")] + [
    (op, op) for op in ("add", "sub", "mul", "remainder", "fmod", "bitwise_and", "bitwise_or", "bitwise_xor", "lt", "ge",
                        "eq", "maximum")]


def table_rows(case: Case) -> Dict[str, Any]:
    return {"num_weights": len(case.values["in.weight"])}


def roi_attrs(a: Attrs) -> Dict[str, Any]:
    return {"pooled_height": a["output_size"][0], "pooled_width": a["output_size"][1], **without(a, "output_size")}


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
    "conv1d": [Form("conv1d", ["x", "weight", "bias"], ["y"], dict),
               Form("conv1d_grad_input", ["grad_y", "weight"], ["grad.x"], dict,
                    of_case=lambda case: {"input_size": list(case.values["in.x"].shape)}),
               Form("conv1d_grad_weight", ["grad_y", "x"], ["grad.weight"], dict,
                    of_case=lambda case: {"weight_size": list(case.values["in.weight"].shape)}),
               Form("bias_grad", ["grad_y"], ["grad.bias"])],
    "conv_transpose2d": [Form("conv_transpose2d", ["x", "weight", "bias"], ["y"], dict)],
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
    "embedding_bag": [
        Form("embedding_bag", ["weight", "indices", "offsets", "per_sample_weights"], ["y"], dict),
        Form("embedding_bag_grad", ["grad_y", "indices", "offsets", "per_sample_weights"], ["grad.weight"], dict,
             lambda a: a["mode"] != "max", of_case=table_rows),
        Form("embedding_bag_grad", ["grad_y", "indices", "offsets", "weight"], ["grad.weight"], dict,
             lambda a: a["mode"] == "max", of_case=table_rows)],
    "erf": unary("erf"),
    "fast_gelu": unary("fast_gelu"),
    "fill": [Form("fill", ["out.y"], ["y"], lambda a: {"value": a["value"]})],
    "flash_attention_score": attention(),
    "float_rounding": [Form(op, ["x"], [op]) for op in ("floor", "ceil", "trunc", "round")] +
                      [Form(op, ["x", "y"], [op]) for op in ("fmod", "remainder")],
    "foreach_norm": [Form("norm", [tensor], [tensor], lambda a: {"p": float(a["ord"])})
                     for tensor in ("t0", "t1", "t2")],
    "formats": [Form("cast", ["x"], ["bits:type"], lambda a: {"to": BYTE_DTYPES[a["type"]]}, of_type),
                Form("ascend_quant_v2", ["x", "one:fp32"], ["bits_saturated:type"],
                     lambda a: {"dst_type": BYTE_DTYPES[a["type"]]}, of_type),
                Form("cast", ["codes:type"], ["value:fp32"], lambda a: {"to": "fp32"}, of_type),
                Form("pack_int4", ["x"], ["packed_int32"], when=without_type),
                Form("pack_int4", ["x"], ["packed_bytes"], lambda a: {"to": "uint8"}, without_type),
                Form("ascend_anti_quant", ["out.packed_int32", "one:fp32"], ["in.x:fp32"],
                     lambda a: {"dst_type": "fp32"}, without_type),
                Form("trans_quant_param", ["scale", "offset"], [quant_params], when=without_type)],
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
    "grid_sample": [Form("grid_sample", ["x", "grid"], ["y"], dict),
                    Form("grid_sample_grad", ["grad_y", "x", "grid"], ["grad.x", "grad.grid"], dict)],
    "group_norm": [Form("group_norm", ["x", "gamma", "beta"], ["y", "mean:fp32", "rstd:fp32"],
                        groups),
                   Form("group_norm_silu", ["x", "gamma", "beta"], ["y_silu", "mean:fp32", "rstd:fp32"], groups)],
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
    "lstm_cell": [Form("lstm_cell", LSTM_INPUTS, ["h", "c"]),
                  Form("lstm_cell_grad", ["grad_h", "grad_c", *LSTM_INPUTS],
                       ["grad.x", "grad.h", "grad.c", "grad.w_ih", "grad.w_hh", "", ""])],
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
                               of_case=lambda case: {"num_topk": case.values["in.indices"].shape[1]})],
    "moe_token_unpermute": [Form("moe_token_unpermute", ["permuted_tokens", "sorted_indices", "probs"], ["out"]),
                            Form("moe_token_unpermute_grad",
                                 ["permuted_tokens", "grad_out", "sorted_indices", "probs"],
                                 ["grad.permuted_tokens", "grad.probs"])],
    "mrope": [Form("mrope", ["positions", "query", "key", "cos_sin_cache"], ["query", "key"],
                   lambda a: {**rotary_mode(a), "head_size": a["head_size"], "mrope_section": a["mrope_section"],
                              "cache_mode": a["cache_mode"]})],
    "nms": [Form("nms", ["boxes", "scores"], ["keep"], dict,
                 of_case=lambda case: {"rows": len(case.values["out.keep"])})],
    "nonzero": [Form("nonzero", ["x"], ["y"], of_case=lambda case: {"rows": case.values["out.y"].shape[0]})],
    "quant_batch_matmul_v3": [Form("quant_batch_matmul_v3", ["x1", "x2", "scale", "offset", "bias", "pertoken_scale"],
                                   ["y:output_dtype"], dict)],
    "range": [Form("range", ["attr.end", "attr.start", "attr.step"], ["y"],
                   lambda a: {"dtype": a["dtype"], "count": math.ceil((a["end"] - a["start"]) / a["step"])})],
    "rms_norm": [Form("rms_norm", ["x", "gamma"], ["y", "rstd:fp32"], dict),
                 Form("rms_norm_grad", ["grad_y", "x", "out.rstd:fp32", "gamma"], ["grad.x", "grad.gamma:fp32"])],
    "roi_align": [Form("roi_align", ["x", "rois"], ["y"], roi_attrs)],
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
    "upsample_bilinear2d": [Form("upsample_bilinear2d", ["x"], ["y"],
                                 lambda a: {"output_size": a["output_size"], **resized(a)}),
                            Form("upsample_bilinear2d_grad", ["grad_y"], ["grad.x"], resized,
                                 of_case=lambda case: {"input_size": list(case.values["in.x"].shape[2:])})],
    "weight_quant_batch_matmul_v2": [
        Form("weight_quant_batch_matmul_v2", ["x", "weight:weight_type", "antiquant_scale", "antiquant_offset", "bias"],
             ["y"], lambda a: {"antiquant_group_size": a["antiquant_group_size"]})],
}

# No operator takes the bound of its scores: tests/judge/indices_test.cc has these numbers.
TESTED_ELSEWHERE = {"scores_within_bound.npz"}
