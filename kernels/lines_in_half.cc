// Softmax and means of fp16 by the device's operators that round steps to fp16: SoftmaxV2 of CANN
// 8.1, and ReduceMean on 310 at high performance.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/lines_in_half.cc"
#include <hwy/foreach_target.h>

#include <algorithm>
#include <cmath>

#include "kernels/kernel.h"
#include "kernels/simd/reduce_view.h"
#include "kernels/simd/rounded-inl.h"
#include "kernels/softmax-inl.h"
#include "kernels/softmax_lines.h"
#include "tensor/half.h"
#include "tensor/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

struct LessOne {
  float greatest;
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> x) const {
    return hn::Sub(x, hn::Set(d, greatest));
  }
};
struct LessBeside {
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D, hn::Vec<D> x, hn::Vec<D> greatest) const {
    return hn::Sub(x, greatest);
  }
};

// The share of the sum and the sum are rounded.
struct PlusShare {
  float share;
  template <class D>
  HWY_INLINE hn::Vec<D> operator()(D d, hn::Vec<D> sum, hn::Vec<D> x) const {
    const auto term = rounded_as<half>(d, hn::Mul(x, hn::Set(d, share)));
    return rounded_as<half>(d, hn::Add(sum, term));
  }
};

}  // namespace

// y = x less the greatest of its line: one line, or up to kSoftmaxTile lines that are `inner`
// elements apart.
void less_greatest(const AxisView& view, std::int64_t width, const half* x, half* y) {
  if (view.inner == 1) return map_line(LessOne{greatest_of(x, view.extent)}, view.extent, y, x);
  HWY_ALIGN float greatest[kSoftmaxTile];
  std::fill_n(greatest, kSoftmaxTile, -HUGE_VALF);
  for (std::int64_t k = 0; k < view.extent; ++k) {
    map_line(Greatest(), width, greatest, greatest, x + k * view.inner);
  }
  for (std::int64_t k = 0; k < view.extent; ++k) {
    map_line(LessBeside(), width, y + k * view.inner, x + k * view.inner, greatest);
  }
}

void add_shares(float share, std::int64_t count, const half* x, float* sums) {
  map_line(PlusShare{share}, count, sums, sums, x);
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(less_greatest);
HWY_EXPORT(add_shares);

constexpr std::int64_t kGrainElements = 16 * 1024;  // fewer do not repay waking a thread

Launch softmax(const Problem& problem) {
  const Dims& shape = problem.inputs[0].shape;
  const AxisView axis(shape, axis_of("softmax", shape, problem.attrs.integer("dim")));
  return [lines = SoftmaxLines{DType::fp16, axis}](const KernelArgs& args) {
    const AxisView& view = lines.view;
    const std::int64_t tiles = (view.inner + kSoftmaxTile - 1) / kSoftmaxTile;
    const std::int64_t grain = std::max<std::int64_t>(1, kGrainElements / (view.extent + 1));
    parallel_ranges(view.outer * tiles, grain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t column = i % tiles * kSoftmaxTile;
        const std::int64_t first = i / tiles * view.extent * view.inner + column;
        HWY_DYNAMIC_DISPATCH(less_greatest)
        (view, std::min(kSoftmaxTile, view.inner - column),
         static_cast<const half*>(args.inputs[0]) + first,
         static_cast<half*>(args.outputs[0]) + first);
      }
    });
    softmax_lines(lines, Share::quotient, args.outputs[0], args.outputs[0]);
  };
}

/// Means with all steps in fp16. A sum along a row has the 128 lanes of a vector of the device,
/// which are joined in halves. The device's order is not known.
struct MeansInHalf {
  static constexpr std::int64_t kLanes = 128;
  ReduceView view;
  float share, empty;  ///< 1/n in fp16; the mean of no elements

  MeansInHalf(const Dims& shape, const std::vector<bool>& reduced, double n)
      : view(shape, reduced),
        share(static_cast<float>(half(static_cast<float>(1 / n)))),
        empty(n > 0 ? 0 : NAN) {}

  static float joined(float* sums) {
    for (std::int64_t lanes = kLanes / 2; lanes > 0; lanes /= 2) {
      for (std::int64_t i = 0; i < lanes; ++i) {
        sums[i] = static_cast<float>(half(sums[i] + sums[i + lanes]));
      }
    }
    return sums[0];
  }

  // The mean of a row, or those of columns [first, first + kLanes) of a kept row.
  void unit(const KernelArgs& args, std::int64_t kept, std::int64_t first) const {
    alignas(64) float sums[kLanes];
    std::fill_n(sums, kLanes, empty);
    const std::int64_t last =
        view.row_is_reduced ? view.width : std::min(view.width, first + kLanes);
    for (std::int64_t r = 0; r < view.reduced_rows; ++r) {
      const half* const row = static_cast<const half*>(args.inputs[0]) +
                              ReduceView::offset(view.kept, kept) +
                              ReduceView::offset(view.reduced, r);
      for (std::int64_t i = first; i < last; i += kLanes) {
        HWY_DYNAMIC_DISPATCH(add_shares)(share, std::min(kLanes, last - i), row + i, sums);
      }
    }
    auto* const y = static_cast<half*>(args.outputs[0]);
    if (view.row_is_reduced) {
      y[kept] = half(joined(sums));
    } else {
      narrow(sums, y + kept * view.width + first, static_cast<std::size_t>(last - first));
    }
  }

  void operator()(const KernelArgs& args) const {
    const std::int64_t tiles = view.row_is_reduced ? 1 : (view.width + kLanes - 1) / kLanes;
    parallel_blocks(view.kept_rows * tiles,
                    [&](std::int64_t i) { unit(args, i / tiles, i % tiles * kLanes); });
  }
};

Launch reduce_mean(const Problem& problem) {
  const Dims& shape = problem.inputs[0].shape;
  return MeansInHalf(shape, reduced_axes("reduce_mean", shape, problem.attrs),
                     reduced_count("reduce_mean", shape, problem.attrs));
}

Launch mean(const Problem& problem) {
  const Dims shape = {problem.inputs[0].elements()};
  return MeansInHalf(shape, {true}, double(shape[0]));
}

std::string refuse_padding(const Problem& problem) {
  return is_private(problem.inputs[0].format) ? "the means of NC1HWC0 are made of plain tensors"
                                              : "";
}

Kernel in_half(std::string_view op, std::string_view name, std::string_view device_name,
               std::string_view summary, Launch (*prepare)(const Problem& problem)) {
  return {.op = op,
          .name = name,
          .provider = Provider::npu,
          .summary = summary,
          .dtypes = {DType::fp16},
          .refusal = refuse_padding,
          .prepare = prepare,
          .judged_as = DType::fp16,
          .device_name = device_name};
}

constexpr std::string_view kMean =
    "ReduceMean on 310 at high performance: every element times 1/n, then the sum, each step in "
    "fp16";

const RegisteredKernel kKernels[] = {
    RegisteredKernel(
        in_half("softmax", "softmax_v2_fp16", "SoftmaxV2",
                "SoftmaxV2 in both modes: x less the maximum in fp16, then exp, sum and "
                "quotients in fp32",
                softmax)),
    RegisteredKernel(in_half("reduce_mean", "reduce_mean_310", "ReduceMean", kMean, reduce_mean)),
    RegisteredKernel(in_half("mean", "reduce_mean_310", "ReduceMean", kMean, mean)),
};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
