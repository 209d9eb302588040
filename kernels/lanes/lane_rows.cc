#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "kernels/lanes/lane_rows.cc"
#include "kernels/lanes/lane_rows.h"

#include <hwy/foreach_target.h>

#include "kernels/lanes/cube.h"
#include "kernels/lanes/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {
namespace {

// As many of the 16 lanes as a vector holds.
using Lanes = hn::CappedTag<float, kCube>;

}  // namespace

void add_scaled(std::int64_t count, LaneRow x, const float* factor, float* sum,
                std::int64_t sum_step) {
  const Lanes d;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t lane = 0; lane < kCube; lane += width) {
    const auto scale = hn::LoadU(d, factor + lane);
    const float* from = x.data + lane;
    float* to = sum + lane;
    for (std::int64_t i = 0; i < count; ++i, from += x.step, to += sum_step) {
      hn::StoreU(hn::MulAdd(hn::LoadU(d, from), scale, hn::LoadU(d, to)), d, to);
    }
  }
}

void add_products(std::int64_t count, LaneRow x, LaneRow y, float* sums) {
  const Lanes d;
  const auto width = static_cast<std::int64_t>(hn::Lanes(d));
  for (std::int64_t lane = 0; lane < kCube; lane += width) {
    auto total = hn::LoadU(d, sums + lane);
    const float *a = x.data + lane, *b = y.data + lane;
    for (std::int64_t i = 0; i < count; ++i, a += x.step, b += y.step) {
      total = hn::MulAdd(hn::LoadU(d, a), hn::LoadU(d, b), total);
    }
    hn::StoreU(total, d, sums + lane);
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace opbench {

HWY_EXPORT(add_scaled);
HWY_EXPORT(add_products);

void add_scaled_row(std::int64_t count, LaneRow x, const float* factor, float* sum,
                    std::int64_t sum_step) {
  HWY_DYNAMIC_DISPATCH(add_scaled)(count, x, factor, sum, sum_step);
}

void add_products_of_rows(std::int64_t count, LaneRow x, LaneRow y, float* sums) {
  HWY_DYNAMIC_DISPATCH(add_products)(count, x, y, sums);
}

}  // namespace opbench
#endif  // HWY_ONCE
