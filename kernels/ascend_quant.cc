// Quantisation with given scales, and its inverse: fp32 numbers of a chunk at a time.
#include <algorithm>
#include <memory>

#include "kernels/simd/cube.h"
#include "kernels/simd/elementwise.h"
#include "kernels/simd/scratch.h"
#include "kernels/simd/steps.h"
#include "ops/movement.h"

namespace opbench {
namespace {

constexpr std::int64_t kChunk = 512;  // elements on the stack

/// Scales and offsets by channel, expanded at the start of each call.
struct ChannelNumbers {
  AxisView view;
  DType scale_dtype, offset_dtype;
  std::int64_t scales, offsets;  // given
  bool is_squared;
  Scratch scale, offset;

  explicit ChannelNumbers(const Problem& problem)
      : view(problem.inputs[0].shape,
             axis_of(problem.op->name, problem.inputs[0].shape, problem.attrs.integer("axis"))),
        scale_dtype(problem.inputs[1].dtype),
        offset_dtype(is_given(problem.inputs, 2) ? problem.inputs[2].dtype : DType::fp32),
        scales(problem.inputs[1].elements()),
        offsets(is_given(problem.inputs, 2) ? problem.inputs[2].elements() : 0),
        is_squared(problem.attrs.flag("sqrt_mode")),
        scale(view.extent),
        offset(view.extent) {}

  void read(const KernelArgs& args) const {
    expand(scale_dtype, scales > 0 ? args.inputs[1] : nullptr, scales, scale.data());
    expand(offset_dtype, offsets > 0 ? args.inputs[2] : nullptr, offsets, offset.data());
  }

  /// Calls body(first, count, scale, offset) for parts of [begin, end) that are at most a chunk,
  /// with a scale and an offset for each element.
  template <class Body>
  void for_each_chunk(std::int64_t begin, std::int64_t end, Body body) const {
    float scales_of[kChunk], offsets_of[kChunk];
    for (std::int64_t i = begin; i < end;) {
      const std::int64_t channel = i / view.inner % view.extent;
      const std::int64_t left =
          view.inner == 1 ? view.extent - channel : view.inner - i % view.inner;
      const std::int64_t count = std::min({left, end - i, kChunk});
      if (view.inner == 1) {
        body(i, count, scale.data() + channel, offset.data() + channel);
      } else {
        std::fill_n(scales_of, count, scale.data()[channel]);
        std::fill_n(offsets_of, count, offset.data()[channel]);
        body(i, count, scales_of, offsets_of);
      }
      i += count;
    }
  }

 private:
  void expand(DType dtype, const void* from, std::int64_t given, float* to) const {
    if (given == 0) return std::fill_n(to, view.extent, 0.0f), void();
    load_floats(dtype, from, given, to);
    if (given == 1) std::fill_n(to, view.extent, to[0]);
  }
};

// x*scale*scale is computed with two products.
Launch prepare_quant(const Problem& problem) {
  const auto arithmetic =
      problem.attrs.flag("div_mode") ? StepArithmetic::divide : StepArithmetic::multiply;
  return [numbers = std::make_shared<const ChannelNumbers>(problem),
          steps = steps_of(problem.attrs), dtype = problem.inputs[0].dtype,
          elements = stored_elements(problem), arithmetic](const KernelArgs& args) {
    numbers->read(args);
    for_each_range(elements, [&](std::int64_t begin, std::int64_t end) {
      numbers->for_each_chunk(
          begin, end,
          [&](std::int64_t first, std::int64_t count, const float* scale, const float* offset) {
            constexpr float kZeros[kChunk] = {};
            float q[kChunk];
            load_floats(dtype, at(args.inputs[0], dtype, first), count, q);
            if (numbers->is_squared) scale_numbers(arithmetic, scale, kZeros, q, count);
            scale_numbers(arithmetic, scale, offset, q, count);
            store_steps(steps, q, count, at(args.outputs[0], steps.dtype, first));
          });
    });
  };
}

Launch prepare_anti_quant(const Problem& problem) {
  return
      [numbers = std::make_shared<const ChannelNumbers>(problem), dtype = problem.inputs[0].dtype,
       to = problem.outputs[0].dtype, elements = stored_elements(problem)](const KernelArgs& args) {
        numbers->read(args);
        for_each_range(elements, [&](std::int64_t begin, std::int64_t end) {
          numbers->for_each_chunk(
              begin, end,
              [&](std::int64_t first, std::int64_t count, const float* scale, const float* offset) {
                float y[kChunk];
                load_numbers(dtype, at(args.inputs[0], dtype, first), count, y);
                for (std::int64_t i = 0; i < count; ++i) {
                  y[i] = (y[i] + offset[i]) * scale[i];
                  if (numbers->is_squared) y[i] *= scale[i];
                }
                store_floats(to, y, count, at(args.outputs[0], to, first));
              });
        });
      };
}

// The framework's arithmetic: an element at a time, in fp32.
Launch prepare_plain(const Problem& problem) {
  return
      [numbers = std::make_shared<const ChannelNumbers>(problem), steps = steps_of(problem.attrs),
       dtype = problem.inputs[0].dtype, elements = stored_elements(problem),
       divides = problem.attrs.flag("div_mode")](const KernelArgs& args) {
        numbers->read(args);
        for_each_range(elements, [&](std::int64_t begin, std::int64_t end) {
          numbers->for_each_chunk(
              begin, end,
              [&](std::int64_t first, std::int64_t count, const float* scale, const float* offset) {
                double step[kChunk];
                float x[kChunk];
                load_floats(dtype, at(args.inputs[0], dtype, first), count, x);
                for (std::int64_t i = 0; i < count; ++i) {
                  for (int times = 0; times < (numbers->is_squared ? 2 : 1); ++times) {
                    x[i] = divides ? x[i] / scale[i] : x[i] * scale[i];
                  }
                  step[i] = steps(double(x[i] + offset[i]));
                }
                from_doubles(steps.dtype, step, count, at(args.outputs[0], steps.dtype, first));
              });
        });
      };
}

const RegisteredKernel kernels[] = {
    RegisteredKernel({.op = "ascend_quant_v2",
                      .name = "native",
                      .provider = Provider::framework,
                      .summary = "fp32 arithmetic, an element at a time",
                      .prepare = prepare_plain}),
    RegisteredKernel({.op = "ascend_quant_v2",
                      .name = "ascend_quant_v2",
                      .provider = Provider::npu,
                      .summary = "AscendQuantV2: fp32 products, then rounding and clipping, "
                                 "vectorised",
                      .prepare = prepare_quant}),
    RegisteredKernel({.op = "ascend_anti_quant",
                      .name = "native",
                      .provider = Provider::framework,
                      .summary = "(x + offset)*scale in fp32, rounded once, as AscendAntiQuantV2",
                      .prepare = prepare_anti_quant}),
};

}  // namespace
}  // namespace opbench
