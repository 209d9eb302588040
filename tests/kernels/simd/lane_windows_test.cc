#include <gtest/gtest.h>

#include <cmath>

#include "kernels/simd/cube.h"
#include "kernels/simd/plane_windows.h"
#include "tensor/buffer.h"
#include "tests/support.h"
#include "tests/support/non_finite.h"

namespace opbench {
namespace {

Pool pool_of(std::int64_t size, Window window) {
  Pool pool{1, size, size + 1, 0, 0, window};
  const auto outputs = [](const PoolAxis& axis) {
    return (axis.extent + 2 * axis.padding - axis.dilation * (axis.kernel - 1) - 1) / axis.stride +
           1;
  };
  pool.oh = outputs(pool.rows()), pool.ow = outputs(pool.columns());
  return pool;
}

// Small whole numbers with equal ones among them, and numbers that compare unusually.
std::vector<float> numbers_to_compare(std::int64_t count, bool has_nan) {
  std::vector<float> values;
  for (const std::uint8_t byte : noise(static_cast<std::size_t>(count), 5)) {
    float value = float(byte % 9) - 4;
    if (byte > 240) value = byte % 2 == 0 ? kInf : -kInf;
    if (byte % 9 == 4 && byte % 2 == 0) value = -0.0f;
    if (has_nan && byte % 23 == 0) value = kNan;
    values.push_back(value);
  }
  return values;
}

void expect_greatest(const Pool& pool, DType dtype, bool stream, const std::vector<float>& values) {
  const auto results = static_cast<std::size_t>(pool.oh * pool.ow * kCube);
  const Buffer x(values.size() * size_of(dtype)), y(results * size_of(dtype)),
      places(results * sizeof(std::int64_t));
  store_floats(dtype, values.data(), static_cast<std::int64_t>(values.size()), x.data());
  max_of_lane_windows(pool, taps_of(pool.columns(), pool.ow), dtype, stream, x.data(), y.data(),
                      static_cast<std::int64_t*>(places.data()));
  EXPECT_TRUE(y.guards_intact() && places.guards_intact());
  std::vector<float> found(results);
  load_floats(dtype, y.data(), static_cast<std::int64_t>(results), found.data());
  for (std::int64_t lane = 0; lane < kCube; ++lane) {
    std::vector<double> plane;
    for (auto i = static_cast<std::size_t>(lane); i < values.size(); i += kCube) {
      plane.push_back(double(values[i]));
    }
    for (std::int64_t i = 0; i < pool.oh * pool.ow; ++i) {
      const auto at = static_cast<std::size_t>(i * kCube + lane);
      const std::int64_t place = greatest_in_window(pool, plane.data(), i / pool.ow, i % pool.ow);
      ASSERT_EQ(static_cast<const std::int64_t*>(places.data())[at], place) << i << " " << lane;
      const auto greatest = static_cast<float>(plane[static_cast<std::size_t>(place)]);
      if (std::isnan(greatest)) {
        EXPECT_TRUE(std::isnan(found[at])) << i;
      } else {
        EXPECT_EQ(found[at], greatest) << i;
        EXPECT_EQ(std::signbit(found[at]), std::signbit(greatest)) << i;
      }
    }
  }
}

}  // namespace

TEST(LaneWindows, GreatestIsTheFirstOfEqualsAndTheLastNaN) {
  const Window windows[] = {
      {{3, 3}, {2, 2}, {1, 1}, {1, 1}}, {{3, 3}, {1, 1}, {1, 1}, {1, 1}},
      {{2, 2}, {2, 2}, {0, 0}, {1, 1}}, {{1, 1}, {1, 1}, {0, 0}, {1, 1}},
      {{4, 3}, {3, 1}, {2, 1}, {1, 1}}, {{3, 2}, {2, 3}, {1, 0}, {2, 2}},
      {{2, 3}, {1, 2}, {0, 1}, {1, 3}},
  };
  on_every_isa([&] {
    for (const Window& window : windows) {
      for (const std::int64_t size : {5, 8, 17}) {
        const Pool pool = pool_of(size, window);
        for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
          for (const bool has_nan : {false, true}) {
            const std::vector<float> values = numbers_to_compare(pool.h * pool.w * kCube, has_nan);
            SCOPED_TRACE(testing::Message() << name(dtype) << " " << size << " " << window.kernel.h
                                            << "x" << window.kernel.w << " " << window.dilation.w);
            expect_greatest(pool, dtype, has_nan, values);
            expect_greatest(pool, dtype, !has_nan, values);
          }
        }
      }
    }
  });
}

}  // namespace opbench
