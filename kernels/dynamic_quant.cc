// Scales from the data, then steps: rows of fp32 numbers in a buffer of each thread.
#include "ops/dynamic_quant.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <vector>

#include "kernels/index_at.h"
#include "kernels/simd/cube.h"
#include "kernels/simd/elementwise.h"
#include "kernels/simd/scratch.h"
#include "kernels/simd/steps.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

/// Reads parts of rows with their smooth scales.
struct SmoothRows {
  DType dtype, index_dtype = DType::int64;
  std::int64_t columns, rows, smooth = 0, groups = 0;

  explicit SmoothRows(const Problem& problem)
      : dtype(problem.inputs[0].dtype),
        columns(problem.inputs[0].shape.back()),
        rows(problem.inputs[0].elements() / columns) {
    if (is_given(problem.inputs, 1)) smooth = problem.inputs[1].elements() / columns;
    if (!is_given(problem.inputs, 2)) return;
    groups = problem.inputs[2].elements();
    index_dtype = problem.inputs[2].dtype;
  }

  void load(const KernelArgs& args, std::int64_t row, std::int64_t column, std::int64_t count,
            float* to) const {
    load_floats(dtype, at(args.inputs[0], dtype, row * columns + column), count, to);
    if (smooth == 0) return;
    thread_local AlignedFloats factors;
    factors.resize(count);
    const std::int64_t line = std::min(group_of(args, row), smooth - 1);
    load_floats(dtype, at(args.inputs[1], dtype, line * columns + column), count, factors.data());
    multiply(to, factors.data(), count);
  }

 private:
  // The first group whose end is after the row.
  std::int64_t group_of(const KernelArgs& args, std::int64_t row) const {
    std::int64_t group = 0;
    while (group < groups && index_at(index_dtype, args.inputs[2], group) <= row) ++group;
    return group;
  }
};

/// The numbers that a group of elements is scaled with, and the scale and offset that are stored.
struct GroupNumbers {
  float factor, offset, scale;
};

/// `divides`: x/scale with scale = max*(1/M), as the official golden computes; else x*(M/max) and
/// the inverse of that factor as the scale, as Ascend 910B.
GroupNumbers numbers_of(const StepRange& range, const Steps& steps, bool is_symmetric,
                        bool divides) {
  const auto most = static_cast<float>(steps.most), width = static_cast<float>(steps.width());
  if (is_symmetric) {
    if (range.magnitude() == 0) return {1, 0, 0};  // 0 stays 0
    if (divides) return {range.magnitude() * (1 / most), 0, range.magnitude() * (1 / most)};
    const float factor = most / range.magnitude();
    return {factor, 0, 1 / factor};
  }
  const float extent = range.most - range.least, scale = extent * (1 / width);
  if (divides) return {scale, most - range.most / scale, scale};
  const float factor = width / extent;
  return {factor, most - range.most * factor, 1 / factor};
}

struct DynamicQuant {
  SmoothRows rows;
  QuantGroups groups;
  Steps steps;
  bool is_symmetric;
  StepArithmetic arithmetic;

  DynamicQuant(const Problem& problem, StepArithmetic a)
      : rows(problem),
        groups(quant_groups(problem.inputs[0].shape, problem.attrs)),
        steps(steps_of(problem.attrs)),
        is_symmetric(problem.attrs.flag("symmetric")),
        arithmetic(a) {}

  GroupNumbers stored(const StepRange& range, std::int64_t group, const KernelArgs& args) const {
    const GroupNumbers n =
        numbers_of(range, steps, is_symmetric, arithmetic == StepArithmetic::divide);
    static_cast<float*>(args.outputs[1])[group] = n.scale;
    if (!is_symmetric) static_cast<float*>(args.outputs[2])[group] = n.offset;
    return n;
  }
  void* step_at(const KernelArgs& args, std::int64_t row, std::int64_t column) const {
    return at(args.outputs[0], steps.dtype, row * rows.columns + column);
  }

  void row(std::int64_t r, const KernelArgs& args) const {
    thread_local AlignedFloats numbers;
    numbers.resize(rows.columns);
    rows.load(args, r, 0, rows.columns, numbers.data());
    const GroupNumbers n = stored(range_of(numbers.data(), rows.columns), r, args);
    scale_numbers(arithmetic, n.factor, n.offset, numbers.data(), rows.columns);
    store_steps(steps, numbers.data(), rows.columns, step_at(args, r, 0));
  }

  // All rows, with the limits of each in `ranges`.
  void tensor(const KernelArgs& args, float* ranges) const {
    parallel_blocks(rows.rows, [&](std::int64_t r) {
      thread_local AlignedFloats numbers;
      numbers.resize(rows.columns);
      rows.load(args, r, 0, rows.columns, numbers.data());
      const StepRange range = range_of(numbers.data(), rows.columns);
      ranges[2 * r] = range.least, ranges[2 * r + 1] = range.most;
    });
    StepRange all{ranges[0], ranges[1]};
    for (std::int64_t r = 1; r < rows.rows; ++r) all.add({ranges[2 * r], ranges[2 * r + 1]});
    const GroupNumbers n = stored(all, 0, args);
    parallel_blocks(rows.rows, [&](std::int64_t r) {
      thread_local AlignedFloats numbers;
      numbers.resize(rows.columns);
      rows.load(args, r, 0, rows.columns, numbers.data());
      scale_numbers(arithmetic, n.factor, n.offset, numbers.data(), rows.columns);
      store_steps(steps, numbers.data(), rows.columns, step_at(args, r, 0));
    });
  }

  // Columns [column, column + count) of matrix `m`.
  void columns(std::int64_t m, std::int64_t column, std::int64_t count,
               const KernelArgs& args) const {
    float numbers[kColumns], factors[kColumns], offsets[kColumns];
    StepRange ranges[kColumns];
    const std::int64_t first = m * groups.extent;
    for (std::int64_t r = 0; r < groups.extent; ++r) {
      rows.load(args, first + r, column, count, numbers);
      for (std::int64_t c = 0; c < count; ++c) {
        const StepRange one{numbers[c], numbers[c]};
        r == 0 ? ranges[c] = one, void() : ranges[c].add(one);
      }
    }
    for (std::int64_t c = 0; c < count; ++c) {
      const GroupNumbers n = stored(ranges[c], m * rows.columns + column + c, args);
      factors[c] = n.factor, offsets[c] = n.offset;
    }
    for (std::int64_t r = 0; r < groups.extent; ++r) {
      rows.load(args, first + r, column, count, numbers);
      scale_numbers(arithmetic, factors, offsets, numbers, count);
      store_steps(steps, numbers, count, step_at(args, first + r, column));
    }
  }

  static constexpr std::int64_t kColumns = 256;  // that are scaled side by side
};

template <StepArithmetic kArithmetic>
Launch prepare(const Problem& problem) {
  const DynamicQuant quant(problem, kArithmetic);
  if (problem.attrs.word("quant_mode") == "pertensor") {
    return [quant, ranges = std::make_shared<const Scratch>(2 * quant.rows.rows)](
               const KernelArgs& args) { quant.tensor(args, ranges->data()); };
  }
  if (problem.attrs.word("quant_mode") == "perchannel") {
    return [quant](const KernelArgs& args) {
      constexpr std::int64_t kWidth = DynamicQuant::kColumns;
      const std::int64_t parts = (quant.rows.columns + kWidth - 1) / kWidth;
      parallel_blocks(quant.rows.rows / quant.groups.extent * parts, [&](std::int64_t i) {
        const std::int64_t column = i % parts * kWidth;
        quant.columns(i / parts, column, std::min(kWidth, quant.rows.columns - column), args);
      });
    };
  }
  return [quant](const KernelArgs& args) {
    constexpr std::int64_t kGrainElements = 16 * 1024;  // fewer do not repay waking a thread
    const std::int64_t grain = std::max<std::int64_t>(1, kGrainElements / quant.rows.columns);
    parallel_ranges(quant.rows.rows, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin; r < end; ++r) quant.row(r, args);
    });
  };
}

struct BlockQuant {
  DType dtype;
  Steps steps;
  float min_scale;

  explicit BlockQuant(const Problem& problem)
      : dtype(problem.inputs[0].dtype),
        steps(steps_of(problem.attrs)),
        min_scale(static_cast<float>(problem.attrs.number("min_scale"))) {}
};

// Inf and NaN do not count.
float finite_magnitude_of(const float* numbers, std::int64_t count, float most) {
  for (std::int64_t i = 0; i < count; ++i) {
    const float magnitude = std::fabs(numbers[i]);
    if (std::isfinite(magnitude) && magnitude > most) most = magnitude;
  }
  return most;
}

void quantise(const BlockQuant& of, const QuantBlock& block, float* scale, const KernelArgs& args) {
  thread_local AlignedFloats numbers;
  numbers.resize(block.width);
  float most = 0;
  const auto load = [&](std::int64_t row) {
    const std::int64_t first = block.first + row * block.columns;
    load_floats(of.dtype, at(args.inputs[0], of.dtype, first), block.width, numbers.data());
    return first;
  };
  for (std::int64_t r = 0; r < block.rows; ++r) {
    load(r);
    most = finite_magnitude_of(numbers.data(), block.width, most);
  }
  *scale = most / static_cast<float>(of.steps.most);
  if (of.min_scale > 0) *scale = std::min(*scale, 1 / of.min_scale);
  for (std::int64_t r = 0; r < block.rows; ++r) {
    const std::int64_t first = load(r);
    scale_numbers(StepArithmetic::divide, *scale == 0 ? 1 : *scale, 0, numbers.data(), block.width);
    store_steps(of.steps, numbers.data(), block.width, at(args.outputs[0], of.steps.dtype, first));
  }
}

Launch prepare_blocks(const Problem& problem) {
  std::vector<QuantBlock> blocks;
  for_each_block(problem.inputs[0].shape, problem.attrs,
                 [&](const QuantBlock& block) { blocks.push_back(block); });
  return [of = BlockQuant(problem), blocks = std::move(blocks)](const KernelArgs& args) {
    auto* const scales = static_cast<float*>(args.outputs[1]);
    parallel_ranges(std::ssize(blocks), 64, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        quantise(of, blocks[static_cast<std::size_t>(i)], scales + i, args);
      }
    });
  };
}

const RegisteredKernel kernels[] = {
    RegisteredKernel({.op = "dynamic_quant",
                      .name = "native",
                      .provider = Provider::framework,
                      .summary = "scale = max*(1/M), x/scale, each in fp32",
                      .prepare = prepare<StepArithmetic::divide>}),
    RegisteredKernel({.op = "dynamic_quant",
                      .name = "dynamic_quant",
                      .provider = Provider::npu,
                      .summary =
                          "DynamicQuant on 910B: x*(M/max) in fp32; the scale is the inverse "
                          "of that factor",
                      .prepare = prepare<StepArithmetic::multiply>}),
    RegisteredKernel({.op = "dynamic_block_quant",
                      .name = "native",
                      .provider = Provider::framework,
                      .summary = "scale = max/M and x/scale in fp32, block by block, as "
                                 "DynamicBlockQuant",
                      .prepare = prepare_blocks}),
};

}  // namespace
}  // namespace opbench
