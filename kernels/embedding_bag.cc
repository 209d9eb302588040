// Rows of a table summed or compared bag by bag in fp32. Gradients: one column of the table after
// the other, and one index after the other.
#include "ops/embedding_bag.h"

#include <algorithm>

#include "kernels/index_at.h"
#include "kernels/kernel.h"
#include "kernels/simd/cube.h"
#include "kernels/simd/elementwise.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

struct Bags {
  enum class Mode { sum, mean, max };

  DType dtype, index, offset;
  std::int64_t indices, offsets, bags, columns, rows, padding;
  std::size_t table = 0, of_indices = 1;  // positions of inputs; offsets come after indices
  Mode mode;
  bool has_weights;

  explicit Bags(const Problem& problem, std::size_t indices_input = 1)
      : dtype(problem.inputs[0].dtype),
        index(problem.inputs[indices_input].dtype),
        offset(problem.inputs[indices_input + 1].dtype),
        indices(problem.inputs[indices_input].elements()),
        offsets(problem.inputs[indices_input + 1].elements()),
        bags(bags_of(problem.inputs[indices_input + 1], problem.attrs)),
        columns(problem.inputs[0].shape[1]),
        rows(problem.outputs[0].shape[0]),
        padding(problem.attrs.integer("padding_idx")),
        of_indices(indices_input),
        mode(mode_of(problem.attrs.word("mode"))),
        has_weights(mode == Mode::sum && is_given(problem.inputs, 3)) {}

  static Mode mode_of(std::string_view word) {
    if (word == "max") return Mode::max;
    return word == "mean" ? Mode::mean : Mode::sum;
  }

  std::int64_t first(const KernelArgs& args, std::int64_t bag) const {
    return bag < offsets ? index_at(offset, args.inputs[of_indices + 1], bag) : indices;
  }
  std::int64_t row(const KernelArgs& args, std::int64_t i) const {
    return index_at(index, args.inputs[of_indices], i);
  }
  // Calls body(i, row) for the indices of a bag other than padding.
  template <class Body>
  void for_each(const KernelArgs& args, std::int64_t bag, Body body) const {
    const std::int64_t end = first(args, bag + 1);
    for (std::int64_t i = first(args, bag); i < end; ++i) {
      const std::int64_t its = row(args, i);
      if (its != padding) body(i, its);
    }
  }
  // The factor of all rows of a bag.
  float share(const KernelArgs& args, std::int64_t bag) const {
    if (mode != Mode::mean) return 1;
    std::int64_t count = 0;
    for_each(args, bag, [&](std::int64_t, std::int64_t) { ++count; });
    return count > 0 ? 1 / static_cast<float>(count) : 1.0f;
  }
  float weight(const KernelArgs& args, std::int64_t i) const {
    float value = 1;
    if (has_weights) load_floats(dtype, at(args.inputs[3], dtype, i), 1, &value);
    return value;
  }

  static constexpr std::int64_t kTile = 256;  // neighbouring columns

  // Adds columns [column, column + count) of row `from` of the first input to `sums`.
  void add(const KernelArgs& args, std::int64_t from, std::int64_t column, std::int64_t count,
           float factor, float* sums) const {
    float values[kTile];
    load_floats(dtype, at(args.inputs[0], dtype, from * columns + column), count, values);
    for (std::int64_t i = 0; i < count; ++i) sums[i] += values[i] * factor;
  }

  // An element that is greater than `best` replaces it; `from` is then its row.
  void take_greater(const KernelArgs& args, std::int64_t row, std::int64_t column,
                    std::int64_t count, float* best, std::int64_t* from) const {
    float values[kTile];
    load_floats(dtype, at(args.inputs[table], dtype, row * columns + column), count, values);
    for (std::int64_t i = 0; i < count; ++i) {
      if (from[i] >= 0 && !(values[i] > best[i])) continue;
      best[i] = values[i];
      from[i] = row;
    }
  }
  void greatest(const KernelArgs& args, std::int64_t bag, std::int64_t column, std::int64_t count,
                float* best, std::int64_t* from) const {
    std::fill_n(from, count, -1);
    for_each(args, bag, [&](std::int64_t, std::int64_t row) {
      take_greater(args, row, column, count, best, from);
    });
  }

  void bag(const KernelArgs& args, std::int64_t bag) const {
    const float factor = share(args, bag);
    for (std::int64_t column = 0; column < columns; column += kTile) {
      const std::int64_t count = std::min(kTile, columns - column);
      float sums[kTile] = {};
      std::int64_t from[kTile];
      if (mode == Mode::max) {
        greatest(args, bag, column, count, sums, from);
      } else {
        for_each(args, bag, [&](std::int64_t i, std::int64_t row) {
          add(args, row, column, count, factor * weight(args, i), sums);
        });
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
      : Bags(problem), sums(static_cast<std::size_t>(rows * columns)) {
    table = 3;  // of a maximum
  }

  void add_to_greatest(const KernelArgs& args, std::int64_t bag, std::int64_t column,
                       std::int64_t count) {
    float best[kTile], dy[kTile];
    std::int64_t from[kTile];
    greatest(args, bag, column, count, best, from);
    load_floats(dtype, at(args.inputs[0], dtype, bag * columns + column), count, dy);
    for (std::int64_t i = 0; i < count; ++i) {
      if (from[i] >= 0) sums.data()[from[i] * columns + column + i] += dy[i];
    }
  }

  void columns_from(const KernelArgs& args, std::int64_t column, std::int64_t count) {
    for (std::int64_t row = 0; row < rows; ++row) {
      std::fill_n(sums.data() + row * columns + column, count, 0.0f);
    }
    for (std::int64_t bag = 0; bag < bags; ++bag) {
      if (mode == Mode::max) {
        add_to_greatest(args, bag, column, count);
        continue;
      }
      const float factor = share(args, bag);
      for_each(args, bag, [&](std::int64_t i, std::int64_t to) {
        add(args, bag, column, count, factor * weight(args, i),
            sums.data() + to * columns + column);
      });
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

/// The gradients of the weights of indices: products of a row of dy and a row of the table.
struct WeightsGradient : Bags {
  explicit WeightsGradient(const Problem& problem) : Bags(problem, 2) {}

  float product(const KernelArgs& args, std::int64_t bag, std::int64_t row) const {
    float sum = 0, dy[kTile], w[kTile];
    for (std::int64_t column = 0; column < columns; column += kTile) {
      const std::int64_t count = std::min(kTile, columns - column);
      load_floats(dtype, at(args.inputs[0], dtype, bag * columns + column), count, dy);
      load_floats(dtype, at(args.inputs[1], dtype, row * columns + column), count, w);
      for (std::int64_t i = 0; i < count; ++i) sum += dy[i] * w[i];
    }
    return sum;
  }

  void operator()(const KernelArgs& args) const {
    parallel_blocks(bags, [&](std::int64_t bag) {
      for (std::int64_t i = first(args, bag); i < first(args, bag + 1); ++i) {
        const std::int64_t its = row(args, i);
        const float sum = its == padding ? 0 : product(args, bag, its);
        store_floats(dtype, &sum, 1, at(args.outputs[0], dtype, i));
      }
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

const RegisteredKernel native_weights{{
    .op = "embedding_bag_weights_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "index after index, its product summed in order, in fp32",
    .prepare = [](const Problem& problem) -> Launch { return WeightsGradient(problem); },
}};

}  // namespace
}  // namespace opbench
