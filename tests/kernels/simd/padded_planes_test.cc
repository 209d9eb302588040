#include <gtest/gtest.h>

#include <vector>

#include "kernels/simd/plane_windows.h"

namespace opbench {
namespace {

Conv2d dilated_conv(std::int64_t width, std::int64_t stride, std::int64_t padding,
                    std::int64_t dilation) {
  Conv2d conv{};
  conv.n = conv.m = conv.groups = 1;
  conv.c = 2, conv.h = 7, conv.w = width;
  conv.window = {{3, 3}, {stride, stride}, {padding, padding}, {dilation, dilation}};
  const std::int64_t reach = dilation * 2 + 1;
  conv.oh = (conv.h + 2 * padding - reach) / stride + 1;
  conv.ow = (conv.w + 2 * padding - reach) / stride + 1;
  return conv;
}

// The element that tap k meets in window (oh, ow); 0 outside the plane.
float met(const Conv2d& conv, const std::vector<float>& x, std::int64_t k, std::int64_t oh,
          std::int64_t ow) {
  const auto& [kernel, stride, padding, dilation] = conv.window;
  const std::int64_t tap = k % 9;
  const std::int64_t h = oh * stride.h + tap / 3 * dilation.h - padding.h;
  const std::int64_t w = ow * stride.w + tap % 3 * dilation.w - padding.w;
  if (h < 0 || h >= conv.h || w < 0 || w >= conv.w) return 0;
  return x[static_cast<std::size_t>((k / 9 * conv.h + h) * conv.w + w)];
}

template <class Test>
void for_each_conv(Test test) {
  for (const std::int64_t width : {5, 14, 15, 16, 17, 18, 31, 32, 33, 34, 50}) {
    for (const std::int64_t stride : {1, 2}) {
      for (const std::int64_t padding : {0, 1, 2}) {
        for (const std::int64_t dilation : {1, 2})
          test(dilated_conv(width, stride, padding, dilation));
      }
    }
  }
}

}  // namespace

TEST(PaddedPlanes, HoldWhatEveryTapMeets) {
  for_each_conv([](const Conv2d& conv) {
    std::vector<float> x;
    for (std::int64_t i = 0; i < conv.c * conv.h * conv.w; ++i) x.push_back(float(i + 1));
    for (const std::int64_t rows : {std::int64_t{1}, std::int64_t{2}, conv.oh}) {
      const PaddedPlanes planes(conv, rows);
      const auto elements = static_cast<std::size_t>(planes.channel());
      for (std::int64_t first = 0; first + rows <= conv.oh; ++first) {
        std::vector<float> padded(2 * elements + 1, -7);
        planes.fill(x.data(), first, padded.data());
        planes.fill(x.data() + conv.h * conv.w, first, padded.data() + elements);
        ASSERT_EQ(padded.back(), -7);  // nothing is written after a channel
        for (std::int64_t i = 0; i < rows * conv.ow; ++i) {
          const std::int64_t place = i / conv.ow * planes.pitch() + i % conv.ow;
          for (std::int64_t k = 0; k < 18; ++k) {
            const std::int64_t at = planes.terms()[static_cast<std::size_t>(k)] + place;
            ASSERT_EQ(padded[static_cast<std::size_t>(at)],
                      met(conv, x, k, first + i / conv.ow, i % conv.ow))
                << conv.w << " " << conv.window.stride.w << " " << k;
          }
        }
      }
    }
  });
}

// A kernel of one tap meets only the first plane of a stride, so only this plane exists.
TEST(PaddedPlanes, OneTapHasOnePlane) {
  Conv2d conv = dilated_conv(9, 2, 0, 1);
  conv.window.kernel = {1, 1};
  conv.oh = 4, conv.ow = 5;
  const PaddedPlanes planes(conv, 4);
  EXPECT_EQ(planes.channel(), 20);
  EXPECT_EQ(planes.taps(), std::vector<std::int64_t>{0});
}

}  // namespace opbench
