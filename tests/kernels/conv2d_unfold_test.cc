#include "kernels/conv2d_unfold.h"

#include <gtest/gtest.h>

#include <vector>

namespace opbench {
namespace {

Conv2d conv_of(std::int64_t width, std::int64_t stride, std::int64_t padding,
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

// What tap k meets in window (oh, ow); 0 beside the plane.
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
        for (const std::int64_t dilation : {1, 2}) test(conv_of(width, stride, padding, dilation));
      }
    }
  }
}

}  // namespace

TEST(Unfold, StripsHoldWhatEveryTapMeets) {
  for_each_conv([](const Conv2d& conv) {
    std::vector<float> x;
    for (std::int64_t i = 0; i < conv.c * conv.h * conv.w; ++i) x.push_back(float(i + 1));
    for (std::int64_t first = 0; first < conv.oh; ++first) {
      for (const std::int64_t last : {first + 1, conv.oh}) {
        const auto count = static_cast<std::size_t>((last - first) * conv.ow);
        for (std::int64_t k = 0; k < 18; ++k) {
          std::vector<float> row(count + 1, -7), expected;
          for (std::int64_t oh = first; oh < last; ++oh) {
            for (std::int64_t ow = 0; ow < conv.ow; ++ow) {
              expected.push_back(met(conv, x, k, oh, ow));
            }
          }
          expected.push_back(-7);  // nothing behind the strip is written
          unfold_row(conv, x.data(), k, {first, last}, row.data());
          ASSERT_EQ(row, expected) << conv.w << " " << conv.window.stride.w << " " << k;
        }
      }
    }
  });
}

TEST(Unfold, FoldAddsWhereItCameFrom) {
  for_each_conv([](const Conv2d& conv) {
    const auto places = static_cast<std::size_t>(conv.oh * conv.ow);
    std::vector<float> x(static_cast<std::size_t>(conv.c * conv.h * conv.w)), folded(x.size(), 1);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = float(i + 1);
    for (std::int64_t k = 0; k < 18; ++k) {
      std::vector<float> row(places), expected(x.size(), 1);
      unfold_row(conv, x.data(), k, {0, conv.oh}, row.data());
      for (const float value : row) {
        if (value > 0) expected[static_cast<std::size_t>(value) - 1] += value;
      }
      folded.assign(x.size(), 1);
      fold_row(conv, row.data(), k, folded.data());
      ASSERT_EQ(folded, expected) << conv.w << " " << k;
    }
  });
}

}  // namespace opbench
