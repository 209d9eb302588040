#include "kernels/softmax_lines.h"

#include <gtest/gtest.h>

#include <cmath>

#include "kernels/simd/cube.h"
#include "tensor/parallel.h"
#include "tests/support.h"
#include "tests/support/non_finite.h"

namespace opbench {
namespace {

struct Lines {
  Dims shape;
  std::size_t axis;
  std::vector<float> values;

  AxisView view() const { return {shape, axis}; }
  // Calls body(first, step) for every line.
  template <class Body>
  void for_each(Body body) const {
    const AxisView v = view();
    for (std::int64_t line = 0; line < v.outer * v.inner; ++line) {
      body(line / v.inner * v.extent * v.inner + line % v.inner, v.inner);
    }
  }
};

// Numbers in [-scale, scale) that fp16 and bf16 hold.
Lines lines_of(Dims shape, std::size_t axis, float scale) {
  Lines lines{std::move(shape), axis, {}};
  for (const std::uint8_t byte : noise(static_cast<std::size_t>(element_count(lines.shape)), 5)) {
    lines.values.push_back((float(byte) - 128) / 128 * scale);
  }
  return lines;
}

std::vector<double> exact_softmax(const Lines& lines) {
  std::vector<double> y(lines.values.begin(), lines.values.end());
  lines.for_each([&](std::int64_t first, std::int64_t step) {
    const auto at = [&](std::int64_t k) -> double& {
      return y[static_cast<std::size_t>(first + k * step)];
    };
    const std::int64_t extent = lines.view().extent;
    double greatest = -HUGE_VAL, sum = 0;
    for (std::int64_t k = 0; k < extent; ++k) greatest = std::max(greatest, at(k));
    for (std::int64_t k = 0; k < extent; ++k) sum += at(k) = std::exp(at(k) - greatest);
    for (std::int64_t k = 0; k < extent; ++k) at(k) /= sum;
  });
  return y;
}

std::vector<float> computed(const Lines& lines, DType dtype, Share share) {
  const std::size_t bytes = lines.values.size() * size_of(dtype);
  std::vector<std::byte> x(bytes), y(bytes);
  const std::int64_t count = std::ssize(lines.values);
  store_floats(dtype, lines.values.data(), count, x.data());
  softmax_lines({dtype, lines.view()}, share, x.data(), y.data());
  std::vector<float> result(lines.values.size());
  load_floats(dtype, y.data(), count, result.data());
  return result;
}

double unit_of(DType dtype) {
  return dtype == DType::fp32 ? 0x1p-21 : dtype == DType::fp16 ? 0x1p-11 : 0x1p-8;
}

void expect_softmax(const Lines& lines) {
  const std::vector<double> exact = exact_softmax(lines);
  for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
    for (const Share share : {Share::quotient, Share::product}) {
      const std::vector<float> y = computed(lines, dtype, share);
      for (std::size_t i = 0; i < y.size(); ++i) {
        // fp16 has a step of 2^-24 below 2^-14.
        const double allowed = unit_of(dtype) * exact[i] + (dtype == DType::fp32 ? 1e-44 : 0x1p-25);
        ASSERT_NEAR(double(y[i]), exact[i], allowed)
            << name(dtype) << " " << to_string(lines.shape) << " " << i;
      }
    }
  }
}

}  // namespace

TEST(SoftmaxLines, OfEveryLength) {
  on_every_isa([] {
    for (const std::int64_t extent : {1, 2, 7, 15, 16, 17, 31, 33, 63, 64, 65, 257, 2047, 2050}) {
      expect_softmax(lines_of({3, extent}, 1, 8));
    }
  });
}

TEST(SoftmaxLines, SideBySide) {
  on_every_isa([] {
    for (const std::int64_t inner : {2, 3, 15, 16, 17, 63, 64, 65, 130}) {
      expect_softmax(lines_of({2, 5, inner}, 1, 8));
    }
  });
}

TEST(SoftmaxLines, OverThreads) {
  with_threads(3, [] {
    expect_softmax(lines_of({70, 300}, 1, 8));
    expect_softmax(lines_of({5, 30, 300}, 1, 8));
  });
}

// Distances at which exp is subnormal in fp32, and larger distances.
TEST(SoftmaxLines, FarBelowTheGreatest) {
  on_every_isa([] {
    Lines lines{{2, 130}, 1, {}};
    for (int i = 0; i < 260; ++i) lines.values.push_back(-float(i % 130));
    const std::vector<double> exact = exact_softmax(lines);
    const std::vector<float> y = computed(lines, DType::fp32, Share::quotient);
    for (std::size_t i = 0; i < y.size(); ++i) {
      EXPECT_NEAR(double(y[i]), exact[i], 0x1p-22 * exact[i] + 1.5 * 0x1p-149) << i;
    }
  });
}

TEST(SoftmaxLines, NanSpreadsOverItsLine) {
  on_every_isa([] {
    for (const float special : {kNan, kInf}) {
      for (const std::size_t axis : {0, 1}) {
        for (const std::size_t place : {0, 1, 20, 39}) {
          Lines lines = lines_of(axis == 1 ? Dims{2, 40} : Dims{40, 2}, axis, 1);
          lines.values[axis == 1 ? place : 2 * place] = special;
          const std::vector<float> y = computed(lines, DType::fp32, Share::product);
          for (std::size_t i = 0; i < y.size(); ++i) {
            const bool is_its_line = axis == 1 ? i < 40 : i % 2 == 0;
            EXPECT_EQ(std::isnan(y[i]), is_its_line) << place << " " << i;
          }
        }
      }
    }
  });
}

TEST(SoftmaxLines, MinusInfinityIsNoShare) {
  on_every_isa([] {
    const Lines lines{{1, 3}, 1, {-kInf, 0, 0}};
    EXPECT_EQ(computed(lines, DType::fp32, Share::quotient), (std::vector<float>{0, 0.5f, 0.5f}));
  });
}

// By hand: dx = (dy - sum(dy*y))*y with y = (1/2, 1/4, 1/4) and dy = (4, 8, 0). The sum is 4.
TEST(SoftmaxLines, Gradient) {
  on_every_isa([] {
    const std::vector<float> y = {0.5f, 0.25f, 0.25f}, dy = {4, 8, 0};
    const std::vector<float> expected = {0, 1, -1};
    std::vector<float> dx(3);
    softmax_grad_lines({DType::fp32, {{1, 3}, 1}}, Share::product, dy.data(), y.data(), dx.data());
    EXPECT_EQ(dx, expected);
    for (const std::int64_t inner : {2, 17, 65}) {  // copies of the line next to each other
      std::vector<float> ys, dys, dxs(static_cast<std::size_t>(3 * inner)), wanted;
      for (std::size_t k = 0; k < 3; ++k) {
        ys.insert(ys.end(), std::size_t(inner), y[k]);
        dys.insert(dys.end(), std::size_t(inner), dy[k]);
        wanted.insert(wanted.end(), std::size_t(inner), expected[k]);
      }
      softmax_grad_lines({DType::fp32, {{3, inner}, 0}}, Share::product, dys.data(), ys.data(),
                         dxs.data());
      EXPECT_EQ(dxs, wanted) << inner;
    }
  });
}

// The lines also begin in the middle of a vector, and are shorter than one in fp16.
TEST(SoftmaxLines, StreamedGradientsHaveTheSameBits) {
  on_every_isa([] {
    for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
      for (const std::int64_t extent : {5, 16, 32, 129}) {
        const Lines lines = lines_of({9, extent}, 1, 1);
        const std::int64_t count = std::ssize(lines.values);
        std::vector<std::byte> y(lines.values.size() * size_of(dtype)), plain(y), streamed(y);
        store_floats(dtype, lines.values.data(), count, y.data());
        SoftmaxLines of{dtype, lines.view()};
        softmax_grad_lines(of, Share::product, y.data(), y.data(), plain.data());
        of.streams = true;
        softmax_grad_lines(of, Share::product, y.data(), y.data(), streamed.data());
        EXPECT_EQ(plain, streamed) << name(dtype) << ' ' << extent;
      }
    }
  });
}

TEST(SoftmaxLines, OfARow) {  // exp(0) + exp(-ln 2) + exp(-ln 2) = 2
  on_every_isa([] {
    const float ln2 = 0.693147181f;
    const std::vector<float> x = {3, 3 - ln2, 3 - ln2};
    const LineSum of = sum_of_exp(DType::fp32, x.data(), 3);
    EXPECT_EQ(of.greatest, 3);
    EXPECT_FLOAT_EQ(of.sum, 2);
    std::vector<float> logs(3), shares(3);
    log_softmax_line(DType::fp32, x.data(), 3, of, logs.data());
    EXPECT_FLOAT_EQ(logs[0], -ln2);
    EXPECT_FLOAT_EQ(logs[1], -2 * ln2);
    scaled_softmax_line(DType::fp32, x.data(), 3, of, Share::quotient, 8, shares.data());
    EXPECT_FLOAT_EQ(shares[0], 4);
    EXPECT_FLOAT_EQ(shares[2], 2);
  });
}

}  // namespace opbench
