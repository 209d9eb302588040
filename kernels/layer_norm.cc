// Layer norm like a framework: row by row in fp32, with the variance in a second pass over the
// deviations from the mean.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/layer_norm.cc"
#include "kernels/layer_norm.h"

#include <hwy/foreach_target.h>

#include <cmath>

#include "kernels/simd/elementwise.h"
#include "kernels/simd/map_line-inl.h"
#include "tensor/half.h"
#include "tensor/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

struct SquaredDeviation {
  float mean;
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> x) const {
    const hn::Vec<D> deviation = hn::Sub(x, hn::Set(d, mean));
    return hn::Mul(deviation, deviation);
  }
};

// (x - mean)*rstd, then weight and bias if they are given.
struct Normalised {
  float mean, rstd;
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> x) const {
    return hn::Mul(hn::Sub(x, hn::Set(d, mean)), hn::Set(d, rstd));
  }
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> x, hn::Vec<D> weight) const {
    return hn::Mul((*this)(d, x), weight);
  }
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> x, hn::Vec<D> weight, hn::Vec<D> bias) const {
    return hn::Add((*this)(d, x, weight), bias);
  }
};

// Terms of the sums of g and g*xn, g = dy*weight.
struct TimesNormalised {
  Normalised normalised;
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> dy, hn::Vec<D> x) const {
    return hn::Mul(dy, normalised(d, x));
  }
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> dy, hn::Vec<D> x, hn::Vec<D> weight) const {
    return hn::Mul(hn::Mul(dy, weight), normalised(d, x));
  }
};

// (g - (shift + xn*slope))*rstd, shift and slope the means of g and g*xn.
struct GradInput {
  Normalised normalised;
  float shift, slope;
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> g, hn::Vec<D> x) const {
    const hn::Vec<D> through =
        hn::Add(hn::Set(d, shift), hn::Mul(normalised(d, x), hn::Set(d, slope)));
    return hn::Mul(hn::Sub(g, through), hn::Set(d, normalised.rstd));
  }
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> dy, hn::Vec<D> x, hn::Vec<D> weight) const {
    return (*this)(d, hn::Mul(dy, weight), x);
  }
};

struct PlusTimesNormalised {
  Normalised normalised;
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> sum, hn::Vec<D> dy, hn::Vec<D> x) const {
    return hn::Add(sum, hn::Mul(dy, normalised(d, x)));
  }
};

template <class T>
void forward_row(const LayerNormRow& row, std::int64_t count) {
  const auto *x = static_cast<const T*>(row.x), *weight = static_cast<const T*>(row.weight),
             *bias = static_cast<const T*>(row.bias);
  auto* const y = static_cast<T*>(row.y);
  const auto n = static_cast<float>(count);
  const float mean = lane_sum(Itself(), count, x) / n;
  const float variance = lane_sum(SquaredDeviation{mean}, count, x) / n;
  const Normalised normalised{mean, 1 / std::sqrt(variance + row.eps)};
  *row.mean = mean;
  *row.rstd = normalised.rstd;
  if (weight == nullptr) return map_line(normalised, count, y, x);
  if (bias == nullptr) return map_line(normalised, count, y, x, weight);
  map_line(normalised, count, y, x, weight, bias);
}

template <class T>
void backward_row(const LayerNormGrad& of, std::int64_t row) {
  const auto *dy = static_cast<const T*>(of.dy) + row * of.count,
             *x = static_cast<const T*>(of.x) + row * of.count,
             *weight = static_cast<const T*>(of.weight);
  auto* const dx = static_cast<T*>(of.dx) + row * of.count;
  const Normalised normalised{of.mean[row], of.rstd[row]};
  const auto n = static_cast<float>(of.count);
  const TimesNormalised product{normalised};
  if (weight == nullptr) {
    const float sum = lane_sum(Itself(), of.count, dy);
    return map_line(GradInput{normalised, sum / n, lane_sum(product, of.count, dy, x) / n},
                    of.count, dx, dy, x);
  }
  const float sum = lane_sum(Product(), of.count, dy, weight);
  map_line(GradInput{normalised, sum / n, lane_sum(product, of.count, dy, x, weight) / n}, of.count,
           dx, dy, x, weight);
}

}  // namespace

void layer_norm_row(DType dtype, const LayerNormRow& row, std::int64_t count) {
  visit_arithmetic(dtype, [&](auto tag) { forward_row<decltype(tag)>(row, count); });
}

void layer_norm_grad_row(DType dtype, const LayerNormGrad& of, std::int64_t row) {
  visit_arithmetic(dtype, [&](auto tag) { backward_row<decltype(tag)>(of, row); });
}

// Columns [begin, end) of dweight and dbias: blocks of rows in fp32, which are added in fp64.
void layer_norm_columns(DType dtype, const LayerNormGrad& of, std::int64_t begin,
                        std::int64_t end) {
  HWY_ALIGN float weight[kNormColumns], bias[kNormColumns];
  double weights[kNormColumns] = {}, biases[kNormColumns] = {};
  const std::int64_t width = end - begin;
  visit_arithmetic(dtype, [&](auto tag) {
    using T = decltype(tag);
    constexpr std::int64_t kRows = 64;  // rows that are added in fp32
    for (std::int64_t first = 0; first < of.rows; first += kRows) {
      std::fill_n(weight, width, 0.0f);
      std::fill_n(bias, width, 0.0f);
      for (std::int64_t r = first; r < std::min(of.rows, first + kRows); ++r) {
        const T* const dy = static_cast<const T*>(of.dy) + r * of.count + begin;
        const T* const x = static_cast<const T*>(of.x) + r * of.count + begin;
        const PlusTimesNormalised plus{{of.mean[r], of.rstd[r]}};
        map_line(plus, width, weight, weight, dy, x);
        map_line(Plus(), width, bias, bias, dy);
      }
      for (std::int64_t i = 0; i < width; ++i) weights[i] += double(weight[i]);
      for (std::int64_t i = 0; i < width; ++i) biases[i] += double(bias[i]);
    }
    for (std::int64_t i = 0; i < width; ++i) {
      static_cast<T*>(of.dweight)[begin + i] = T(static_cast<float>(weights[i]));
      static_cast<T*>(of.dbias)[begin + i] = T(static_cast<float>(biases[i]));
    }
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(layer_norm_row);
HWY_EXPORT(layer_norm_grad_row);
HWY_EXPORT(layer_norm_columns);

constexpr std::int64_t kGrainElements = 16 * 1024;  // fewer do not repay waking a thread

// Calls body(row) for all rows.
template <class Body>
void for_each_row(const NormRows& rows, Body body) {
  const std::int64_t grain = std::max<std::int64_t>(1, kGrainElements / rows.count);
  parallel_ranges(rows.rows, grain, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t row = begin; row < end; ++row) body(row);
  });
}

const void* given(const KernelArgs& args, std::size_t i) {
  return args.inputs.size() > i ? args.inputs[i] : nullptr;
}

Launch forward(const Problem& problem) {
  const TensorDesc& x = problem.inputs[0];
  return [dtype = x.dtype, rows = norm_rows("layer_norm", "self", x.shape, problem.attrs),
          eps = static_cast<float>(problem.attrs.number("eps"))](const KernelArgs& args) {
    for_each_row(rows, [&](std::int64_t row) {
      const std::int64_t first = row * rows.count;
      const LayerNormRow of{at(args.inputs[0], dtype, first),
                            given(args, 1),
                            given(args, 2),
                            eps,
                            at(args.outputs[kNormalised], dtype, first),
                            static_cast<float*>(args.outputs[kMean]) + row,
                            static_cast<float*>(args.outputs[kRstd]) + row};
      HWY_DYNAMIC_DISPATCH(layer_norm_row)(dtype, of, rows.count);
    });
  };
}

Launch backward(const Problem& problem) {
  const TensorDesc& x = problem.inputs[1];
  return [dtype = x.dtype, rows = norm_rows("layer_norm_grad", "self", x.shape, problem.attrs)](
             const KernelArgs& args) {
    const bool is_scaled = args.outputs.size() > 1;
    const LayerNormGrad of{rows.rows,
                           rows.count,
                           args.inputs[0],
                           args.inputs[1],
                           given(args, 4),
                           static_cast<const float*>(args.inputs[2]),
                           static_cast<const float*>(args.inputs[3]),
                           args.outputs[0],
                           is_scaled ? args.outputs[1] : nullptr,
                           is_scaled ? args.outputs[2] : nullptr};
    for_each_row(rows, [&](std::int64_t row) {
      HWY_DYNAMIC_DISPATCH(layer_norm_grad_row)(dtype, of, row);
    });
    if (!is_scaled) return;
    parallel_blocks((rows.count + kNormColumns - 1) / kNormColumns, [&](std::int64_t block) {
      const std::int64_t begin = block * kNormColumns;
      HWY_DYNAMIC_DISPATCH(layer_norm_columns)
      (dtype, of, begin, std::min(rows.count, begin + kNormColumns));
    });
  };
}

// The statistics of a recorded call may be narrower.
std::string refuse_narrow_statistics(const Problem& problem) {
  const bool is_fp32 =
      problem.inputs[2].dtype == DType::fp32 && problem.inputs[3].dtype == DType::fp32;
  return is_fp32 ? "" : "mean and rstd are fp32, as layer_norm leaves them";
}

const RegisteredKernel layer_norm{{
    .op = "layer_norm",
    .name = "native",
    .provider = Provider::framework,
    .summary = "mean, then the variance around it, then the result: three passes over each row",
    .prepare = forward,
}};

const RegisteredKernel layer_norm_grad{{
    .op = "layer_norm_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "both sums of each row, then its gradient; then the sums of the columns",
    .refusal = refuse_narrow_statistics,
    .prepare = backward,
}};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
