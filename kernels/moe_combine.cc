// The rows of experts added for each token, and the gradient of the sum.
#include <algorithm>
#include <cstring>
#include <vector>

#include "kernels/experts.h"
#include "kernels/index_at.h"
#include "kernels/simd/cube.h"
#include "kernels/simd/elementwise.h"
#include "ops/experts.h"
#include "ops/moe_finalize_routing.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kLanes = 16;  // of a sum; the order of its additions is fixed

/// dx[r] = probs[t][j]*dy[t], dprobs[t][j] = the sum of (x[r] + bias)*dy[t], for the rows r of all
/// copies.
struct UnpermuteGrad {
  static constexpr std::int64_t kTile = 512;

  DType dtype, index, experts_dtype = DType::int32;
  std::int64_t rows, columns, copies, k;
  bool has_probs, has_bias = false, is_by_column = false;

  explicit UnpermuteGrad(const Problem& problem)
      : dtype(problem.inputs[0].dtype),
        index(problem.inputs[2].dtype),
        rows(rows_of(problem.inputs[0])),
        columns(problem.inputs[0].shape.back()),
        copies(problem.inputs[2].elements()),
        k(is_given(problem.inputs, 3) ? problem.inputs[3].shape[1] : 1),
        has_probs(is_given(problem.inputs, 3)) {
    if (problem.op->name != "moe_finalize_routing_v2_grad") return;
    is_by_column = finalized_routing_of_grad(problem.inputs, problem.attrs).is_by_column;
    has_bias = is_given(problem.inputs, 4);
    if (has_bias) experts_dtype = problem.inputs[5].dtype;
  }

  bool is_row(std::int64_t row) const { return row >= 0 && row < rows; }
  std::int64_t row_of(const KernelArgs& args, std::int64_t copy) const {
    const std::int64_t place = is_by_column ? copy % k * (copies / k) + copy / k : copy;
    return index_at(index, args.inputs[2], place);
  }
  std::int64_t expert_of(const KernelArgs& args, std::int64_t copy) const {
    return index_at(experts_dtype, args.inputs[5], copy);
  }

  float prob(const KernelArgs& args, std::int64_t copy) const {
    float value = 1;
    if (has_probs) load_floats(dtype, at(args.inputs[3], dtype, copy), 1, &value);
    return value;
  }

  void add_bias(const KernelArgs& args, std::int64_t copy, std::int64_t column, std::int64_t count,
                float* x) const {
    float bias[kTile];
    const std::int64_t from = expert_of(args, copy) * columns + column;
    load_floats(dtype, at(args.inputs[4], dtype, from), count, bias);
    for (std::int64_t i = 0; i < count; ++i) x[i] += bias[i];
  }

  // The sums are kept in `lanes`: element i in lane i % kUsed.
  template <std::int64_t kUsed>
  void tile(const KernelArgs& args, std::int64_t copy, std::int64_t row, std::int64_t column,
            float factor, float* lanes) const {
    const std::int64_t count = std::min(kTile, columns - column), place = row * columns + column;
    float x[kTile] = {}, dy[kTile], dx[kTile];
    load_floats(dtype, at(args.inputs[1], dtype, copy / k * columns + column), count, dy);
    if (is_row(row)) {
      load_floats(dtype, at(args.inputs[0], dtype, place), count, x);
      for (std::int64_t i = 0; i < count; ++i) dx[i] = factor * dy[i];
      store_floats(dtype, dx, count, at(args.outputs[0], dtype, place));
    }
    if (!has_probs) return;
    if (has_bias) add_bias(args, copy, column, count, x);
    std::int64_t i = 0;
    for (; i + kUsed <= count; i += kUsed) {
      for (std::int64_t lane = 0; lane < kUsed; ++lane) lanes[lane] += x[i + lane] * dy[i + lane];
    }
    for (; i < count; ++i) lanes[0] += x[i] * dy[i];
  }

  template <std::int64_t kUsed>
  void copy(const KernelArgs& args, std::int64_t copy) const {
    const std::int64_t row = row_of(args, copy);
    float lanes[kUsed] = {};
    if (is_row(row) || has_bias) {
      const float factor = prob(args, copy);
      for (std::int64_t column = 0; column < columns; column += kTile) {
        tile<kUsed>(args, copy, row, column, factor, lanes);
      }
    }
    if (!has_probs) return;
    for (std::int64_t lane = 1; lane < kUsed; ++lane) lanes[0] += lanes[lane];
    store_floats(dtype, lanes, 1, at(args.outputs[1], dtype, copy));
  }
};

/// dbias[e] = the sum of probs[t][j]*dy[t] over the copies for expert e.
struct ExpertBiasGrad {
  UnpermuteGrad of;
  std::int64_t experts;
  std::vector<float> sums;

  explicit ExpertBiasGrad(const Problem& problem)
      : of(problem),
        experts(of.has_bias ? problem.inputs[4].shape[0] : 0),
        sums(static_cast<std::size_t>(experts * of.columns)) {}

  static std::size_t bytes(const Problem& problem) {
    return is_given(problem.inputs, 4)
               ? static_cast<std::size_t>(problem.inputs[4].elements()) * sizeof(float)
               : 0;
  }

  void columns_from(const KernelArgs& args, std::int64_t column, std::int64_t count) {
    float dy[UnpermuteGrad::kTile];
    const auto row = [&](std::int64_t e) { return sums.data() + e * of.columns + column; };
    for (std::int64_t e = 0; e < experts; ++e) std::fill_n(row(e), count, 0.0f);
    for (std::int64_t copy = 0; copy < of.copies; ++copy) {
      const std::int64_t from = copy / of.k * of.columns + column;
      load_floats(of.dtype, at(args.inputs[1], of.dtype, from), count, dy);
      const float factor = of.prob(args, copy);
      float* const to = row(of.expert_of(args, copy));
      for (std::int64_t i = 0; i < count; ++i) to[i] += factor * dy[i];
    }
    for (std::int64_t e = 0; e < experts; ++e) {
      store_floats(of.dtype, row(e), count,
                   at(args.outputs.back(), of.dtype, e * of.columns + column));
    }
  }

  void operator()(const KernelArgs& args) {
    if (experts == 0) return;
    constexpr std::int64_t kTile = UnpermuteGrad::kTile;
    parallel_blocks((of.columns + kTile - 1) / kTile, [&](std::int64_t tile) {
      columns_from(args, tile * kTile, std::min(kTile, of.columns - tile * kTile));
    });
  }
};

template <std::int64_t kUsed>
Launch unpermute_grad(const Problem& problem) {
  return [of = UnpermuteGrad(problem), bias = ExpertBiasGrad(problem),
          bytes = problem.outputs[0].bytes()](const KernelArgs& args) mutable {
    bias(args);
    // Rows without a copy.
    parallel_ranges(static_cast<std::int64_t>(bytes), 64 << 10,
                    [&](std::int64_t begin, std::int64_t end) {
                      std::memset(static_cast<std::byte*>(args.outputs[0]) + begin, 0,
                                  static_cast<std::size_t>(end - begin));
                    });
    parallel_ranges(of.copies, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t copy = begin; copy < end; ++copy) of.copy<kUsed>(args, copy);
    });
  };
}

Kernel native(std::string_view op, std::string_view summary,
              Launch (*prepare)(const Problem& problem) = row_sums_by_element) {
  return {.op = op,
          .name = "native",
          .provider = Provider::framework,
          .summary = summary,
          .prepare = prepare};
}

Kernel on_device(std::string_view name, std::string_view summary,
                 Launch (*prepare)(const Problem& problem) = row_sums_in_vectors) {
  return {
      .op = name, .name = name, .provider = Provider::npu, .summary = summary, .prepare = prepare};
}

Kernel with_bias(Kernel kernel) {
  kernel.temporary_bytes = ExpertBiasGrad::bytes;
  return kernel;
}

// Source: kernels of moe_finalize_routing_v2 for Ascend 910B, which compute fp16 in fp16.
const RegisteredKernel fp16_steps{{
    .op = "moe_finalize_routing_v2",
    .name = "moe_finalize_routing_v2_910b",
    .provider = Provider::npu,
    .summary = "MoeFinalizeRoutingV2 of Ascend 910B: each product and sum of fp16 rounded to fp16",
    .dtypes = {DType::fp16},
    .prepare = row_sums_in_fp16_steps,
    .judged_as = DType::fp16,
    .device_name = "MoeFinalizeRoutingV2",
}};

const RegisteredKernel kernels[] = {
    RegisteredKernel(native("moe_token_permute_grad", "token after token, its rows added in fp32")),
    RegisteredKernel(on_device("moe_token_permute_grad", "MoeTokenPermuteGrad: rows in vectors")),
    RegisteredKernel(native("moe_token_unpermute", "token after token, its rows added in fp32")),
    RegisteredKernel(on_device("moe_token_unpermute",
                               "MoeTokenUnpermute: rows in vectors, fp32 sums, one rounding")),
    RegisteredKernel(
        native("moe_finalize_routing_v2", "residuals, then row after row added in fp32")),
    RegisteredKernel(on_device("moe_finalize_routing_v2",
                               "MoeFinalizeRoutingV2: rows in vectors, fp32 sums, one rounding")),
    RegisteredKernel(native("moe_token_unpermute_grad", "copy after copy; sums in order, in fp32",
                            unpermute_grad<1>)),
    RegisteredKernel(on_device("moe_token_unpermute_grad",
                               "MoeTokenUnpermuteGrad: copy after copy, sums in 16 lanes of fp32",
                               unpermute_grad<kLanes>)),
    RegisteredKernel(
        with_bias(native("moe_finalize_routing_v2_grad", "copy after copy; sums in order, in fp32",
                         unpermute_grad<1>))),
    RegisteredKernel(
        with_bias(on_device("moe_finalize_routing_v2_grad",
                            "MoeFinalizeRoutingV2Grad: copy after copy, sums in 16 lanes of fp32",
                            unpermute_grad<kLanes>))),
};

}  // namespace
}  // namespace opbench
