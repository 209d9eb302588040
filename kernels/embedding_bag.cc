// Rows of a table summed bag by bag in fp32; the gradient computes one column of the table after
// the other.
#include <algorithm>

#include "kernels/index_at.h"
#include "kernels/kernel.h"
#include "kernels/simd/cube.h"
#include "kernels/simd/elementwise.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

struct Bags {
  DType dtype, index, offset;
  std::int64_t indices, bags, columns, rows;
  bool is_mean;

  explicit Bags(const Problem& problem)
      : dtype(problem.inputs[0].dtype),
        index(problem.inputs[1].dtype),
        offset(problem.inputs[2].dtype),
        indices(problem.inputs[1].elements()),
        bags(problem.inputs[2].elements()),
        columns(problem.outputs[0].shape[1]),
        rows(problem.outputs[0].shape[0]),
        is_mean(problem.attrs.word("mode") == "mean") {}

  std::int64_t first(const KernelArgs& args, std::int64_t bag) const {
    return bag < bags ? index_at(offset, args.inputs[2], bag) : indices;
  }
  float share(const KernelArgs& args, std::int64_t bag) const {
    const std::int64_t count = first(args, bag + 1) - first(args, bag);
    return is_mean && count > 0 ? 1 / static_cast<float>(count) : 1.0f;
  }

  static constexpr std::int64_t kTile = 256;  // neighbouring columns

  // Adds columns [column, column + count) of row `from` of the first input to `sums`.
  void add(const KernelArgs& args, std::int64_t from, std::int64_t column, std::int64_t count,
           float factor, float* sums) const {
    float values[kTile];
    load_floats(dtype, at(args.inputs[0], dtype, from * columns + column), count, values);
    for (std::int64_t i = 0; i < count; ++i) sums[i] += values[i] * factor;
  }

  void bag(const KernelArgs& args, std::int64_t bag) const {
    const float factor = share(args, bag);
    for (std::int64_t column = 0; column < columns; column += kTile) {
      const std::int64_t count = std::min(kTile, columns - column);
      float sums[kTile] = {};
      for (std::int64_t i = first(args, bag); i < first(args, bag + 1); ++i) {
        add(args, index_at(index, args.inputs[1], i), column, count, factor, sums);
      }
      store_floats(dtype, sums, count, at(args.outputs[0], dtype, bag * columns + column));
    }
  }
};

Launch prepare(const Problem& problem) {
  return [of = Bags(problem)](const KernelArgs& args) {
    parallel_blocks(of.bags, [&](std::int64_t bag) { of.bag(args, bag); });
  };
}

// The table in fp32, rounded at the end.
struct Gradient : Bags {
  std::vector<float> sums;

  explicit Gradient(const Problem& problem)
      : Bags(problem), sums(static_cast<std::size_t>(rows * columns)) {}

  void columns_from(const KernelArgs& args, std::int64_t column, std::int64_t count) {
    for (std::int64_t row = 0; row < rows; ++row) {
      std::fill_n(sums.data() + row * columns + column, count, 0.0f);
    }
    for (std::int64_t bag = 0; bag < bags; ++bag) {
      const float factor = share(args, bag);
      for (std::int64_t i = first(args, bag); i < first(args, bag + 1); ++i) {
        const std::int64_t to = index_at(index, args.inputs[1], i);
        add(args, bag, column, count, factor, sums.data() + to * columns + column);
      }
    }
    for (std::int64_t row = 0; row < rows; ++row) {
      const std::int64_t place = row * columns + column;
      store_floats(dtype, sums.data() + place, count, at(args.outputs[0], dtype, place));
    }
  }

  void operator()(const KernelArgs& args) {
    parallel_blocks((columns + kTile - 1) / kTile, [&](std::int64_t tile) {
      columns_from(args, tile * kTile, std::min(kTile, columns - tile * kTile));
    });
  }
};

const RegisteredKernel native{{
    .op = "embedding_bag",
    .name = "native",
    .provider = Provider::framework,
    .summary = "bag after bag, its rows added up in fp32",
    .prepare = prepare,
}};

const RegisteredKernel native_grad{{
    .op = "embedding_bag_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "zeros, then the rows of dy added one after the other, in fp32",
    .prepare = [](const Problem& problem) -> Launch { return Gradient(problem); },
    .temporary_bytes =
        [](const Problem& problem) {
          return static_cast<std::size_t>(problem.outputs[0].elements()) * sizeof(float);
        },
}};

}  // namespace
}  // namespace opbench
