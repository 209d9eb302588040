// Rows of a gated activation in fp32, with steps by the largest result of the row.
#include "ops/dequant_swiglu_quant.h"

#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/index_at.h"
#include "kernels/simd/elementwise.h"
#include "kernels/simd/scratch.h"
#include "kernels/simd/steps.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

struct GatedQuant {
  GateRule rule;
  GateShape shape;
  DType dtype, index_dtype = DType::int64;
  std::int64_t counts[kGroupIndex + 1] = {};  // elements of the given inputs
  StepArithmetic arithmetic;

  GatedQuant(const Problem& problem, StepArithmetic a)
      : rule(problem.attrs),
        shape(gate_shape(problem.inputs[kDequantX])),
        dtype(problem.inputs[kDequantX].dtype),
        arithmetic(a) {
    for (std::size_t i = kWeightScale; i <= kGroupIndex; ++i) {
      if (is_given(problem.inputs, i)) counts[i] = problem.inputs[i].elements();
    }
    if (counts[kGroupIndex] > 0) index_dtype = problem.inputs[kGroupIndex].dtype;
  }

  // The group of a row; -1: none.
  std::int64_t group_of(const KernelArgs& args, std::int64_t row) const {
    if (counts[kGroupIndex] == 0) return 0;
    std::int64_t end = 0;
    for (std::int64_t g = 0; g < counts[kGroupIndex]; ++g) {
      end += index_at(index_dtype, args.inputs[kGroupIndex], g);
      if (row < end) return g;
    }
    return -1;
  }

  // The numbers of group g: a pointer to `width` numbers, or to one if the input has one by group.
  const float* numbers(const KernelArgs& args, DequantInput input, std::int64_t g,
                       std::int64_t width, std::int64_t& step) const {
    const std::int64_t count = counts[input];
    const bool is_by_column = count > 1 && count % width == 0;
    step = is_by_column ? 1 : 0;
    const std::int64_t last = (is_by_column ? count / width : count) - 1;
    return static_cast<const float*>(args.inputs[input]) +
           std::min(g, last) * (is_by_column ? width : 1);
  }

  void times(const KernelArgs& args, DequantInput input, std::int64_t g, std::int64_t width,
             float* values) const {
    if (counts[input] == 0) return;
    std::int64_t step = 0;
    const float* const factors = numbers(args, input, g, width, step);
    for (std::int64_t i = 0; i < width; ++i) values[i] *= factors[i * step];
  }

  void row(const KernelArgs& args, std::int64_t r) const {
    thread_local AlignedFloats memory;
    const std::int64_t width = shape.width, g = group_of(args, r);
    memory.resize(3 * width);
    float *const v = memory.data(), *const z = v + 2 * width;
    if (g < 0) {
      std::fill_n(static_cast<std::int8_t*>(args.outputs[0]) + r * width, width, std::int8_t{0});
      if (rule.is_dynamic) static_cast<float*>(args.outputs[1])[r] = 0;
      return;
    }
    load_numbers(dtype, at(args.inputs[kDequantX], dtype, r * 2 * width), 2 * width, v);
    times(args, kWeightScale, g, 2 * width, v);
    if (counts[kActivationScale] > 0) {
      const auto* scale = static_cast<const float*>(args.inputs[kActivationScale]);
      const float factor = scale[counts[kActivationScale] == 1 ? 0 : r];
      for (std::int64_t i = 0; i < 2 * width; ++i) v[i] *= factor;
    }
    for (std::int64_t i = 0; i < width; ++i) {
      z[i] = rule(v[rule.activated(i, width)], v[rule.other(i, width)]);
    }
    times(args, kQuantScale, g, width, z);
    store(args, r, g, z);
  }

  void store(const KernelArgs& args, std::int64_t r, std::int64_t g, float* z) const {
    const std::int64_t width = shape.width;
    if (!rule.is_dynamic) {
      std::int64_t step = 0;
      const float* const offset =
          counts[kQuantOffset] == 0 ? nullptr : numbers(args, kQuantOffset, g, width, step);
      for (std::int64_t i = 0; offset != nullptr && i < width; ++i) z[i] += offset[i * step];
    } else {
      const float most = range_of(z, width).magnitude();
      const bool divides = arithmetic == StepArithmetic::divide;
      const float factor = divides ? most * (1 / 127.0f) : 127 / most;
      static_cast<float*>(args.outputs[1])[r] = divides ? factor : 1 / factor;
      scale_numbers(arithmetic, factor, 0, z, width);
    }
    store_steps({}, z, width, at(args.outputs[0], DType::int8, r * width));
  }
};

template <StepArithmetic kArithmetic>
Launch prepare(const Problem& problem) {
  return [of = GatedQuant(problem, kArithmetic)](const KernelArgs& args) {
    parallel_ranges(of.shape.rows, 8, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t r = begin; r < end; ++r) of.row(args, r);
    });
  };
}

const RegisteredKernel kernels[] = {
    RegisteredKernel({.op = "dequant_swiglu_quant",
                      .name = "native",
                      .provider = Provider::framework,
                      .summary = "fp32 steps of a composition: scales, activation, scale = "
                                 "max*(1/127), z/scale",
                      .prepare = prepare<StepArithmetic::divide>}),
    RegisteredKernel({.op = "dequant_swiglu_quant",
                      .name = "dequant_swiglu_quant",
                      .provider = Provider::npu,
                      .summary = "DequantSwigluQuant: z*(127/max) in fp32",
                      .prepare = prepare<StepArithmetic::multiply>}),
};

}  // namespace
}  // namespace opbench
