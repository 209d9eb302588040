#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/lanes/lane_planes.cc"
#include "kernels/lanes/lane_planes.h"

#include <hwy/foreach_target.h>

#include "kernels/lanes/cube.h"
#include "kernels/lanes/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

// As many of the 16 lanes as a vector holds.
using Lanes = hn::CappedTag<float, kCube>;

std::int64_t width() { return static_cast<std::int64_t>(hn::Lanes(Lanes())); }

}  // namespace

void sum_and_squares(std::int64_t count, const float* x, float* sums, float* squares) {
  const Lanes d;
  for (std::int64_t lane = 0; lane < kCube; lane += width()) {
    auto sum = hn::Zero(d), square = hn::Zero(d);
    const float* from = x + lane;
    for (std::int64_t i = 0; i < count; ++i, from += kCube) {
      const auto value = hn::LoadU(d, from);
      sum = hn::Add(sum, value);
      square = hn::Add(square, hn::Mul(value, value));
    }
    hn::StoreU(sum, d, sums + lane);
    hn::StoreU(square, d, squares + lane);
  }
}

void sum_and_products(std::int64_t count, const float* dy, const float* x, const float* mean,
                      float* sums, float* products) {
  const Lanes d;
  for (std::int64_t lane = 0; lane < kCube; lane += width()) {
    auto sum = hn::Zero(d), product = hn::Zero(d);
    const auto middle = hn::LoadU(d, mean + lane);
    const float *a = dy + lane, *b = x + lane;
    for (std::int64_t i = 0; i < count; ++i, a += kCube, b += kCube) {
      const auto value = hn::LoadU(d, a);
      sum = hn::Add(sum, value);
      product = hn::Add(product, hn::Mul(value, hn::Sub(hn::LoadU(d, b), middle)));
    }
    hn::StoreU(sum, d, sums + lane);
    hn::StoreU(product, d, products + lane);
  }
}

void scale(std::int64_t count, const LaneScales& of, const float* x, const float* z, float* y) {
  const Lanes d;
  for (std::int64_t lane = 0; lane < kCube; lane += width()) {
    const auto a = hn::LoadU(d, of.a + lane), c = hn::LoadU(d, of.c + lane);
    const auto b = z == nullptr ? hn::Zero(d) : hn::LoadU(d, of.b + lane);
    for (std::int64_t i = lane; i < count * kCube; i += kCube) {
      const auto sum = z == nullptr ? c : hn::Add(hn::Mul(b, hn::LoadU(d, z + i)), c);
      hn::StoreU(hn::Add(hn::Mul(a, hn::LoadU(d, x + i)), sum), d, y + i);
    }
  }
}

void max_in_window(const LaneWindow& window, const float* x, float* best, std::int32_t* place) {
  const Lanes d;
  const hn::RebindToSigned<Lanes> di;
  const std::int64_t start = window.first_h * window.row + window.first_w;
  for (std::int64_t lane = 0; lane < kCube; lane += width()) {
    auto greatest = hn::LoadU(d, x + start * kCube + lane);
    auto found = hn::Set(di, static_cast<std::int32_t>(start));
    for (std::int64_t h = window.first_h; h < window.last_h; ++h) {
      for (std::int64_t w = window.first_w; w < window.last_w; ++w) {
        const std::int64_t here = h * window.row + w;
        const auto value = hn::LoadU(d, x + here * kCube + lane);
        const auto replaces = hn::Or(hn::Gt(value, greatest), hn::IsNaN(value));
        greatest = hn::IfThenElse(replaces, value, greatest);
        found = hn::IfThenElse(hn::RebindMask(di, replaces),
                               hn::Set(di, static_cast<std::int32_t>(here)), found);
      }
    }
    hn::StoreU(greatest, d, best + lane);
    hn::StoreU(found, di, place + lane);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {

HWY_EXPORT(sum_and_squares);
HWY_EXPORT(sum_and_products);
HWY_EXPORT(scale);
HWY_EXPORT(max_in_window);

void sum_and_squares(std::int64_t count, const float* x, float* sums, float* squares) {
  HWY_DYNAMIC_DISPATCH(sum_and_squares)(count, x, sums, squares);
}

void sum_and_products(std::int64_t count, const float* dy, const float* x, const float* mean,
                      float* sums, float* products) {
  HWY_DYNAMIC_DISPATCH(sum_and_products)(count, dy, x, mean, sums, products);
}

void scale_lanes(std::int64_t count, const LaneScales& of, const float* x, const float* z,
                 float* y) {
  HWY_DYNAMIC_DISPATCH(scale)(count, of, x, z, y);
}

void max_of_window(const LaneWindow& window, const float* x, float* best, std::int32_t* place) {
  HWY_DYNAMIC_DISPATCH(max_in_window)(window, x, best, place);
}

}  // namespace opbench
#endif  // HWY_ONCE
