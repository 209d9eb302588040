// Results of attention over parts of the keys, joined row by row in fp32.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/attention_update.cc"
#include <hwy/foreach_target.h>

#include <cmath>

#include "kernels/kernel.h"
#include "kernels/simd/cube.h"
#include "kernels/simd/elementwise.h"
#include "kernels/simd/map_line-inl.h"
#include "kernels/simd/scratch.h"
#include "tensor/half.h"
#include "tensor/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

struct PlusScaled {
  float scale;
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> sum, hn::Vec<D> x) const {
    return hn::Add(sum, hn::Mul(x, hn::Set(d, scale)));
  }
};

}  // namespace

// sum += scale*x
void add_scaled(DType dtype, std::int64_t count, float scale, const void* x, float* sum) {
  visit_arithmetic(dtype, [&](auto tag) {
    map_line(PlusScaled{scale}, count, sum, sum, static_cast<const decltype(tag)*>(x));
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(add_scaled);

struct Parts {
  DType dtype;
  std::int64_t parts, rows, width;

  explicit Parts(const Problem& problem)
      : dtype(problem.inputs[1].dtype),
        parts(problem.inputs[0].shape[0]),
        rows(problem.outputs[1].elements()),
        width(problem.inputs[1].shape.back()) {}

  void row(const KernelArgs& args, std::int64_t row) const {
    thread_local AlignedFloats memory;
    memory.resize(width);
    float* const sums = memory.data();
    std::fill_n(sums, width, 0.0f);
    const auto* const lse = static_cast<const float*>(args.inputs[0]) + row;
    float greatest = -HUGE_VALF, sum = 0;
    for (std::int64_t i = 0; i < parts; ++i) {
      if (std::isfinite(lse[i * rows])) greatest = std::fmax(greatest, lse[i * rows]);
    }
    for (std::int64_t i = 0; i < parts; ++i) {
      if (!std::isinf(lse[i * rows])) sum += std::exp(lse[i * rows] - greatest);
    }
    const float joined = greatest + std::log(sum);
    for (std::int64_t i = 0; i < parts; ++i) {
      if (std::isinf(lse[i * rows])) continue;
      HWY_DYNAMIC_DISPATCH(add_scaled)
      (dtype, width, std::exp(lse[i * rows] - joined),
       at(args.inputs[1], dtype, (i * rows + row) * width), sums);
    }
    static_cast<float*>(args.outputs[1])[row] = joined;
    store_floats(dtype, sums, width, at(args.outputs[0], dtype, row * width));
  }
};

Launch prepare(const Problem& problem) {
  return [of = Parts(problem)](const KernelArgs& args) {
    constexpr std::int64_t kGrainElements = 16 * 1024;  // fewer do not repay waking a thread
    parallel_ranges(of.rows, kGrainElements / (of.parts * of.width + 1) + 1,
                    [&](std::int64_t begin, std::int64_t end) {
                      for (std::int64_t row = begin; row < end; ++row) of.row(args, row);
                    });
  };
}

const RegisteredKernel native{{
    .op = "attention_update",
    .name = "native",
    .provider = Provider::framework,
    .summary = "row after row in fp32, each part scaled and added",
    .prepare = prepare,
}};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
