#pragma once

#include <algorithm>

#include "kernels/kernel.h"
#include "kernels/simd/cube.h"
#include "kernels/simd/scratch.h"
#include "kernels/simd/steps.h"
#include "ops/packing.h"
#include "ops/quant_matmul.h"

namespace opbench {

/// An optional input of numbers by channel.
struct QuantNumbers {
  std::size_t input;
  DType dtype = DType::fp32;
  std::int64_t count = 0;

  QuantNumbers(const Problem& problem, std::size_t i) : input(i) {
    if (!is_given(problem.inputs, i)) return;
    dtype = problem.inputs[i].dtype;
    count = problem.inputs[i].elements();
  }
  // `usual` for those that are not given.
  void load(const KernelArgs& args, float usual, std::int64_t channels, float* to) const {
    if (count > 0 && dtype == DType::int64) {
      std::transform(static_cast<const std::int64_t*>(args.inputs[input]),
                     static_cast<const std::int64_t*>(args.inputs[input]) + count, to,
                     packed_scale);
    } else if (count > 0) {
      load_numbers(dtype, args.inputs[input], count, to);
    }
    if (count < channels) std::fill_n(to, channels, count == 0 ? usual : to[0]);
  }
};

/// The scales, biases and offset that follow the sums of a row.
struct QuantEpilogue {
  MatMulShape shape;
  DType to;
  QuantNumbers scale, offset, bias, token;
  Scratch scales, offsets, biases, tokens;

  explicit QuantEpilogue(const Problem& problem)
      : shape(quant_matmul_shape(problem.inputs, problem.attrs)),
        to(problem.outputs[0].dtype),
        scale(problem, 2),
        offset(problem, 3),
        bias(problem, 4),
        token(problem, 5),
        scales(shape.n),
        offsets(shape.n),
        biases(shape.n),
        tokens(shape.m) {}

  bool has_integer_bias() const { return bias.count > 0 && bias.dtype == DType::int32; }

  void load(const KernelArgs& args) const {
    scale.load(args, 1, shape.n, scales.data());
    offset.load(args, 0, shape.n, offsets.data());
    token.load(args, 1, shape.m, tokens.data());
    if (!has_integer_bias()) bias.load(args, 0, shape.n, biases.data());
  }

  // Columns [column, column + count) of a row of all matrices.
  void integers(const KernelArgs& args, std::int64_t row, std::int64_t column, std::int64_t count,
                std::int32_t* sums) const {
    if (has_integer_bias()) {
      const auto* added = static_cast<const std::int32_t*>(args.inputs[bias.input]);
      for (std::int64_t c = 0; c < count; ++c) {
        const std::int32_t more = added[bias.count == 1 ? 0 : column + c];
        sums[c] = static_cast<std::int32_t>(std::uint32_t(sums[c]) + std::uint32_t(more));
      }
    }
    const std::int64_t first = row * shape.n + column;
    if (to == DType::int32) {
      std::copy_n(sums, count, static_cast<std::int32_t*>(args.outputs[0]) + first);
      return;
    }
    thread_local AlignedFloats numbers;
    numbers.resize(count);
    std::transform(sums, sums + count, numbers.data(),
                   [](std::int32_t sum) { return static_cast<float>(sum); });
    floats(args, row, column, count, numbers.data());
  }

  void floats(const KernelArgs& args, std::int64_t row, std::int64_t column, std::int64_t count,
              float* sums) const {
    const float *const s = scales.data() + column, *const b = biases.data() + column,
                       *const o = offsets.data() + column, t = tokens.data()[row % shape.m];
    for (std::int64_t c = 0; c < count; ++c) {
      sums[c] *= s[c];
      if (token.count > 0) sums[c] *= t;
      if (bias.count > 0 && !has_integer_bias()) sums[c] += b[c];
      if (offset.count > 0) sums[c] += o[c];
    }
    void* const stored = at(args.outputs[0], to, row * shape.n + column);
    if (to == DType::int8) return store_steps(steps_of(to), sums, count, stored);
    store_floats(to, sums, count, stored);
  }
};

}  // namespace opbench
