#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "kernels/reduce_all.h"
#include "kernels/simd/elementwise.h"
#include "kernels/simd/reduce_view.h"
#include "kernels/simd/row_sums.h"
#include "tensor/elements.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

// About this many elements are summed in fp32 before the sums are joined in fp64.
constexpr std::int64_t kBlock = 32768;

// The work in a fixed division for every thread count: for each kept row, blocks of reduced rows
// times pieces of a row. Every unit has one sum (reduced rows) or a piece of sums (kept rows) as
// its result.
struct AxisSums {
  DType dtype;
  ReduceView view;
  std::int64_t piece, pieces, block, blocks;
  double n;
  float scale;
  std::vector<float> partial;

  /// The sums of a tensor of extents `shape`, divided by `divisor`. scaled_first: terms are
  /// divided, not sums.
  AxisSums(DType type, const Dims& shape, const std::vector<bool>& reduced, double divisor,
           bool scaled_first)
      : dtype(type),
        view(shape, reduced),
        piece(std::clamp<std::int64_t>(view.width, 1, view.row_is_reduced ? kBlock : 1024)),
        pieces((view.width + piece - 1) / piece),
        // At least 64 rows, so that partial sums are few compared with the elements.
        block(std::max<std::int64_t>(kBlock / piece, view.row_is_reduced ? 1 : 64)),
        blocks((view.reduced_rows + block - 1) / block),
        n(divisor),
        scale(scaled_first && n > 0 ? static_cast<float>(1 / n) : 1.0f) {
    const std::int64_t sums = view.row_is_reduced ? pieces : view.width;
    if (!has_whole_rows()) {
      partial.resize(static_cast<std::size_t>(view.kept_rows * blocks * sums));
    }
    if (scaled_first && n > 0) n = 1;
  }

  // Sums reduced rows [block] of one kept row, elements [first, first + count) of each.
  void sum_block(const void* x, std::int64_t kept, std::int64_t b, std::int64_t p) {
    const std::int64_t first = p * piece, count = std::min(piece, view.width - first);
    const std::int64_t base = ReduceView::offset(view.kept, kept) + first;
    const std::int64_t last = std::min((b + 1) * block, view.reduced_rows);
    const std::int64_t unit = kept * blocks + b;
    float* sums =
        partial.data() + (view.row_is_reduced ? unit * pieces + p : unit * view.width + first);
    std::fill_n(sums, view.row_is_reduced ? 1 : count, 0.0f);
    // The rows of one axis are one stride apart.
    const AxisGroup axis = view.reduced.empty() ? AxisGroup{1, 0} : view.reduced.front();
    std::array<float, kRows> row_sums;
    for (std::int64_t row = b * block; row < last;) {
      const std::int64_t rows = std::min({kRows, last - row, axis.extent - row % axis.extent});
      const void* from = at(x, dtype, base + ReduceView::offset(view.reduced, row));
      const SummedRows part{dtype, from, rows, count, axis.stride};
      row += rows;
      if (!view.row_is_reduced) {
        add_rows(part, scale, sums);
        continue;
      }
      sum_rows(part, scale, row_sums.data());
      for (std::int64_t r = 0; r < rows; ++r) *sums += row_sums[static_cast<std::size_t>(r)];
    }
  }

  // Sums the rows of block `b` for `count` kept rows, which are neighbours in memory: the rows are
  // then read in the order of memory.
  void sum_neighbours(const void* x, std::int64_t b, std::int64_t kept, std::int64_t count) {
    std::array<float, kRows> sums, row_sums;
    std::fill_n(sums.begin(), count, 0.0f);
    const std::int64_t base = ReduceView::offset(view.kept, kept);
    const std::int64_t last = std::min((b + 1) * block, view.reduced_rows);
    for (std::int64_t row = b * block; row < last; ++row) {
      const void* from = at(x, dtype, base + ReduceView::offset(view.reduced, row));
      sum_rows({dtype, from, count, view.width, view.width}, scale, row_sums.data());
      std::transform(sums.begin(), sums.begin() + count, row_sums.begin(), sums.begin(),
                     std::plus<>());
    }
    for (std::int64_t i = 0; i < count; ++i) {
      partial[static_cast<std::size_t>((kept + i) * blocks + b)] =
          sums[static_cast<std::size_t>(i)];
    }
  }

  void sum_all_neighbours(const void* x) {
    parallel_ranges(blocks * view.kept_rows, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin, count = 0; i < end; i += count) {
        const std::int64_t kept = i % view.kept_rows, extent = view.kept.front().extent;
        count = std::min({kRows, end - i, extent - kept % extent});
        sum_neighbours(x, i / view.kept_rows, kept, count);
      }
    });
  }

  void sum_all_blocks(const void* x) {
    parallel_ranges(view.kept_rows * blocks * pieces, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        sum_block(x, i / pieces / blocks, i / pieces % blocks, i % pieces);
      }
    });
  }

  // Divides `count` results, each with `joined` sums that are `apart` elements apart.
  void divide(const float* sums, std::int64_t joined, std::int64_t apart, std::int64_t count,
              void* y) const {
    std::array<double, kResults> results;
    for (std::int64_t i = 0; i < count; ++i) {
      double sum = 0;
      for (std::int64_t k = 0; k < joined; ++k) sum += double(sums[i + k * apart]);
      results[static_cast<std::size_t>(i)] = sum / n;
    }
    from_doubles(dtype, results.data(), static_cast<std::size_t>(count), y);
  }

  // Rows that are separate results: nothing is joined.
  void sum_whole_rows(const KernelArgs& args) const {
    const std::int64_t grain = std::max<std::int64_t>(1, kBlock / view.width);
    parallel_ranges(view.kept_rows, grain, [&](std::int64_t begin, std::int64_t end) {
      std::array<float, kResults> sums;
      for (std::int64_t i = begin; i < end; i += kResults) {
        const std::int64_t count = std::min(kResults, end - i);
        sum_rows({dtype, at(args.inputs[0], dtype, i * view.width), count, view.width, view.width},
                 scale, sums.data());
        divide(sums.data(), 1, 1, count, at(args.outputs[0], dtype, i));
      }
    });
  }

  void operator()(const KernelArgs& args) {
    if (has_whole_rows()) return sum_whole_rows(args);
    if (has_long_neighbours()) {
      sum_all_neighbours(args.inputs[0]);
    } else {
      sum_all_blocks(args.inputs[0]);
    }
    // For one kept row: `width` results, or one result of all its pieces.
    const std::int64_t width = view.row_is_reduced ? 1 : view.width;
    const std::int64_t joined = blocks * (view.row_is_reduced ? pieces : 1);
    for_each_range(view.kept_rows * width, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end;) {
        const std::int64_t first = i % width;
        const std::int64_t count = std::min({kResults, width - first, end - i});
        divide(partial.data() + i / width * joined * width + first, joined, width, count,
               at(args.outputs[0], dtype, i));
        i += count;
      }
    });
  }

 private:
  static constexpr std::int64_t kRows = 256;     // rows that are summed together
  static constexpr std::int64_t kResults = 256;  // results that are divided together

  bool has_whole_rows() const {
    return view.row_is_reduced && view.reduced_rows == 1 && pieces == 1;
  }

  // A reduced row lies between kept ones. Fewer elements do not repay a call.
  bool has_long_neighbours() const {
    return view.row_is_reduced && pieces == 1 && !view.kept.empty() &&
           view.kept.front().extent * view.width >= 1024;
  }
};

template <bool kScaledFirst>
Launch prepare(const Problem& problem) {
  const Dims& shape = problem.inputs[0].shape;
  return AxisSums(problem.inputs[0].dtype, shape, reduced_axes("reduce_mean", shape, problem.attrs),
                  reduced_count("reduce_mean", shape, problem.attrs), kScaledFirst);
}

// The blocks of channels are ordinary axes, because they are not summed.
Launch prepare_sums(const Problem& problem) {
  const TensorDesc& x = problem.inputs[0];
  if (problem.outputs[0].elements() == 1) return reduce_all(problem, 1.0f, 1);
  const auto summed = summed_axes("sum_to_size", x.storage(), problem.outputs[0].storage());
  return AxisSums(x.dtype, x.storage(), summed, 1, false);
}

// Lanes past the last channel have undefined values.
std::string refuse_summed_channels(const Problem& problem) {
  const TensorDesc &x = problem.inputs[0], &y = problem.outputs[0];
  if (x.format == y.format || y.elements() == 1 || !is_private(x.format)) return {};
  return "sums over the channels of NC1HWC0 are made of plain tensors";
}

const RegisteredKernel native{{
    .op = "reduce_mean",
    .name = "native",
    .provider = Provider::framework,
    .summary = "sum in fp32, then divided by n",
    .prepare = prepare<false>,
}};

const RegisteredKernel reduce_mean{{
    .op = "reduce_mean",
    .name = "reduce_mean",
    .provider = Provider::npu,
    .summary = "ReduceMean: every element times 1/n first, then the sum in fp32",
    .prepare = prepare<true>,
}};

const RegisteredKernel native_sums{{
    .op = "sum_to_size",
    .name = "native",
    .provider = Provider::framework,
    .summary = "sums in fp32, rounded to the tensor's dtype once",
    .refusal = refuse_summed_channels,
    .prepare = prepare_sums,
}};

const RegisteredKernel reduce_sum_d{{
    .op = "sum_to_size",
    .name = "reduce_sum_d",
    .provider = Provider::npu,
    .summary = "ReduceSumD: fp16 and bf16 cast to fp32 first, sums in fp32",
    .refusal = refuse_summed_channels,
    .prepare = prepare_sums,
}};

}  // namespace
}  // namespace opbench
