// Products of matrices by groups, with sums in fp32 and one rounding: a product for each group, or
// the tiles of all groups at once.
#include "ops/grouped_matmul.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/index_at.h"
#include "kernels/packed_matmul.h"
#include "kernels/simd/cube.h"
#include "kernels/simd/pair_product.h"
#include "kernels/simd/scratch.h"
#include "kernels/simd/tile_factors.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

// The weight is stored in panels of this many columns, each in the order in which a tile reads it.
constexpr std::int64_t kTileRows = 64, kTileColumns = 96;

// Loads elements as words of factors: bf16 in pairs.
void load_pairs(DType dtype, const void* from, std::int64_t count, float* to) {
  TileFactors{true}.load(dtype, from, count, to);
}

struct GroupedProduct {
  GroupedMatMul of;
  TileFactors factors;
  std::int64_t depth;  // words of k terms
  DType dtype, groups_dtype, bias_dtype = DType::fp32;
  bool has_bias, is_direct;
  std::int64_t weights, panels;
  Matrices x, weight;
  Scratch left, right;
  std::vector<std::int64_t> ends;

  static std::int64_t weights_of(const GroupedMatMul& of) {
    return of.splits_terms ? 1 : of.group_count;
  }
  static std::int64_t panels_of(const GroupedMatMul& of) {
    return (of.n + kTileColumns - 1) / kTileColumns;
  }
  // Rows of x are used in place if they are fp32.
  static bool takes_left_as_it_lies(const Problem& problem) {
    return problem.inputs[0].dtype == DType::fp32 && !problem.attrs.flag("transpose_x");
  }
  // Groups of terms may begin in the middle of a pair.
  static TileFactors factors_of(const Problem& problem, const GroupedMatMul& of) {
    const bool has_whole_rows = !of.splits_terms && !of.transpose_x;
    return has_whole_rows ? TileFactors::of(problem.inputs[0].dtype) : TileFactors();
  }
  static std::int64_t left_elements(const Problem& problem) {
    if (takes_left_as_it_lies(problem)) return 0;
    const GroupedMatMul of(problem.inputs, problem.attrs);
    const TileFactors factors = factors_of(problem, of);
    return factors.in_pairs ? of.m * factors.words(of.k) : problem.inputs[0].elements();
  }
  static std::int64_t right_elements(const Problem& problem) {
    const GroupedMatMul of(problem.inputs, problem.attrs);
    return weights_of(of) * panels_of(of) * factors_of(problem, of).words(of.k) * kTileColumns;
  }

  explicit GroupedProduct(const Problem& problem)
      : of(problem.inputs, problem.attrs),
        factors(factors_of(problem, of)),
        depth(factors.words(of.k)),
        dtype(problem.inputs[0].dtype),
        groups_dtype(problem.inputs[GroupedMatMul::groups].dtype),
        has_bias(is_given(problem.inputs, GroupedMatMul::bias)),
        is_direct(takes_left_as_it_lies(problem)),
        weights(weights_of(of)),
        panels(panels_of(of)),
        x(problem.inputs[GroupedMatMul::x], factors.in_pairs ? load_pairs : load_floats),
        weight(problem.inputs[GroupedMatMul::weight], factors.in_pairs ? load_pairs : load_floats),
        left(left_elements(problem)),
        right(right_elements(problem)),
        ends(static_cast<std::size_t>(of.group_count)) {
    if (has_bias) bias_dtype = problem.inputs[GroupedMatMul::bias].dtype;
  }

  struct Span {
    std::int64_t begin, end;
    std::int64_t count() const { return end - begin; }
  };

  // A group's part of the extent that is split.
  Span group(std::int64_t e) const { return {e == 0 ? 0 : ends.data()[e - 1], ends.data()[e]}; }
  Span rows(std::int64_t e) const { return of.splits_terms ? Span{0, of.m} : group(e); }
  Span terms(std::int64_t e) const { return of.splits_terms ? group(e) : Span{0, of.k}; }

  void read_groups(const KernelArgs& args) {
    for (std::int64_t e = 0; e < of.group_count; ++e) {
      ends.data()[e] = index_at(groups_dtype, args.inputs[GroupedMatMul::groups], e);
      if (of.are_counts && e > 0) ends.data()[e] += ends.data()[e - 1];
    }
  }

  const float* left_rows(const KernelArgs& args) const {
    return is_direct ? static_cast<const float*>(args.inputs[0]) : left.data();
  }
  float* panel(std::int64_t matrix, std::int64_t number) const {
    return right.data() + (matrix * panels + number) * depth * kTileColumns;
  }

  void pack_left(const KernelArgs& args) const {
    if (is_direct) return;
    parallel_blocks((x.rows + kCube - 1) / kCube, [&](std::int64_t i) {
      const std::int64_t first = i * kCube, count = std::min(kCube, x.rows - first);
      x.load(args.inputs[0], 0, first, count,
             [&](std::int64_t column, std::int64_t width, const float* rows, std::int64_t apart) {
               if (of.transpose_x) {
                 float* const to = left.data() + column * of.k + first;
                 return transpose_rows(rows, count, width, apart, of.k, to);
               }
               for (std::int64_t r = 0; r < count; ++r) {
                 std::copy_n(rows + r * apart, factors.words(width),
                             left.data() + (first + r) * depth + factors.words(column));
               }
             });
    });
  }

  void pack_panel(const KernelArgs& args, std::int64_t matrix, std::int64_t number) const {
    const std::int64_t column = number * kTileColumns;
    const std::int64_t count = std::min(kTileColumns, of.n - column);
    float* const to = panel(matrix, number);
    for (std::int64_t r = 0; r < depth; ++r) {
      std::fill(to + r * kTileColumns + count, to + r * kTileColumns + round_up_to_cube(count),
                0.0f);
    }
    if (of.transpose_weight) return pack_columns(args, matrix, column, count, to);
    if (factors.in_pairs) {
      const std::int64_t from = matrix * of.k * of.n + column;
      return interleave_rows(at(args.inputs[GroupedMatMul::weight], dtype, from), of.k, count, of.n,
                             kTileColumns, to);
    }
    for (std::int64_t r = 0; r < of.k; ++r) {
      const std::int64_t from = (matrix * of.k + r) * of.n + column;
      load_floats(dtype, at(args.inputs[GroupedMatMul::weight], dtype, from), count,
                  to + r * kTileColumns);
    }
  }

  // Columns of the weight are its rows as stored.
  void pack_columns(const KernelArgs& args, std::int64_t matrix, std::int64_t column,
                    std::int64_t count, float* to) const {
    for (std::int64_t first = 0; first < count; first += kCube) {
      const std::int64_t block = std::min(kCube, count - first);
      weight.load(
          args.inputs[GroupedMatMul::weight], matrix, column + first, block,
          [&](std::int64_t term, std::int64_t width, const float* rows, std::int64_t apart) {
            transpose_rows(rows, block, factors.words(width), apart, kTileColumns,
                           to + factors.words(term) * kTileColumns + first);
          });
    }
  }

  // Rows [row, row + count) of group `e` and the columns of a panel.
  void tile(const KernelArgs& args, std::int64_t e, std::int64_t row, std::int64_t number) const {
    thread_local std::vector<float> sums(kTileRows * kTileColumns);
    const std::int64_t column = number * kTileColumns;
    const std::int64_t columns = std::min(kTileColumns, of.n - column);
    const std::int64_t width = round_up_to_cube(columns);
    const std::int64_t count = std::min(kTileRows, rows(e).end - row);
    const Span of_terms = terms(e);
    if (of_terms.count() == 0) {
      std::fill(sums.begin(), sums.end(), 0.0f);
    } else {
      factors.multiply({count, width, factors.words(of_terms.count()), depth, kTileColumns, width},
                       left_rows(args) + row * depth + of_terms.begin,
                       panel(of.splits_terms ? 0 : e, number) + of_terms.begin * kTileColumns,
                       sums.data());
    }
    for (std::int64_t r = 0; r < count; ++r) {
      float* const line = sums.data() + r * width;
      if (has_bias) add_bias(args, e * of.n + column, columns, line);
      const std::int64_t result = (of.splits_terms ? e * of.m : 0) + row + r;
      store_floats(dtype, line, columns, at(args.outputs[0], dtype, result * of.n + column));
    }
  }

  void add_bias(const KernelArgs& args, std::int64_t first, std::int64_t count, float* to) const {
    float bias[kTileColumns];
    load_floats(bias_dtype, at(args.inputs[GroupedMatMul::bias], bias_dtype, first), count, bias);
    for (std::int64_t i = 0; i < count; ++i) to[i] += bias[i];
  }

  // Packs the weight of groups [first, last), then computes their tiles.
  void multiply(const KernelArgs& args, std::int64_t first, std::int64_t last) const {
    const std::int64_t begin = of.splits_terms ? 0 : first, end = of.splits_terms ? 1 : last;
    if (!of.splits_terms || first == 0) {
      parallel_blocks((end - begin) * panels, [&](std::int64_t i) {
        const std::int64_t matrix = begin + i / panels;
        if (of.splits_terms || group(matrix).count() > 0) pack_panel(args, matrix, i % panels);
      });
    }
    const auto tiles_of = [this](std::int64_t e) {
      return (rows(e).count() + kTileRows - 1) / kTileRows;
    };
    std::int64_t tiles = 0;
    for (std::int64_t e = first; e < last; ++e) tiles += tiles_of(e);
    parallel_blocks(tiles * panels, [&](std::int64_t i) {
      std::int64_t e = first, number = i / panels;
      while (number >= tiles_of(e)) number -= tiles_of(e++);
      tile(args, e, rows(e).begin + number * kTileRows, i % panels);
    });
  }
};

template <bool kAtOnce>
Launch prepare(const Problem& problem) {
  return [plan = std::make_shared<GroupedProduct>(problem)](const KernelArgs& args) {
    plan->read_groups(args);
    plan->pack_left(args);
    if (kAtOnce) return plan->multiply(args, 0, plan->of.group_count);
    for (std::int64_t e = 0; e < plan->of.group_count; ++e) plan->multiply(args, e, e + 1);
  };
}

std::size_t temporary_bytes(const Problem& problem) {
  return static_cast<std::size_t>(GroupedProduct::left_elements(problem) +
                                  GroupedProduct::right_elements(problem)) *
         sizeof(float);
}

const RegisteredKernel native{{
    .op = "grouped_matmul",
    .name = "native",
    .provider = Provider::framework,
    .summary = "a product with fp32 sums for one group after the other, then the bias",
    .prepare = prepare<false>,
    .temporary_bytes = temporary_bytes,
}};

const RegisteredKernel grouped_matmul{{
    .op = "grouped_matmul",
    .name = "grouped_matmul",
    .provider = Provider::npu,
    .summary = "GroupedMatmul: the tiles of all groups at once; fp32 sums and bias, one rounding",
    .prepare = prepare<true>,
    .temporary_bytes = temporary_bytes,
}};

}  // namespace
}  // namespace opbench
