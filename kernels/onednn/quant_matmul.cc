// oneDNN's int8 matmul as a variant of quant_batch_matmul_v3.
#include "ops/quant_matmul.h"

#include "kernels/onednn/primitive.h"

namespace opbench {
namespace {

enum Input : std::size_t { kX1, kX2, kScale, kOffset, kBias, kTokenScale };

dnnl::memory::desc matrices(DType dtype, std::int64_t batch, std::int64_t rows,
                            std::int64_t columns, bool is_transposed) {
  const dnnl::memory::dims strides = {rows * columns, is_transposed ? 1 : columns,
                                      is_transposed ? rows : 1};
  return onednn::view_desc(dtype, {{batch, rows, columns}, strides, 0});
}

bool has_scale(const Problem& problem) {
  return problem.outputs[0].dtype != DType::int32 && is_given(problem.inputs, kScale);
}

Launch prepare(const Problem& problem) {
  onednn::match_threads();
  const MatMulShape s = quant_matmul_shape(problem.inputs, problem.attrs);
  const auto a = matrices(DType::int8, s.batch, s.m, s.k, s.transpose_a);
  const auto b = matrices(DType::int8, s.batch, s.k, s.n, s.transpose_b);
  const auto c = matrices(problem.outputs[0].dtype, s.batch, s.m, s.n, false);
  dnnl::primitive_attr attr;
  onednn::Step step{.primitive = {},
                    .inputs = {{DNNL_ARG_SRC, a, kX1}, {DNNL_ARG_WEIGHTS, b, kX2}},
                    .outputs = {{DNNL_ARG_DST, c, 0}}};
  if (has_scale(problem)) {
    const std::int64_t scales = problem.inputs[kScale].elements();
    constexpr int kColumns = 1 << 2;  // the mask of the third axis
    attr.set_output_scales(scales == 1 ? 0 : kColumns, {DNNL_RUNTIME_F32_VAL});
    step.inputs.push_back({DNNL_ARG_ATTR_OUTPUT_SCALES,
                           {{scales}, dnnl::memory::data_type::f32, dnnl::memory::format_tag::a},
                           kScale});
  }
  if (!is_given(problem.inputs, kBias)) {
    step.primitive = dnnl::matmul({{a, b, c}, attr, onednn::engine()});
    return onednn::launch({step});
  }
  const auto row = matrices(DType::int32, 1, 1, s.n, false);
  step.primitive = dnnl::matmul({{a, b, row, c}, attr, onednn::engine()});
  step.inputs.push_back({DNNL_ARG_BIAS, row, kBias});
  return onednn::launch({step});
}

// Without these instructions pairs of products saturate at 16 bits.
bool has_exact_sums() {
  constexpr auto kVnni = static_cast<unsigned>(dnnl::cpu_isa::avx512_core_vnni);
  return (static_cast<unsigned>(dnnl::get_effective_cpu_isa()) & kVnni) == kVnni;
}

std::string refuse(const Problem& problem) {
  const auto& inputs = problem.inputs;
  if (inputs[kX1].dtype != DType::int8) return "oneDNN multiplies int8 here";
  if (!has_exact_sums()) return "oneDNN's int8 sums are exact with AVX512-VNNI only";
  if (is_given(inputs, kOffset) || is_given(inputs, kTokenScale)) {
    return "oneDNN is used without offset and pertoken_scale here";
  }
  if (has_scale(problem) && inputs[kScale].dtype != DType::fp32)
    return "oneDNN takes scales in fp32";
  if (is_given(inputs, kBias) &&
      (inputs[kBias].dtype != DType::int32 || inputs[kBias].elements() == 1)) {
    return "oneDNN adds an int32 row before the scale here";
  }
  if (problem.outputs[0].dtype == DType::fp16) return "oneDNN has no fp16 on the CPU";
  if (problem.outputs[0].elements() == 0 || inputs[kX1].elements() == 0) {
    return "oneDNN takes no empty tensors here";
  }
  return {};
}

const RegisteredKernel registered{{
    .op = "quant_batch_matmul_v3",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN matmul of int8 with output scales, transposed by strides",
    .refusal = refuse,
    .prepare = prepare,
    .note = onednn::note_of<prepare>,
}};

}  // namespace
}  // namespace opbench
