// The order of the copies of tokens, and the sums of their rows.
#include "kernels/experts.h"

#include <algorithm>

#include "kernels/simd/cube.h"
#include "kernels/simd/row_sums.h"
#include "ops/experts.h"
#include "ops/moe_finalize_routing.h"
#include "tensor/half.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kTile = 512;  // columns; 2 KiB of fp32 stay in the L1 cache

// One token's columns [column, column + count), in fp32.
struct TokenTile {
  std::int64_t token, column, count;
};

const void* row_of(const KernelArgs& args, const RowSums& of, std::size_t input, std::int64_t row,
                   std::int64_t column) {
  return at(args.inputs[input], of.dtype, row * of.columns + column);
}

/// Adds the rows of a tile to `sums`, with one rounding at the end.
struct VectorSteps {
  static void add(DType dtype, const void* x, std::int64_t count, float factor, float* sums) {
    add_rows({dtype, x, 1, count, count}, factor, sums);
  }
  static void add_scaled(const float* x, std::int64_t count, float factor, float* sums) {
    add_rows({DType::fp32, x, 1, count, count}, factor, sums);
  }
};

struct ElementSteps {
  static void add(DType dtype, const void* x, std::int64_t count, float factor, float* sums) {
    float values[kTile];
    load_floats(dtype, x, count, values);
    add_scaled(values, count, factor, sums);
  }
  static void add_scaled(const float* x, std::int64_t count, float factor, float* sums) {
    for (std::int64_t i = 0; i < count; ++i) sums[i] += factor * x[i];
  }
};

/// Every product and sum is rounded to fp16.
struct HalfSteps {
  static float rounded(float value) { return static_cast<float>(half(value)); }
  static void add(DType dtype, const void* x, std::int64_t count, float factor, float* sums) {
    float values[kTile];
    load_floats(dtype, x, count, values);
    add_scaled(values, count, factor, sums);
  }
  static void add_scaled(const float* x, std::int64_t count, float factor, float* sums) {
    for (std::int64_t i = 0; i < count; ++i) sums[i] = rounded(sums[i] + rounded(factor * x[i]));
  }
};

// Adds copy j of the tile's token.
template <class Steps>
void add_copy(const RowSums& of, const KernelArgs& args, const TokenTile& tile, std::int64_t j,
              float* sums) {
  const std::int64_t copy = tile.token * of.k + j;
  const std::int64_t place = of.is_by_column ? j * of.tokens + tile.token : copy;
  const std::int64_t row = index_at(of.places_dtype, args.inputs[of.places], place);
  const bool is_row = row >= 0 && row < of.rows;
  float factor = 1;
  if (of.factors != RowSums::kNone) {
    load_floats(of.dtype, at(args.inputs[of.factors], of.dtype, copy), 1, &factor);
  }
  if (of.bias == RowSums::kNone) {
    if (!is_row) return;
    return Steps::add(of.dtype, row_of(args, of, of.x, row, tile.column), tile.count, factor, sums);
  }
  float biased[kTile] = {};
  const std::int64_t expert = index_at(of.experts_dtype, args.inputs[of.experts], copy);
  if (is_row) Steps::add(of.dtype, row_of(args, of, of.x, row, tile.column), tile.count, 1, biased);
  Steps::add(of.dtype, row_of(args, of, of.bias, expert, tile.column), tile.count, 1, biased);
  Steps::add_scaled(biased, tile.count, factor, sums);
}

template <class Steps>
void sum_token(const RowSums& of, const KernelArgs& args, std::int64_t token) {
  for (std::int64_t column = 0; column < of.columns; column += kTile) {
    const TokenTile tile{token, column, std::min(kTile, of.columns - column)};
    float sums[kTile] = {};
    for (const std::size_t input : {of.x1, of.x2}) {
      if (input == RowSums::kNone) continue;
      Steps::add(of.dtype, row_of(args, of, input, token, column), tile.count, 1, sums);
    }
    for (std::int64_t j = 0; j < of.k; ++j) add_copy<Steps>(of, args, tile, j, sums);
    store_floats(of.dtype, sums, tile.count,
                 at(args.outputs[0], of.dtype, token * of.columns + column));
  }
}

template <class Steps>
Launch launch(const Problem& problem) {
  return [of = RowSums(problem)](const KernelArgs& args) {
    parallel_ranges(of.tokens, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t token = begin; token < end; ++token) sum_token<Steps>(of, args, token);
    });
  };
}

std::size_t given_or_none(const Problem& problem, std::size_t input) {
  return is_given(problem.inputs, input) ? input : RowSums::kNone;
}

}  // namespace

CopyOrder::CopyOrder(const TensorDesc& experts)
    : dtype_(experts.dtype),
      order_(static_cast<std::size_t>(experts.elements())),
      starts_(kCounted + 1),
      words_(order_.size()) {}

std::size_t CopyOrder::bytes(const TensorDesc& experts) {
  return static_cast<std::size_t>(2 * experts.elements() + kCounted) * sizeof(std::int64_t);
}

void CopyOrder::sort(const void* experts) {
  for (std::int64_t i = 0; i < copies(); ++i) {
    const auto expert = static_cast<std::uint32_t>(index_at(dtype_, experts, i)) ^ 0x80000000U;
    words_.data()[i] = std::uint64_t{expert} << 32 | static_cast<std::uint64_t>(i);
  }
  std::sort(words_.begin(), words_.end());
  for (std::int64_t i = 0; i < copies(); ++i) {
    order_.data()[i] = static_cast<std::int64_t>(words_.data()[i] & 0xFFFFFFFFU);
  }
}

void CopyOrder::count(const void* experts) {
  std::fill(starts_.begin(), starts_.end(), 0);
  for (std::int64_t i = 0; i < copies(); ++i) {
    const std::int64_t expert = index_at(dtype_, experts, i);
    if (expert < 0 || expert >= kCounted) return sort(experts);
    ++starts_.data()[expert + 1];
  }
  for (std::size_t e = 1; e < starts_.size(); ++e) starts_[e] += starts_[e - 1];
  for (std::int64_t i = 0; i < copies(); ++i) {
    order_.data()[starts_.data()[index_at(dtype_, experts, i)]++] = i;
  }
}

RowSums::RowSums(const Problem& problem)
    : dtype(problem.inputs[0].dtype),
      tokens(problem.outputs[0].shape[0]),
      k(tokens > 0 ? problem.inputs[1].elements() / tokens : 1),
      columns(problem.outputs[0].shape[1]),
      rows(rows_of(problem.inputs[0])),
      places_dtype(problem.inputs[1].dtype) {
  if (problem.op->name == "moe_token_unpermute") factors = given_or_none(problem, 2);
  if (problem.op->name != "moe_finalize_routing_v2") return;
  using Of = FinalizedRouting;
  factors = given_or_none(problem, Of::scales);
  x1 = given_or_none(problem, Of::x1);
  x2 = given_or_none(problem, Of::x2);
  bias = given_or_none(problem, Of::bias);
  if (bias != kNone) experts = Of::experts;
  if (bias != kNone) experts_dtype = problem.inputs[Of::experts].dtype;
  is_by_column = Of(problem.inputs, problem.attrs).is_by_column;
}

Launch row_sums_in_vectors(const Problem& problem) { return launch<VectorSteps>(problem); }
Launch row_sums_by_element(const Problem& problem) { return launch<ElementSteps>(problem); }
Launch row_sums_in_fp16_steps(const Problem& problem) { return launch<HalfSteps>(problem); }

}  // namespace opbench
