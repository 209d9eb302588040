// Column sums of a matrix by oneDNN as a product with ones, as a variant of bias_grad and
// sum_to_size. Its reduction primitive has only reference code for sums that keep the last axis.
#include "ops/reduction.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "kernels/onednn/primitive.h"
#include "ops/channels.h"

namespace opbench {
namespace {

struct ProductWithOnes {
  std::vector<float> ones;
  dnnl::memory row, x, sums;
  dnnl::matmul product;

  void run(const KernelArgs& args) {
    onednn::match_threads();
    x.set_data_handle(const_cast<void*>(args.inputs[0]));
    sums.set_data_handle(args.outputs[0]);
    product.execute(onednn::stream(),
                    {{DNNL_ARG_SRC, row}, {DNNL_ARG_WEIGHTS, x}, {DNNL_ARG_DST, sums}});
    onednn::stream().wait();
  }
};

/// rows x columns
struct Matrix {
  std::int64_t rows, columns;

  std::size_t bytes_of_ones() const { return static_cast<std::size_t>(rows) * sizeof(float); }
};

Launch sum_of_rows(const Matrix& of) {
  onednn::match_threads();
  const auto matrix = [](std::int64_t rows, std::int64_t columns) {
    return onednn::view_desc(DType::fp32, dense_view({rows, columns}));
  };
  const auto row = matrix(1, of.rows), x = matrix(of.rows, of.columns),
             sums = matrix(1, of.columns);
  const auto plan = std::make_shared<ProductWithOnes>();
  plan->ones.assign(static_cast<std::size_t>(of.rows), 1.0f);
  plan->row = dnnl::memory(row, onednn::engine(), plan->ones.data());
  plan->x = dnnl::memory(x, onednn::engine(), DNNL_MEMORY_NONE);
  plan->sums = dnnl::memory(sums, onednn::engine(), DNNL_MEMORY_NONE);
  plan->product = dnnl::matmul({{row, x, sums}, onednn::engine()});
  return [plan](const KernelArgs& args) { plan->run(args); };
}

Matrix matrix_of_bias(const Problem& problem) {
  const ChannelView view = channel_view("bias_grad", "grad_output", problem.inputs[0]);
  return {view.outer, view.channels};
}

std::string refuse(const Problem& problem) {
  if (is_private(problem.inputs[0].format)) return "oneDNN sums plain tensors here";
  if (problem.inputs[0].dtype != DType::fp32) return "oneDNN sums fp32 columns here";
  if (channel_view("bias_grad", "grad_output", problem.inputs[0]).inner != 1) {
    return "oneDNN has reference code only for sums of planes";
  }
  return onednn::refusal(problem.inputs[0]);
}

const RegisteredKernel kernel{{
    .op = "bias_grad",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN matmul of ones and the matrix",
    .refusal = refuse,
    .prepare = [](const Problem& problem) { return sum_of_rows(matrix_of_bias(problem)); },
    .sums_by_thread = true,
    .temporary_bytes =
        [](const Problem& problem) { return matrix_of_bias(problem).bytes_of_ones(); },
}};

// The first axes are summed, all others are kept.
std::optional<Matrix> matrix_of_sums(const Problem& problem) {
  const Dims& shape = problem.inputs[0].shape;
  const std::vector<bool> summed = summed_axes("sum_to_size", shape, problem.attrs.list("size"));
  Matrix matrix{1, 1};
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] == 1) continue;
    if (summed[i] && matrix.columns > 1) return std::nullopt;
    (summed[i] ? matrix.rows : matrix.columns) *= shape[i];
  }
  return matrix;
}

dnnl::reduction::primitive_desc sums_desc(const Problem& problem) {
  const TensorDesc& x = problem.inputs[0];
  const std::vector<bool> summed = summed_axes("sum_to_size", x.shape, problem.attrs.list("size"));
  Dims shape = x.shape;
  for (std::size_t i = 0; i < shape.size(); ++i) shape[i] = summed[i] ? 1 : shape[i];
  return {{dnnl::algorithm::reduction_sum, onednn::view_desc(x.dtype, dense_view(x.shape)),
           onednn::view_desc(x.dtype, dense_view(shape)), 0.0f, 0.0f},
          onednn::engine()};
}

Launch sum_to_size(const Problem& problem) {
  if (const auto matrix = matrix_of_sums(problem)) return sum_of_rows(*matrix);
  onednn::match_threads();
  const auto desc = sums_desc(problem);
  return onednn::launch({{dnnl::reduction(desc),
                          {{DNNL_ARG_SRC, desc.src_desc(), 0}},
                          {{DNNL_ARG_DST, desc.dst_desc(), 0}}}});
}

std::string refuse_sums(const Problem& problem) {
  const TensorDesc& x = problem.inputs[0];
  if (is_private(x.format)) return "oneDNN sums plain tensors here";
  if (const std::string reason = onednn::refusal(x); !reason.empty()) return reason;
  if (x.shape.size() > 6) return "oneDNN is used for up to 6 dimensions here";
  if (x.shape == problem.outputs[0].shape) return "no axis is summed";
  if (matrix_of_sums(problem)) return x.dtype == DType::fp32 ? "" : "oneDNN sums fp32 columns here";
  const std::string_view code = sums_desc(problem).impl_info_str();
  return code.starts_with("ref") ? "oneDNN has reference code only for these axes" : "";
}

const RegisteredKernel sums{{
    .op = "sum_to_size",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN reduction, or matmul of ones and the matrix",
    .refusal = refuse_sums,
    .prepare = sum_to_size,
    .sums_by_thread = true,
    .temporary_bytes =
        [](const Problem& problem) {
          const auto matrix = matrix_of_sums(problem);
          return matrix ? matrix->bytes_of_ones() : std::size_t{0};
        },
}};

}  // namespace
}  // namespace opbench
