#include "tests/lab/audit_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>

#include "harness/run/example_case.h"
#include "tensor/error.h"

namespace opbench {
namespace {

/// Inputs and attributes of a further case, as a case id has them.
struct FurtherCase {
  std::string_view op, inputs, attrs;
};

// Attention: heads of keys with two heads of queries each, hidden pairs, a mask. Norms: eps in the
// range of the mean square. Steps of adam that exceed the rounding of the parameters.
constexpr FurtherCase kFurther[] = {
    {"flash_attention_score", "2x4x9x16,2x2x17x16,2x2x17x16", ""},
    {"flash_attention_score", "2x4x9x16,2x2x9x16,2x2x9x16", ",sparse_mode=3"},
    {"flash_attention_score", "2x4x9x16,2x2x9x16,2x2x9x16,0,0,9x9", ""},
    {"flash_attention_score_grad", "2x4x9x16,2x2x9x16,2x2x9x16,2x4x9x16,2x4x9x8,2x4x9x8,2x4x9x16",
     ",sparse_mode=3"},
    {"scaled_dot_product_attention", "2x4x9x16,2x2x17x16,2x2x17x16", ""},
    {"scaled_dot_product_attention", "2x4x9x16,2x2x9x16,2x2x9x16", ",is_causal=true"},
    {"scaled_dot_product_attention", "2x4x9x16,2x2x9x16,2x2x9x16,9x9", ""},
    {"scaled_dot_product_attention_grad", "2x4x9x16,2x2x9x16,2x2x9x16,2x4x9x16,2x4x9,2x4x9x16",
     ",is_causal=true"},
    {"fused_infer_attention_score", "2x4x1x16,2x2x17x16,2x2x17x16",
     ",num_heads=4,num_key_value_heads=2,input_layout=BNSD,scale=0.25"},
    {"fused_infer_attention_score", "2x4x9x16,2x2x9x16,2x2x9x16",
     ",num_heads=4,num_key_value_heads=2,input_layout=BNSD,scale=0.25,sparse_mode=3"},
    {"fused_infer_attention_score", "2x4x1x16,6x2x8x16,6x2x8x16,0,0,2,2x3",
     ",num_heads=4,num_key_value_heads=2,input_layout=BNSD,scale=0.25"},
    {"rms_norm", "32x12,12", ",epsilon=0.5"},
    {"adam", "32x12,32x12,32x12,32x12,32x12",
     ",lr=0.5,weight_decay=0.25,decoupled=true,step=3,maximize=true"},
    {"lamb", "32x12,32x12,32x12,32x12", ",lr=0.5,weight_decay=0.25,step=3"},
    {"clipped_swiglu", "32x32,4", ",interleaved=false"},
    {"ascend_quant_v2", "32x12,12,12", ",div_mode=true"},
    {"dynamic_quant", "32x12", ""},
    {"dynamic_quant", "32x12", ",symmetric=false"},
    {"dequant_swiglu_quant", "32x24,24,32,12,12", ",quant_mode=static"},
    {"quant_batch_matmul_v3", "32x48,48x12,12,0,12,32", ""},
    {"block_quant_matmul", "32x96,96x12,3x12,32x3,12", ""},
    {"weight_quant_batch_matmul_v2", "32x48,48x12,3x12,3x12,12", ",antiquant_group_size=16"},
    {"moe_gating_top_k_softmax", "32x16", ",k=4,renorm=1"},
    {"moe_gating_top_k", "32x16,16", ",k=4,norm_type=1"},
    {"moe_gating_top_k", "32x16,16", ",k=4,group_count=4,k_group=2,out_flag=true"},
    {"moe_finalize_routing_v2", "64x12,64,32x12,32x12,4x12,32x2,32x2", ""},
    {"moe_token_unpermute", "64x12,64,32x2", ""},
    {"moe_token_unpermute_grad", "64x12,32x12,64,32x2", ""},
    {"moe_finalize_routing_v2_grad", "64x12,32x12,64,32x2,4x12,32x2", ""},
    {"moe_gating_grad", "32x4,32x16,32x4", ",shares=sigmoid"},
    {"moe_gating_grad", "32x4,32x16,32x4", ",shares=chosen,factor=2.5"},
    {"embedding_bag", "100x12,64,17,64", ",mode=sum,include_last_offset=true"},
    {"embedding_bag", "8x12,64,16", ",mode=max,padding_idx=3"},
    {"embedding_bag", "8x12,64,16", ",padding_idx=3"},
    {"embedding_bag_grad", "16x12,64,16,8x12", ",mode=max,num_weights=8,padding_idx=3"},
    {"embedding_bag_weights_grad", "16x12,8x12,64,16", ",padding_idx=3"},
    {"nms", "64x4,64", ",iou_threshold=0.25"},
    {"roi_align", "2x3x16x24,8x4", ",pooled_height=3,pooled_width=2,aligned=true"},
    {"roi_align", "2x3x16x24,8x5", ",pooled_height=2,pooled_width=2,spatial_scale=8"},
    {"roi_align_grad", "8x3x2x2,8x4",
     ",input_size=[2,3,16,24],pooled_height=2,pooled_width=2,sampling_ratio=2,aligned=true"},
    {"repeat_interleave_grad", "12x24", ",axis=1"},
    {"threshold", "32x12", ",threshold=0.25,value=20"},
    {"lstm", "40x3x16,64x16,64x16,64,64,1x3x16,1x3x16", ",forget_bias=1"},
    {"lstm", "9x4x12,32x12,32x8,0,32,1x4x8,0,4", ",gate_order=igfo"},
    {"gru", "40x3x16,48x16,48x16,48,48,1x3x16", ""},
    {"lstm_grad", "9x3x16,1x3x16,1x3x16,9x3x16,64x16,64x16,64,64,1x3x16,1x3x16", ",forget_bias=1"},
    {"gru_grad", "9x3x16,1x3x16,9x3x16,48x16,48x16,48,48,1x3x16", ""},
    {"grouped_matmul", "36x16,3x16x8,3,3x8", ""},
    {"conv1d", "2x6x17,8x3x3,8", ",groups=2,stride=2,padding=1,dilation=2"},
    {"conv3d", "2x4x5x6x7,6x2x2x3x3,6", ",groups=2,stride=[1,2,1],padding=1"},
    {"conv3d_grad_weight", "2x6x4x4x5,2x4x5x6x7", ""},
    {"upsample_bilinear2d", "2x3x7x9", ",output_size=[13,20],align_corners=true"},
    {"upsample_bilinear2d_grad", "2x3x13x20", ",input_size=[7,9],align_corners=true"},
    {"grid_sample", "2x3x7x9,2x6x11x2", ",padding_mode=border,align_corners=true"},
    {"grid_sample", "2x3x7x9,2x6x11x2", ",mode=nearest"},
    {"grid_sample_grad", "2x3x6x11,2x3x7x9,2x6x11x2", ",padding_mode=border"},
};

bool takes(const Kernel& kernel, const Case& c) {
  try {
    return refusal(kernel, problem_of(c)).empty();
  } catch (const Error&) {
    return false;
  }
}

// Returns a case without reduction of the loss. In a mean over all rows, a few wrong rows would be
// smaller than its rounding. A gradient's inputs would change.
std::optional<Case> without_reduction(const Kernel& kernel, Case c) {
  const std::span<const AttrSpec> specs = c.op->attrs;
  if (std::none_of(specs.begin(), specs.end(),
                   [](const AttrSpec& spec) { return spec.name == "reduction"; })) {
    return {};
  }
  c.attrs.put("reduction", std::string("none"));
  if (!takes(kernel, c)) return {};
  return c;
}

DTypeCases cases_of(const Kernel& kernel, DType dtype, Format format) {
  DTypeCases cases;
  std::optional<Case> example = example_case(kernel, dtype, format);
  if (!example) return cases;
  std::optional<Case> apart = without_reduction(kernel, *example);
  cases.push_back(std::move(*example));
  if (apart) cases.push_back(std::move(*apart));
  for (const FurtherCase& further : kFurther) {
    if (further.op != kernel.op) continue;
    Case c = parse_case_id(fmt::format("{}[{},{},{}{}]", further.op, further.inputs, name(dtype),
                                       name(format), further.attrs));
    if (takes(kernel, c)) cases.push_back(std::move(c));
  }
  return cases;
}

}  // namespace

std::vector<DTypeCases> audit_cases(const Kernel& kernel) {
  const Op& op = find_op(kernel.op);
  std::vector<DTypeCases> all;
  for (const DType dtype : op.dtypes) {
    for (const Format format : op.formats) {
      DTypeCases cases = cases_of(kernel, dtype, format);
      if (cases.empty()) continue;
      all.push_back(std::move(cases));
      break;
    }
  }
  return all;
}

}  // namespace opbench
