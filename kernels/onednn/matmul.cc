// oneDNN's matmul as a variant of matmul, linear and addmm.
#include "ops/matmul.h"

#include <optional>

#include "kernels/onednn/primitive.h"

namespace opbench {
namespace {

// [batch, rows, columns], optionally stored with the last two axes exchanged.
dnnl::memory::desc matrices(DType dtype, std::int64_t batch, std::int64_t rows,
                            std::int64_t columns, bool is_transposed) {
  const dnnl::memory::dims strides = {rows * columns, is_transposed ? 1 : columns,
                                      is_transposed ? rows : 1};
  return onednn::view_desc(dtype, {{batch, rows, columns}, strides, 0});
}

// The factors are inputs `first` and first + 1; `bias`, if given, is a row that is added.
Launch product(const Problem& problem, const MatMulShape& s, std::size_t first,
               std::optional<std::size_t> bias) {
  onednn::match_threads();
  const DType dtype = problem.inputs[0].dtype;
  const auto a = matrices(dtype, s.batch, s.m, s.k, s.transpose_a);
  const auto b = matrices(dtype, s.batch, s.k, s.n, s.transpose_b);
  const auto c = matrices(dtype, s.batch, s.m, s.n, false);
  if (!bias) {
    return onednn::launch({{dnnl::matmul({{a, b, c}, onednn::engine()}),
                            {{DNNL_ARG_SRC, a, first}, {DNNL_ARG_WEIGHTS, b, first + 1}},
                            {{DNNL_ARG_DST, c, 0}}}});
  }
  const auto row = matrices(dtype, 1, 1, s.n, false);
  return onednn::launch(
      {{dnnl::matmul({{a, b, row, c}, onednn::engine()}),
        {{DNNL_ARG_SRC, a, first}, {DNNL_ARG_WEIGHTS, b, first + 1}, {DNNL_ARG_BIAS, row, *bias}},
        {{DNNL_ARG_DST, c, 0}}}});
}

Launch prepare(const Problem& problem) {
  const bool has_bias = problem.inputs.size() > 2;
  return product(problem, matmul_shape(problem), 0,
                 has_bias ? std::optional<std::size_t>(2) : std::nullopt);
}

Launch prepare_addmm(const Problem& problem) {
  const MatMulShape s = matmul_shape("addmm", problem.inputs[1], problem.inputs[2], false, false);
  return product(problem, s, 1, 0);
}

std::string refuse(const Problem& problem) {
  for (const TensorDesc& input : problem.inputs) {
    if (const std::string reason = onednn::refusal(input); !reason.empty()) return reason;
    if (input.format == Format::FRACTAL_NZ) return "oneDNN multiplies plain matrices here";
  }
  return {};
}

std::string refuse_addmm(const Problem& problem) {
  const Dims& added = problem.inputs[0].shape;
  const bool is_row = element_count(added) == problem.outputs[0].shape.back() &&
                      (added.empty() || added.back() == element_count(added));
  if (!is_row) return "oneDNN adds a row here";
  if (problem.attrs.number("alpha") != 1 || problem.attrs.number("beta") != 1) {
    return "oneDNN is used for alpha = 1 and beta = 1 here";
  }
  return refuse(problem);
}

const RegisteredKernel matmul{{
    .op = "matmul",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN matmul, transposed by strides",
    .refusal = refuse,
    .prepare = prepare,
    .sums_by_thread = true,
}};

const RegisteredKernel linear{{
    .op = "linear",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN matmul with bias; the weight as it is stored, transposed by strides",
    .refusal = refuse,
    .prepare = prepare,
    .sums_by_thread = true,
}};

const RegisteredKernel addmm{{
    .op = "addmm",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN matmul with a row as its bias",
    .refusal = refuse_addmm,
    .prepare = prepare_addmm,
    .sums_by_thread = true,
}};

}  // namespace
}  // namespace opbench
