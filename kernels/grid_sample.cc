// Planes sampled at the points of a grid. The four sources of every point are computed first, then
// the planes read them, or add to them.
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/grid_sample.cc"
#include "ops/grid_sample.h"

#include <hwy/foreach_target.h>

#include <array>
#include <memory>
#include <vector>

#include "kernels/grid_sample.h"
#include "kernels/kernel.h"
#include "kernels/simd/in_fp32.h"
#include "kernels/simd/simd-inl.h"
#include "tensor/parallel.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

// Elements of a plane at `at`, which is negative outside.
HWY_INLINE VF32 gather(const float* plane, const std::int32_t* at) {
  const F32 d;
  const hn::RebindToSigned<F32> di;
  const auto index = hn::LoadU(di, at), zero = hn::Zero(di);
  const auto value = hn::GatherIndex(d, plane, hn::Max(index, zero));
  return hn::IfThenElseZero(hn::RebindMask(d, hn::Gt(index, hn::Set(di, -1))), value);
}

}  // namespace

// y = the sum of the first `sources` sources of each point, weighted. Returns the number of points
// that fill vectors.
std::int64_t sample(const PointSources& of, std::int64_t sources, const float* plane, float* y) {
  const F32 d;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + width <= of.count; i += width) {
    auto sum = hn::Mul(gather(plane, of.at[0] + i), hn::LoadU(d, of.weight[0] + i));
    for (std::int64_t k = 1; k < sources; ++k) {
      sum = hn::MulAdd(gather(plane, of.at[k] + i), hn::LoadU(d, of.weight[k] + i), sum);
    }
    hn::StoreU(sum, d, y + i);
  }
  return i;
}

// Adds dy times the change of the sample along x and y to dx and dy of each point.
std::int64_t add_changes(const PointSources& of, const float* plane, const float* dy, float* of_x,
                         float* of_y) {
  const F32 d;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  for (; i + width <= of.count; i += width) {
    const auto a = gather(plane, of.at[0] + i), b = gather(plane, of.at[1] + i);
    const auto c = gather(plane, of.at[2] + i), e = gather(plane, of.at[3] + i);
    const auto above = hn::Sub(b, a), below = hn::Sub(e, c);
    const auto left = hn::Sub(c, a), right = hn::Sub(e, b);
    const auto x = hn::MulAdd(hn::Sub(below, above), hn::LoadU(d, of.share_y + i), above);
    const auto y = hn::MulAdd(hn::Sub(right, left), hn::LoadU(d, of.share_x + i), left);
    const auto gradient = hn::LoadU(d, dy + i);
    hn::StoreU(hn::MulAdd(gradient, x, hn::LoadU(d, of_x + i)), d, of_x + i);
    hn::StoreU(hn::MulAdd(gradient, y, hn::LoadU(d, of_y + i)), d, of_y + i);
  }
  return i;
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {
namespace {

HWY_EXPORT(sample);
HWY_EXPORT(add_changes);

constexpr std::int64_t kGrain = 256;  // points that a thread computes together

float source(const float* plane, std::int32_t at) { return at < 0 ? 0.0f : plane[at]; }

/// The sources of all points of a use.
class Sources {
 public:
  Sources(std::string_view op, const Dims& input, const Dims& grid, const Attrs& attrs)
      : of_(op, input, grid, attrs), x_(of_.w, attrs), y_(of_.h, attrs) {
    const auto points = static_cast<std::size_t>(of_.n * of_.points());
    for (auto& at : at_) at.resize(points);
    for (auto& numbers : numbers_) numbers.resize(points);
  }

  static std::size_t bytes(const Dims& grid) {
    return static_cast<std::size_t>(element_count(grid)) / 2 * (kSources + kNumbers) *
           sizeof(float);
  }

  const GridSample& of() const { return of_; }
  std::int64_t sources() const { return of_.is_nearest ? 1 : kSources; }
  float slope_x(std::int64_t point) const { return numbers_[6][std::size_t(point)]; }
  float slope_y(std::int64_t point) const { return numbers_[7][std::size_t(point)]; }

  /// Points [first, first + count).
  PointSources part(std::int64_t first, std::int64_t count) const {
    PointSources part{count, {}, {}, numbers_[4].data() + first, numbers_[5].data() + first};
    for (std::size_t k = 0; k < kSources; ++k) {
      part.at[k] = at_[k].data() + first;
      part.weight[k] = numbers_[k].data() + first;
    }
    return part;
  }

  void compute(const float* grid) {
    parallel_ranges(of_.n * of_.points(), kGrain, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) compute(i, grid[2 * i], grid[2 * i + 1]);
    });
  }

 private:
  static constexpr std::size_t kSources = 4, kNumbers = 8;

  // Positions far outside, Inf and NaN become places outside.
  static std::int64_t place(float position, std::int64_t extent) {
    const auto limit = static_cast<float>(extent);
    return position > -2 ? static_cast<std::int64_t>(std::min(position, limit)) : -2;
  }

  void compute(std::int64_t i, float of_x, float of_y) {
    const GridPosition<float> x = x_.sampled(x_.stated(of_x)), y = y_.sampled(y_.stated(of_y));
    const bool near = of_.is_nearest;
    const float x_first = near ? std::nearbyint(x.at) : std::floor(x.at);
    const float y_first = near ? std::nearbyint(y.at) : std::floor(y.at);
    // A NaN in a weight would remain when it is multiplied by the 0 outside of the plane.
    const auto share = [&](float at, float first) {
      return near || !std::isfinite(at) ? 0 : at - first;
    };
    const float x_share = share(x.at, x_first), y_share = share(y.at, y_first);
    const std::int64_t column = place(x_first, of_.w), row = place(y_first, of_.h);
    const auto point = static_cast<std::size_t>(i);
    for (std::int64_t k = 0; k < 4; ++k) {
      const std::int64_t r = row + k / 2, c = column + k % 2;
      const bool is_inside = r >= 0 && r < of_.h && c >= 0 && c < of_.w && (k == 0 || !near);
      at_[std::size_t(k)][point] = is_inside ? static_cast<std::int32_t>(r * of_.w + c) : -1;
      numbers_[std::size_t(k)][point] =
          (k % 2 == 0 ? 1 - x_share : x_share) * (k / 2 == 0 ? 1 - y_share : y_share);
    }
    const float numbers[] = {x_share, y_share, x.slope, y.slope};
    for (std::size_t k = 0; k < 4; ++k) numbers_[4 + k][point] = numbers[k];
  }

  GridSample of_;
  GridAxis<float> x_, y_;
  std::array<std::vector<std::int32_t>, kSources> at_;
  std::array<std::vector<float>, kNumbers> numbers_;  // weights, shares, slopes
};

const float* input(const KernelArgs& args, std::size_t i) {
  return static_cast<const float*>(args.inputs[i]);
}
float* output(const KernelArgs& args, std::size_t i) {
  return static_cast<float*>(args.outputs[i]);
}

template <bool kVectors>
Launch prepare(const Problem& problem) {
  const auto all = std::make_shared<Sources>(problem.op->name, problem.inputs[0].shape,
                                             problem.inputs[1].shape, problem.attrs);
  return in_fp32(problem, [all](const KernelArgs& args) {
    all->compute(input(args, 1));
    const GridSample& of = all->of();
    parallel_blocks(of.n * of.c, [&](std::int64_t i) {
      const PointSources points = all->part(i / of.c * of.points(), of.points());
      const float* const plane = input(args, 0) + i * of.plane();
      float* const y = output(args, 0) + i * of.points();
      std::int64_t k = 0;
      if (kVectors) k = HWY_DYNAMIC_DISPATCH(sample)(points, all->sources(), plane, y);
      for (; k < points.count; ++k) {
        float sum = 0;
        for (std::int64_t s = 0; s < all->sources(); ++s) {
          if (points.at[s][k] >= 0) sum += plane[points.at[s][k]] * points.weight[s][k];
        }
        y[k] = sum;
      }
    });
  });
}

void spread(const Sources& all, std::int64_t i, const float* dy, float* dx) {
  const PointSources points = all.part(i / all.of().c * all.of().points(), all.of().points());
  std::fill_n(dx, all.of().plane(), 0.0f);
  for (std::int64_t k = 0; k < points.count; ++k) {
    for (std::int64_t s = 0; s < all.sources(); ++s) {
      if (points.at[s][k] >= 0) dx[points.at[s][k]] += dy[k] * points.weight[s][k];
    }
  }
}

// The sums over channels in the order of ATen: each source times its share.
void add_each_source(const PointSources& points, std::int64_t k, const float* plane, float dy,
                     float& of_x, float& of_y) {
  const float right = points.share_x[k], below = points.share_y[k];
  for (int s = 0; s < 4; ++s) {
    const float value = source(plane, points.at[s][k]);
    const float by_y = value * (s / 2 == 0 ? 1 - below : below) * dy;
    const float by_x = value * (s % 2 == 0 ? 1 - right : right) * dy;
    of_x += s % 2 == 0 ? -by_y : by_y;
    of_y += s / 2 == 0 ? -by_x : by_x;
  }
}

template <bool kVectors>
void grid_part(const Sources& all, std::int64_t image, std::int64_t first, std::int64_t count,
               const KernelArgs& args) {
  const GridSample& of = all.of();
  float of_x[kGrain] = {}, of_y[kGrain] = {};
  const std::int64_t begin = image * of.points() + first;
  const PointSources points = all.part(begin, count);
  for (std::int64_t c = 0; c < of.c && !of.is_nearest; ++c) {
    const float* const plane = input(args, 1) + (image * of.c + c) * of.plane();
    const float* const dy = input(args, 0) + (image * of.c + c) * of.points() + first;
    std::int64_t k = 0;
    if (kVectors) k = HWY_DYNAMIC_DISPATCH(add_changes)(points, plane, dy, of_x, of_y);
    for (; k < count; ++k) add_each_source(points, k, plane, dy[k], of_x[k], of_y[k]);
  }
  float* const dgrid = output(args, 1) + 2 * begin;
  for (std::int64_t k = 0; k < count; ++k) {
    dgrid[2 * k] = of.is_nearest ? 0 : all.slope_x(begin + k) * of_x[k];
    dgrid[2 * k + 1] = of.is_nearest ? 0 : all.slope_y(begin + k) * of_y[k];
  }
}

template <bool kVectors>
Launch prepare_grad(const Problem& problem) {
  const auto all = std::make_shared<Sources>(problem.op->name, problem.inputs[1].shape,
                                             problem.inputs[2].shape, problem.attrs);
  return in_fp32(problem, [all](const KernelArgs& args) {
    all->compute(input(args, 2));
    const GridSample& of = all->of();
    parallel_blocks(of.n * of.c, [&](std::int64_t i) {
      spread(*all, i, input(args, 0) + i * of.points(), output(args, 0) + i * of.plane());
    });
    const std::int64_t parts = (of.points() + kGrain - 1) / kGrain;
    parallel_blocks(of.n * parts, [&](std::int64_t i) {
      const std::int64_t first = i % parts * kGrain;
      grid_part<kVectors>(*all, i / parts, first, std::min(kGrain, of.points() - first), args);
    });
  });
}

template <std::size_t kGrid>
std::size_t temporaries(const Problem& problem) {
  return in_fp32_bytes(problem) + Sources::bytes(problem.inputs[kGrid].shape);
}

const RegisteredKernel native{{
    .op = "grid_sample",
    .name = "native",
    .provider = Provider::framework,
    .summary = "the sources of each point, then products added one after the other, in fp32",
    .prepare = prepare<false>,
    .temporary_bytes = temporaries<1>,
}};

const RegisteredKernel sampler{{
    .op = "grid_sample",
    .name = "grid_sampler_2d",
    .provider = Provider::npu,
    .summary = "GridSampler2D: positions and fused multiply-adds in fp32",
    .prepare = prepare<true>,
    .temporary_bytes = temporaries<1>,
    .device_name = "GridSampler2D",
}};

const RegisteredKernel native_grad{{
    .op = "grid_sample_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "dy shared among the sources of each point; sums of sources for the grid, in fp32",
    .prepare = prepare_grad<false>,
    .temporary_bytes = temporaries<2>,
}};

const RegisteredKernel sampler_grad{{
    .op = "grid_sample_grad",
    .name = "grid_sampler_2d_grad",
    .family = "grid_sampler_2d",
    .provider = Provider::npu,
    .summary = "GridSampler2DGrad: differences of sources for the grid, in fp32",
    .prepare = prepare_grad<true>,
    .temporary_bytes = temporaries<2>,
    .device_name = "GridSampler2DGrad",
}};

}  // namespace
}  // namespace opbench
#endif  // HWY_ONCE
