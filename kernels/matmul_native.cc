// Products of matrices through Eigen, as a framework without a vendor library has them.
// Our threads share the work; with OpenMP beside them Eigen would start its own in each.
#define EIGEN_DONT_PARALLELIZE

#include <Eigen/Core>
#include <algorithm>

#include "kernels/lanes/in_fp32.h"
#include "ops/matmul.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

using Matrix = Eigen::Matrix<float, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
using ConstMap = Eigen::Map<const Matrix>;

constexpr std::int64_t kTileRows = 64;  // cut alike for every number of threads

// Rows [first, first + count) of one product.
void multiply(const MatMulShape& s, std::int64_t first, std::int64_t count, const float* a,
              const float* b, float* c) {
  Eigen::Map<Matrix> result(c + first * s.n, count, s.n);
  const ConstMap left(a, s.transpose_a ? s.k : s.m, s.transpose_a ? s.m : s.k);
  const ConstMap right(b, s.transpose_b ? s.n : s.k, s.transpose_b ? s.k : s.n);
  if (s.transpose_a && s.transpose_b) {
    result.noalias() = left.middleCols(first, count).transpose() * right.transpose();
  } else if (s.transpose_a) {
    result.noalias() = left.middleCols(first, count).transpose() * right;
  } else if (s.transpose_b) {
    result.noalias() = left.middleRows(first, count) * right.transpose();
  } else {
    result.noalias() = left.middleRows(first, count) * right;
  }
}

Launch prepare(const Problem& problem) {
  const MatMulShape s = matmul_shape(problem);
  const std::int64_t tiles = (s.m + kTileRows - 1) / kTileRows;
  return in_fp32(problem, [s, tiles](const KernelArgs& args) {
    const auto* bias = args.inputs.size() > 2 ? static_cast<const float*>(args.inputs[2]) : nullptr;
    parallel_blocks(s.batch * tiles, [&](std::int64_t i) {
      const std::int64_t matrix = i / tiles, first = i % tiles * kTileRows;
      const std::int64_t count = std::min(kTileRows, s.m - first);
      float* c = static_cast<float*>(args.outputs[0]) + matrix * s.m * s.n;
      multiply(s, first, count, static_cast<const float*>(args.inputs[0]) + matrix * s.m * s.k,
               static_cast<const float*>(args.inputs[1]) + matrix * s.k * s.n, c);
      for (std::int64_t k = 0; bias != nullptr && k < count * s.n; ++k) {
        c[first * s.n + k] += bias[k % s.n];
      }
    });
  });
}

std::string refuse_fractal(const Problem& problem) {
  for (const TensorDesc& input : problem.inputs) {
    if (input.format == Format::FRACTAL_NZ) return "a framework's product takes plain matrices";
  }
  return {};
}

const RegisteredKernel matmul{{
    .op = "matmul",
    .name = "native",
    .provider = Provider::framework,
    .summary = "Eigen in fp32, 64 rows at a time",
    .refusal = refuse_fractal,
    .prepare = prepare,
    .temporary_bytes = in_fp32_bytes,
}};

const RegisteredKernel linear{{
    .op = "linear",
    .name = "native",
    .provider = Provider::framework,
    .summary = "Eigen in fp32, 64 rows at a time, then the bias",
    .refusal = refuse_fractal,
    .prepare = prepare,
    .temporary_bytes = in_fp32_bytes,
}};

}  // namespace
}  // namespace opbench
