// RMS norm, alone and of a sum: a row is added and squared while it is in the cache, then scaled.
// Source: hicann/ops-nn, norm/rms_norm and norm/add_rms_norm.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/rms_norm.cc"
#include "kernels/rms_norm.h"

#include <hwy/foreach_target.h>

#include <cmath>

#include "kernels/simd/cube.h"
#include "kernels/simd/elementwise.h"
#include "kernels/simd/rounded-inl.h"
#include "kernels/simd/row_sums-inl.h"
#include "ops/rms_norm.h"
#include "tensor/half.h"
#include "tensor/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

struct SquareOf {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D, hn::Vec<D> x) const {
    return hn::Mul(x, x);
  }
};

struct Same {
  HWY_INLINE VF32 operator()(VF32 x) const { return x; }
};

// x1 + x2, rounded if the steps are.
template <class T, bool kSteps>
struct RowSum {
  HWY_INLINE VF32 operator()(VF32 a, VF32 b) const {
    const VF32 sum = hn::Add(a, b);
    return kSteps ? rounded_as<T>(F32(), sum) : sum;
  }
};

template <class T, bool kSteps>
struct Scaled {
  float rstd;
  HWY_INLINE VF32 operator()(VF32 x, VF32 weight) const {
    const VF32 xn = hn::Mul(x, hn::Set(F32(), rstd));
    return hn::Mul(kSteps ? rounded_as<T>(F32(), xn) : xn, weight);
  }
};

template <class T, bool kSteps, class X>
HWY_INLINE void normalise(const RmsNorm& of, std::int64_t row, const X* x) {
  const float mean = lane_sum(SquareOf(), of.count, x) * (1 / static_cast<float>(of.count));
  const float rstd = 1 / std::sqrt(mean + of.eps);
  of.rstd[row] = rstd;
  map_row(Scaled<T, kSteps>{rstd}, of.streams, static_cast<std::size_t>(of.count),
          static_cast<T*>(of.y) + row * of.count, x, of.weight);
}

template <class T, bool kSteps>
void rows_as(const RmsNorm& of, std::int64_t begin, std::int64_t end) {
  const auto count = static_cast<std::size_t>(of.count);
  thread_local AlignedFloats sums;
  if (of.x2 != nullptr) sums.resize(of.count);
  for (std::int64_t row = begin; row < end; ++row) {
    const std::int64_t first = row * of.count;
    const T* const x = static_cast<const T*>(of.x) + first;
    if (of.x2 == nullptr) {
      normalise<T, kSteps>(of, row, x);
      continue;
    }
    map_lanes<false>(RowSum<T, kSteps>(), count, sums.data(), x,
                     static_cast<const T*>(of.x2) + first);
    map_row(Same(), of.streams, count, static_cast<T*>(of.sum) + first,
            static_cast<const float*>(sums.data()));
    normalise<T, kSteps>(of, row, static_cast<const float*>(sums.data()));
  }
  if (of.streams) hwy::FlushStream();
}

}  // namespace

void rms_norm_rows(const RmsNorm& of, std::int64_t begin, std::int64_t end) {
  visit_arithmetic(of.dtype, [&](auto tag) {
    using T = decltype(tag);
    if (of.rounds == RmsRounds::steps) return rows_as<T, true>(of, begin, end);
    rows_as<T, false>(of, begin, end);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {

RmsWeight::RmsWeight(const Problem& problem, std::size_t input, std::int64_t count)
    : input_(input),
      count_(count),
      offset_(static_cast<float>(problem.attrs.number("weight_offset"))),
      is_given_(is_given(problem.inputs, input)),
      dtype_(is_given_ ? problem.inputs[input].dtype : DType::fp32),
      values_(std::make_shared<Scratch>(count)) {}

const float* RmsWeight::of(const KernelArgs& args) const {
  if (is_given_ && dtype_ == DType::fp32 && offset_ == 0) {
    return static_cast<const float*>(args.inputs[input_]);
  }
  float* const values = values_->data();
  if (is_given_) {
    load_floats(dtype_, args.inputs[input_], count_, values);
  } else {
    std::fill_n(values, count_, 1.0f);
  }
  for (std::int64_t i = 0; offset_ != 0 && i < count_; ++i) values[i] += offset_;
  return values;
}

namespace {

HWY_EXPORT(rms_norm_rows);

constexpr std::int64_t kGrainElements = 16 * 1024;  // fewer do not repay waking a thread

// `kAdds`: add_rms_norm.
template <bool kAdds, RmsRounds kRounds, bool kStreams>
Launch prepare(const Problem& problem) {
  constexpr std::size_t kWeight = kAdds ? 2 : 1;
  const NormRows rows = rms_rows(problem.op->name, problem.inputs, 0, kWeight, problem.attrs);
  const RmsNorm form{.dtype = problem.inputs[0].dtype,
                     .count = rows.count,
                     .eps = static_cast<float>(problem.attrs.number("epsilon")),
                     .rounds = kRounds,
                     .streams = kStreams && outgrows_cache(problem)};
  return [form, rows = rows.rows,
          weight = RmsWeight(problem, kWeight, rows.count)](const KernelArgs& args) {
    RmsNorm of = form;
    of.x = args.inputs[0];
    of.x2 = kAdds ? args.inputs[1] : nullptr;
    of.weight = weight.of(args);
    of.y = args.outputs[0];
    of.rstd = static_cast<float*>(args.outputs[1]);
    of.sum = kAdds ? args.outputs[2] : nullptr;
    parallel_ranges(rows, std::max<std::int64_t>(1, kGrainElements / of.count),
                    [&](std::int64_t begin, std::int64_t end) {
                      HWY_DYNAMIC_DISPATCH(rms_norm_rows)(of, begin, end);
                    });
  };
}

const RegisteredKernel rms_norm_native{{
    .op = "rms_norm",
    .name = "native",
    .provider = Provider::framework,
    .summary = "rows in fp32, x*rstd rounded before it is multiplied by the weight",
    .prepare = prepare<false, RmsRounds::steps, false>,
    .promotes = true,
}};

const RegisteredKernel rms_norm{{
    .op = "rms_norm",
    .name = "rms_norm",
    .provider = Provider::npu,
    .summary = "RmsNorm: all in fp32, one rounding; streamed past the cache",
    .prepare = prepare<false, RmsRounds::result, true>,
    .promotes = true,
}};

const RegisteredKernel add_rms_norm_native{{
    .op = "add_rms_norm",
    .name = "native",
    .provider = Provider::framework,
    .summary = "the rounded sum, then rms_norm: x*rstd rounded before the weight",
    .prepare = prepare<true, RmsRounds::steps, false>,
    .promotes = true,
}};

const RegisteredKernel add_rms_norm{{
    .op = "add_rms_norm",
    .name = "add_rms_norm",
    .provider = Provider::npu,
    .summary = "AddRmsNorm of Ascend 910B: the sum, x*rstd and the result are rounded; streamed",
    .prepare = prepare<true, RmsRounds::steps, true>,
    .promotes = true,
}};

const RegisteredKernel add_rms_norm_950{{
    .op = "add_rms_norm",
    .name = "add_rms_norm_950",
    .provider = Provider::npu,
    .summary = "AddRmsNorm of Ascend 950: the sum stays in fp32, one rounding; streamed",
    .prepare = prepare<true, RmsRounds::result, true>,
    .promotes = true,
    .device_name = "AddRmsNorm",
}};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
