#include "kernels/simd/plane_windows.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/support.h"

namespace opbench {
namespace {

// One plane of small whole numbers, so that sums are exact in every order.
Conv2d square_conv(std::int64_t size, std::int64_t kernel, std::int64_t stride,
                   std::int64_t padding) {
  Conv2d conv{};
  conv.n = conv.c = conv.m = conv.groups = 1;
  conv.h = size, conv.w = size + 1;
  conv.window = {{kernel, kernel}, {stride, stride}, {padding, padding}, {1, 1}};
  conv.oh = (conv.h + 2 * padding - kernel) / stride + 1;
  conv.ow = (conv.w + 2 * padding - kernel) / stride + 1;
  return conv;
}

std::vector<float> small_numbers(std::int64_t count, std::uint64_t seed) {
  std::vector<float> values;
  for (const std::uint8_t byte : noise(static_cast<std::size_t>(count), seed)) {
    values.push_back(float(byte % 9) - 4);
  }
  return values;
}

// Calls meet(y index, x index, tap) for all that meet.
template <class Meet>
void for_each_meeting(const Conv2d& conv, Meet meet) {
  const auto& [kernel, stride, padding, dilation] = conv.window;
  for (std::int64_t y = 0; y < conv.oh * conv.ow; ++y) {
    for (std::int64_t tap = 0; tap < kernel.h * kernel.w; ++tap) {
      const std::int64_t h = y / conv.ow * stride.h + tap / kernel.w - padding.h;
      const std::int64_t w = y % conv.ow * stride.w + tap % kernel.w - padding.w;
      if (h < 0 || h >= conv.h || w < 0 || w >= conv.w) continue;
      meet(static_cast<std::size_t>(y), static_cast<std::size_t>(h * conv.w + w),
           static_cast<std::size_t>(tap));
    }
  }
}

template <class Test>
void with_windows(Test test) {
  on_every_isa([&] {
    for (const std::int64_t size : {3, 7, 14, 16, 17, 31, 33}) {
      for (const std::int64_t kernel : {1, 2, 3}) {
        for (const std::int64_t stride : {1, 2, 3}) {
          for (const std::int64_t padding : {0, 1}) {
            if (2 * padding <= kernel) test(square_conv(size, kernel, stride, padding));
          }
        }
      }
    }
  });
}

}  // namespace

TEST(PlaneWindows, CorrelateSpreadAndAddTaps) {
  with_windows([](const Conv2d& conv) {
    const std::vector<float> x = small_numbers(conv.h * conv.w, 1),
                             taps = small_numbers(conv.taps(), 2),
                             dy = small_numbers(conv.oh * conv.ow, 3);
    std::vector<float> y(dy.size(), 1), dx(x.size(), 2), dw(taps.size(), 3);
    std::vector<float> exact_y = y, exact_dx = dx, exact_dw = dw;
    for_each_meeting(conv, [&](std::size_t i, std::size_t j, std::size_t tap) {
      exact_y[i] += taps[tap] * x[j];
      exact_dx[j] += taps[tap] * dy[i];
      exact_dw[tap] += dy[i] * x[j];
    });
    y.push_back(-7);  // nothing may be written after the plane
    exact_y.push_back(-7);
    correlate_plane(conv, PaddedPlanes(conv, conv.oh), x.data(), taps.data(), 1, y.data());
    spread_plane(conv, dy.data(), taps.data(), dx.data());
    add_taps_of_plane(conv, dy.data(), x.data(), dw.data());
    EXPECT_EQ(y, exact_y) << conv.h << " " << conv.window.kernel.h << " " << conv.window.stride.h;
    EXPECT_EQ(dx, exact_dx) << conv.h << " " << conv.window.kernel.h << " " << conv.window.stride.h;
    EXPECT_EQ(dw, exact_dw) << conv.h << " " << conv.window.kernel.h << " " << conv.window.stride.h;
  });
}

// An infinite or NaN tap affects only the windows in which it meets an element.
TEST(PlaneWindows, PaddingTimesInfinityIsNothing) {
  with_windows([](const Conv2d& conv) {
    const std::vector<float> x(static_cast<std::size_t>(conv.h * conv.w), 1);
    std::vector<float> taps(static_cast<std::size_t>(conv.taps()), 1);
    taps.front() = std::numeric_limits<float>::infinity();
    std::vector<float> y(static_cast<std::size_t>(conv.oh * conv.ow), -7), exact(y.size(), 0);
    for_each_meeting(
        conv, [&](std::size_t i, std::size_t j, std::size_t tap) { exact[i] += taps[tap] * x[j]; });
    correlate_plane(conv, PaddedPlanes(conv, conv.oh), x.data(), taps.data(), 0, y.data());
    EXPECT_EQ(y, exact) << conv.h << " " << conv.window.kernel.h << " " << conv.window.stride.h;
  });
}

TEST(PlaneWindows, GreatestIsTheFirstOfEqualsAndTheLastNaN) {
  with_windows([](const Conv2d& conv) {
    const Pool pool{1, conv.h, conv.w, conv.oh, conv.ow, conv.window};
    std::vector<float> x = small_numbers(conv.h * conv.w, 4);
    for (std::size_t i = 0; i < x.size(); ++i) {
      if (i % 11 == 3) x[i] = std::numeric_limits<float>::quiet_NaN();
      if (i % 13 < 4) x[i] = -std::numeric_limits<float>::infinity();
    }
    const std::vector<double> exact(x.begin(), x.end());
    std::vector<float> y(static_cast<std::size_t>(pool.oh * pool.ow));
    std::vector<std::int64_t> places(y.size(), -1);
    max_of_plane(pool, x.data(), y.data(), places.data());
    for (std::size_t i = 0; i < y.size(); ++i) {
      const auto index = static_cast<std::int64_t>(i);
      const std::int64_t place =
          greatest_in_window(pool, exact.data(), index / pool.ow, index % pool.ow);
      ASSERT_EQ(places[i], place) << pool.h << " " << i;
      const float value = x[static_cast<std::size_t>(place)];
      EXPECT_TRUE(y[i] == value || (std::isnan(y[i]) && std::isnan(value))) << i;
    }
  });
}

}  // namespace opbench
