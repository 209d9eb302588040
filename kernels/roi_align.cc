// Samples of boxes, box after box; the gradient adds them plane after plane. In fp32.
#include "ops/roi_align.h"

#include <algorithm>

#include "kernels/kernel.h"
#include "kernels/simd/cube.h"
#include "kernels/simd/elementwise.h"
#include "tensor/half.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

struct RoiAlign {
  RoiRules rules;
  DType dtype, roi_dtype;
  Dims planes, rois;
  std::int64_t images, channels, h, w, bins;
  std::vector<Roi> all;

  RoiAlign(const Problem& problem, Dims of_planes)
      : rules(problem.attrs),
        dtype(problem.inputs[0].dtype),
        roi_dtype(problem.inputs[1].dtype),
        planes(std::move(of_planes)),
        rois(problem.inputs[1].shape),
        images(planes[0]),
        channels(planes[1]),
        h(planes[2]),
        w(planes[3]),
        bins(rules.pooled_h * rules.pooled_w),
        all(static_cast<std::size_t>(rois[0])) {}

  void read_rois(const KernelArgs& args) {
    for (std::int64_t k = 0; k < rois[0]; ++k) {
      float row[5];
      load_floats(roi_dtype, at(args.inputs[1], roi_dtype, k * rois[1]), rois[1], row);
      const float* const box = row + rois[1] - 4;
      const std::int64_t image =
          rois[1] == 5 ? static_cast<std::int64_t>(row[0]) : k * images / rois[0];
      all.data()[k] = {double(box[0]), double(box[1]), double(box[2]), double(box[3]), image};
    }
  }

  const RoiGrid<float>& grid_of(std::int64_t k) const {
    thread_local RoiGrid<float> grid;
    grid.place(all.data()[k], rules, h, w);
    return grid;
  }

  template <class T>
  float mean(const RoiGrid<float>& grid, const T* plane, std::int64_t bin) const {
    float sum = 0;
    const auto x_at = [&](std::int64_t row, std::int64_t column) {
      return static_cast<float>(plane[row * w + column]);
    };
    grid.for_each(bin / rules.pooled_w, bin % rules.pooled_w, [&](const auto& y, const auto& x) {
      sum += y.at_low * x.at_low * x_at(y.low, x.low) + y.at_low * x.at_high * x_at(y.low, x.high) +
             y.at_high * x.at_low * x_at(y.high, x.low) +
             y.at_high * x.at_high * x_at(y.high, x.high);
    });
    return sum / grid.divisor();
  }

  template <class T>
  void pool(const KernelArgs& args, std::int64_t k) const {
    const RoiGrid<float>& grid = grid_of(k);
    const auto* x = static_cast<const T*>(args.inputs[0]);
    auto* y = static_cast<T*>(args.outputs[0]) + k * channels * bins;
    for (std::int64_t c = 0; c < channels; ++c) {
      const T* const plane = x + (all.data()[k].image * channels + c) * h * w;
      for (std::int64_t bin = 0; bin < bins; ++bin) *y++ = T(mean(grid, plane, bin));
    }
  }

  void scatter(const RoiGrid<float>& grid, const float* dy, float* dx) const {
    for (std::int64_t bin = 0; bin < bins; ++bin) {
      const float share = dy[bin] / grid.divisor();
      grid.for_each(bin / rules.pooled_w, bin % rules.pooled_w, [&](const auto& y, const auto& x) {
        dx[y.low * w + x.low] += share * y.at_low * x.at_low;
        dx[y.low * w + x.high] += share * y.at_low * x.at_high;
        dx[y.high * w + x.low] += share * y.at_high * x.at_low;
        dx[y.high * w + x.high] += share * y.at_high * x.at_high;
      });
    }
  }

  // One plane of the gradient: the boxes of its image, one after the other.
  void plane(const KernelArgs& args, std::int64_t index) const {
    thread_local std::vector<float> dx, dy;
    dx.assign(static_cast<std::size_t>(h * w), 0);
    dy.resize(static_cast<std::size_t>(bins));
    for (std::int64_t k = 0; k < rois[0]; ++k) {
      if (all.data()[k].image != index / channels) continue;
      const std::int64_t from = (k * channels + index % channels) * bins;
      load_floats(dtype, at(args.inputs[0], dtype, from), bins, dy.data());
      scatter(grid_of(k), dy.data(), dx.data());
    }
    store_floats(dtype, dx.data(), h * w, at(args.outputs[0], dtype, index * h * w));
  }
};

Launch prepare(const Problem& problem) {
  return [of = RoiAlign(problem, problem.inputs[0].shape)](const KernelArgs& args) mutable {
    of.read_rois(args);
    visit_arithmetic(of.dtype, [&](auto tag) {
      using T = decltype(tag);
      parallel_blocks(of.rois[0], [&](std::int64_t k) { of.pool<T>(args, k); });
    });
  };
}

Launch prepare_grad(const Problem& problem) {
  return [of = RoiAlign(problem, problem.outputs[0].shape)](const KernelArgs& args) mutable {
    of.read_rois(args);
    parallel_blocks(of.images * of.channels, [&](std::int64_t index) { of.plane(args, index); });
  };
}

const RegisteredKernel native{{
    .op = "roi_align",
    .name = "native",
    .provider = Provider::framework,
    .summary = "box after box, the mean of its samples in fp32",
    .prepare = prepare,
}};

const RegisteredKernel native_grad{{
    .op = "roi_align_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "zeros, then every sample added to its four places, in fp32",
    .prepare = prepare_grad,
}};

}  // namespace
}  // namespace opbench
