// The rows of experts added for each token, and the gradient of the sum.
#include <algorithm>
#include <cstring>

#include "kernels/experts.h"
#include "kernels/index_at.h"
#include "kernels/simd/cube.h"
#include "kernels/simd/elementwise.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kLanes = 16;  // of a sum; the order of its additions is fixed

/// dx[r] = probs[t][j]*dy[t], dprobs[t][j] = the sum of x[r]*dy[t], for the rows r of all copies.
struct UnpermuteGrad {
  static constexpr std::int64_t kTile = 512;

  DType dtype, index;
  std::int64_t rows, columns, copies, k;
  bool has_probs;

  explicit UnpermuteGrad(const Problem& problem)
      : dtype(problem.inputs[0].dtype),
        index(problem.inputs[2].dtype),
        rows(problem.inputs[0].shape[0]),
        columns(problem.inputs[0].shape[1]),
        copies(problem.inputs[2].elements()),
        k(problem.outputs.size() > 1 ? problem.outputs[1].shape[1] : 1),
        has_probs(problem.outputs.size() > 1) {}

  float prob(const KernelArgs& args, std::int64_t copy) const {
    float value = 1;
    if (has_probs) load_floats(dtype, at(args.inputs[3], dtype, copy), 1, &value);
    return value;
  }

  // The sums are kept in `lanes`: element i in lane i % kUsed.
  template <std::int64_t kUsed>
  void tile(const KernelArgs& args, std::int64_t copy, std::int64_t row, std::int64_t column,
            float factor, float* lanes) const {
    const std::int64_t count = std::min(kTile, columns - column), place = row * columns + column;
    float x[kTile], dy[kTile], dx[kTile];
    load_floats(dtype, at(args.inputs[0], dtype, place), count, x);
    load_floats(dtype, at(args.inputs[1], dtype, copy / k * columns + column), count, dy);
    for (std::int64_t i = 0; i < count; ++i) dx[i] = factor * dy[i];
    store_floats(dtype, dx, count, at(args.outputs[0], dtype, place));
    if (!has_probs) return;
    std::int64_t i = 0;
    for (; i + kUsed <= count; i += kUsed) {
      for (std::int64_t lane = 0; lane < kUsed; ++lane) lanes[lane] += x[i + lane] * dy[i + lane];
    }
    for (; i < count; ++i) lanes[0] += x[i] * dy[i];
  }

  template <std::int64_t kUsed>
  void copy(const KernelArgs& args, std::int64_t copy) const {
    const std::int64_t row = index_at(index, args.inputs[2], copy);
    float lanes[kUsed] = {};
    if (row >= 0 && row < rows) {
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

template <std::int64_t kUsed>
Launch unpermute_grad(const Problem& problem) {
  return [of = UnpermuteGrad(problem), bytes = problem.outputs[0].bytes()](const KernelArgs& args) {
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
};

}  // namespace
}  // namespace opbench
