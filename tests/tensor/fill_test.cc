#include "tensor/fill.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <vector>

#include "tensor/error.h"
#include "tensor/half.h"
#include "tensor/parallel.h"
#include "tensor/random.h"
#include "tests/support.h"
#include "tests/tensor/definition.h"

namespace opbench {
namespace {

using enum DistributionKind;

const std::vector<Distribution> kEveryKind = {
    {normal, 0.5, 2}, {uniform, -1, 3},  {integers, -5, 90}, {permutation, 0, 1},
    {constant, 7, 0}, {arange, 3, 0.25}, {special, 0, 1}};

const std::vector<Distribution> kTwoKinds = {{normal, 0.5, 2}, {arange, 3, 0.25}};

std::vector<double> values(const Distribution& distribution, std::int64_t count,
                           std::uint64_t seed = 42) {
  std::vector<double> result(static_cast<std::size_t>(count));
  generate(distribution, seed, DType::fp64, count, {0, count}, result.data());
  return result;
}

std::vector<std::uint8_t> contents(const Tensor& tensor) {
  return {tensor.as<std::uint8_t>(), tensor.as<std::uint8_t>() + tensor.desc.bytes()};
}

Tensor filled(const TensorDesc& desc, const Distribution& distribution) {
  Tensor tensor(desc);
  std::memset(tensor.data(), 0xAB, desc.bytes());  // like reused memory
  fill(tensor, distribution, 42);
  return tensor;
}

}  // namespace

TEST(Generate, AnyCutGivesTheSameBits) {
  const std::int64_t total = 3001;
  for (const Distribution& distribution : kEveryKind) {
    for (const DType dtype : kAllDTypes) {
      const std::size_t size = size_of(dtype);
      std::vector<std::uint8_t> whole(total * size), cut(total * size);
      generate(distribution, 42, dtype, total, {0, total}, whole.data());
      for (const std::int64_t step : {1, 7, 512, 1000}) {
        for (std::int64_t first = 0; first < total; first += step) {
          generate(distribution, 42, dtype, total, {first, std::min(step, total - first)},
                   cut.data() + static_cast<std::size_t>(first) * size);
        }
        ASSERT_EQ(cut, whole) << to_string(distribution) << " " << name(dtype) << " by " << step;
      }
    }
  }
}

TEST(Generate, SameBitsOnEveryIsa) {
  for (const Distribution& distribution : kEveryKind) {
    const std::vector<double> best = values(distribution, 10001);
    on_every_isa([&] {
      const std::vector<double> now = values(distribution, 10001);
      EXPECT_EQ(std::memcmp(now.data(), best.data(), 8 * best.size()), 0)
          << to_string(distribution);
    });
  }
}

// Box-Muller as defined in fill.h and random.h, with the C library's functions.
TEST(Generate, NormalIsBoxMullerOnPhilox) {
  const std::uint64_t seed = 0x123456789ABCDEF0;
  const std::vector<double> actual = values({normal, 0, 1}, 100000, seed);
  for (std::size_t k = 0; k < actual.size() / 2; ++k) {
    const auto words = philox4x32({std::uint32_t(k), 0, 0, std::uint32_t(normal) + 1},
                                  {std::uint32_t(seed), std::uint32_t(seed >> 32)});
    const std::uint64_t a = words[0] | std::uint64_t{words[1]} << 32;
    const std::uint64_t b = words[2] | std::uint64_t{words[3]} << 32;
    const double u = 1 - double(a >> 12) * 0x1p-52, v = double(b >> 12) * 0x1p-52;
    const double radius = std::sqrt(-2 * std::log(u)), angle = 2 * std::acos(-1.0) * v;
    // The rounding of 2 pi v is an absolute error of the angle of up to 4.5e-16.
    ASSERT_NEAR(actual[2 * k], radius * std::cos(angle), 2e-15 * radius + 1e-16) << k;
    ASSERT_NEAR(actual[2 * k + 1], radius * std::sin(angle), 2e-15 * radius + 1e-16) << k;
  }
}

// The limits are five standard errors of each moment for n independent normal values.
TEST(Generate, MomentsOfNormal) {
  const double n = 1 << 20;
  const std::vector<double> x = values({normal, 0, 1}, 1 << 20);
  double m1 = 0, m2 = 0, m3 = 0, m4 = 0, lag = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    m1 += x[i] / n;
    m2 += x[i] * x[i] / n;
    m3 += x[i] * x[i] * x[i] / n;
    m4 += x[i] * x[i] * x[i] * x[i] / n;
    if (i > 0) lag += x[i] * x[i - 1] / n;
  }
  EXPECT_NEAR(m1, 0, 5 * std::sqrt(1 / n));
  EXPECT_NEAR(m2, 1, 5 * std::sqrt(2 / n));
  EXPECT_NEAR(m3, 0, 5 * std::sqrt(15 / n));
  EXPECT_NEAR(m4, 3, 5 * std::sqrt(96 / n));
  EXPECT_NEAR(lag, 0, 5 * std::sqrt(1 / n));
}

TEST(Generate, NormalHasMeanAndDeviation) {
  const std::vector<double> standard = values({normal, 0, 1}, 1001);
  const std::vector<double> moved = values({normal, 0.5, 2}, 1001);
  for (std::size_t i = 0; i < moved.size(); ++i) ASSERT_EQ(moved[i], 0.5 + 2 * standard[i]);
}

TEST(Generate, UniformFillsItsInterval) {
  const double n = 1 << 18;
  const std::vector<double> x = values({uniform, -1, 3}, 1 << 18);
  const auto [least, most] = std::minmax_element(x.begin(), x.end());
  EXPECT_GE(*least, -1);
  EXPECT_LT(*most, 3);
  EXPECT_LT(*least, -1 + 4 * 20 / n);
  EXPECT_GT(*most, 3 - 4 * 20 / n);
  double mean = 0;
  for (const double value : x) mean += value / n;
  EXPECT_NEAR(mean, 1, 5 * 4 / std::sqrt(12 * n));
  // The interval has two neighbours as ends. Its upper half rounds to the excluded end.
  for (const double value : values({uniform, 1, 1 + 0x1p-52}, 100)) ASSERT_EQ(value, 1);
}

TEST(Generate, IntegersAreEvenlySpread) {
  std::vector<int> seen(96);
  for (const double value : values({integers, -5, 90}, 96000)) {
    ASSERT_EQ(value, std::floor(value));
    ASSERT_TRUE(-5 <= value && value <= 90);
    ++seen[static_cast<std::size_t>(value + 5)];
  }
  for (const int times : seen) EXPECT_NEAR(times, 1000, 5 * std::sqrt(1000));
}

TEST(Generate, PermutationIsABijection) {
  for (const std::int64_t count : {1, 2, 3, 5, 16, 17, 100, 4096, 4097, 100000}) {
    const std::vector<double> order = values({permutation}, count);
    std::vector<bool> seen(order.size());
    for (const double value : order) {
      ASSERT_TRUE(0 <= value && value < double(count));
      ASSERT_FALSE(seen[static_cast<std::size_t>(value)]) << value << " twice of " << count;
      seen[static_cast<std::size_t>(value)] = true;
    }
  }
}

TEST(Generate, PermutationIsRandom) {
  const std::int64_t count = 100000;
  const std::vector<double> one = values({permutation}, count, 1),
                            two = values({permutation}, count, 2);
  double fixed = 0, equal = 0, neighbours = 0;
  for (std::size_t i = 0; i < one.size(); ++i) {
    fixed += one[i] == double(i);
    equal += one[i] == two[i];
    neighbours += i > 0 && std::abs(one[i] - one[i - 1]) == 1;
  }
  // The counts follow Poisson with mean 1, 1 and 2. More than 12 occur once in 10^10 and 10^6
  // times.
  EXPECT_LE(fixed, 12);
  EXPECT_LE(equal, 12);
  EXPECT_LE(neighbours, 12);
}

TEST(Generate, SeedsAndKindsDiffer) {
  EXPECT_NE(values({normal}, 100, 1), values({normal}, 100, 2));
  EXPECT_NE(values({normal}, 100, 1), values({normal}, 100, 1 + (std::uint64_t{1} << 32)));
  const std::vector<double> u = values({uniform, 0, 1}, 1000), i = values({integers, 0, 9}, 1000);
  int same = 0;
  for (std::size_t k = 0; k < u.size(); ++k) same += std::floor(10 * u[k]) == i[k];
  EXPECT_NEAR(same, 100, 50) << "the streams of two kinds are independent";
}

TEST(Generate, ArangeAndConstant) {
  EXPECT_EQ(values({arange, 3, 0.25}, 4), (std::vector<double>{3, 3.25, 3.5, 3.75}));
  EXPECT_EQ(values({constant, -7}, 3), (std::vector<double>{-7, -7, -7}));
}

TEST(Generate, SpecialsOfHalf) {
  std::vector<half> h(16);
  generate({special}, 1, DType::fp16, 16, {0, 16}, h.data());
  // Source: IEEE 754: NaN, +-Inf, +-0, least and largest subnormal, least normal, largest, 1, 1 +
  // epsilon.
  const std::vector<std::uint16_t> expected = {0x7E00, 0x7C00, 0xFC00, 0x0000, 0x8000, 0x0001,
                                               0x8001, 0x03FF, 0x83FF, 0x0400, 0x8400, 0x7BFF,
                                               0xFBFF, 0x3C00, 0xBC00, 0x3C01};
  for (std::size_t i = 0; i < h.size(); ++i) EXPECT_EQ(h[i].x, expected[i]) << i;
}

TEST(Generate, SpecialsOfBfloat16) {
  std::vector<bfloat16> b(16);
  generate({special}, 1, DType::bf16, 16, {0, 16}, b.data());
  const std::vector<std::uint16_t> expected = {0x7FC0, 0x7F80, 0xFF80, 0x0000, 0x8000, 0x0001,
                                               0x8001, 0x007F, 0x807F, 0x0080, 0x8080, 0x7F7F,
                                               0xFF7F, 0x3F80, 0xBF80, 0x3F81};
  for (std::size_t i = 0; i < b.size(); ++i) EXPECT_EQ(b[i].value, expected[i]) << i;
}

TEST(Generate, SpecialsOfIntegers) {
  std::vector<std::int64_t> x(5);
  generate({special}, 1, DType::int64, 5, {0, 5}, x.data());
  using Limits = std::numeric_limits<std::int64_t>;
  EXPECT_EQ(x, (std::vector<std::int64_t>{0, 1, Limits::max(), Limits::min(), -1}));
}

TEST(Generate, NarrowDtypesAreTheRoundedStream) {
  const std::vector<double> x = values({normal, 0, 1}, 5000);
  std::vector<half> h(x.size());
  generate({normal, 0, 1}, 42, DType::fp16, 5000, {0, 5000}, h.data());
  for (std::size_t i = 0; i < x.size(); ++i) ASSERT_EQ(h[i].x, round_to_half(x[i]).x) << i;
}

TEST(Generate, RejectsBadParameters) {
  float value;
  EXPECT_THROW(generate({normal, 0, -1}, 1, DType::fp32, 1, {0, 1}, &value), Error);
}

TEST(Fill, SameBitsForEveryThreadCount) {
  for (const Format format : {Format::NCHW, Format::NC1HWC0}) {
    const TensorDesc desc = describe(DType::fp16, {3, 37, 31, 40}, format);
    for (const Distribution& distribution : kEveryKind) {
      std::vector<std::uint8_t> one;
      for (const int threads : {1, 2, 7}) {
        with_threads(threads, [&] {
          const Tensor tensor = filled(desc, distribution);
          if (threads == 1) one = contents(tensor);
          EXPECT_EQ(contents(tensor), one) << to_string(distribution);
          EXPECT_TRUE(tensor.buffer.guards_intact());
        });
      }
    }
  }
}

TEST(Fill, SameElementsInEveryFormatAndPaddingIsZero) {
  for (const Dims& shape : {Dims{}, Dims{21}, Dims{3, 40, 1, 1}, Dims{2, 37, 7, 6},
                            Dims{24, 3, 5, 5}, Dims{2, 17, 3, 4, 5}}) {
    for (const DType dtype : {DType::fp32, DType::bf16, DType::int8, DType::int64}) {
      for (const Distribution& distribution : dtype == DType::bf16 ? kEveryKind : kTwoKinds) {
        const Bytes plain = contents(filled(describe(dtype, shape), distribution));
        for (const TensorDesc& desc : every_storage(dtype, shape)) {
          ASSERT_EQ(contents(filled(desc, distribution)), stored_by_definition(desc, plain, 0))
              << to_string(desc);
        }
      }
    }
  }
}

// Source: torchvision channel_shuffle's index for C = 6, groups = 2.
TEST(Fill, ShuffleIsTheIndexOfAChannelShuffle) {
  std::int64_t index[6];
  generate({DistributionKind::shuffle, 2, 1}, 1, DType::int64, 6, {0, 6}, index);
  EXPECT_THAT(index, testing::ElementsAre(0, 3, 1, 4, 2, 5));
}

TEST(Fill, BoxesAreOrderedAndInsideForAnyCut) {
  std::vector<float> all(400), part(7);
  const Distribution boxes{DistributionKind::boxes, 64, 1};
  generate(boxes, 3, DType::fp32, 400, {0, 400}, all.data());
  for (std::size_t i = 0; i < 400; i += 4) {
    EXPECT_GE(all[i], 0);
    EXPECT_GE(all[i + 1], 0);
    EXPECT_GE(all[i + 2], all[i] + 1);
    EXPECT_GE(all[i + 3], all[i + 1] + 1);
    EXPECT_LE(std::max(all[i + 2], all[i + 3]), 64);
  }
  generate(boxes, 3, DType::fp32, 400, {13, 7}, part.data());
  EXPECT_TRUE(std::equal(part.begin(), part.end(), all.begin() + 13));
}

}  // namespace opbench
