#include "kernels/lanes/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tests/support.h"

namespace opbench {
namespace {

// As the cube unit has them: 11 bits, so that products are exact and a fused multiply-add, which
// the target `scalar` does not have, is a multiplication and an addition.
std::vector<float> numbers(std::int64_t count, std::uint64_t seed) {
  const std::vector<std::uint8_t> bytes = noise(static_cast<std::size_t>(2 * count), seed);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int bits = bytes[2 * i] << 3 | bytes[2 * i + 1] >> 5;
    values[i] = static_cast<float>(bits - 1024) * 0x1p-10F;
  }
  return values;
}

// The definition: one fused multiply-add after the other in the order of k.
void multiply(const Gemm& s, const float* a, const float* b, float* c, bool accumulate) {
  for (std::int64_t i = 0; i < s.m; ++i) {
    for (std::int64_t j = 0; j < s.n; ++j) {
      float sum = accumulate ? c[i * s.ldc + j] : 0;
      for (std::int64_t p = 0; p < s.k; ++p) {
        sum = std::fma(a[i * s.lda + p], b[p * s.ldb + j], sum);
      }
      c[i * s.ldc + j] = sum;
    }
  }
}

// Rows are longer than the matrices: what lies between stays.
void expect_product(std::int64_t m, std::int64_t n, std::int64_t k) {
  SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k);
  const Gemm shape{m, n, k, k + 3, n + 5, n + 7};
  const std::vector<float> a = numbers(m * shape.lda, 1), b = numbers((k + 1) * shape.ldb, 2);
  for (const bool accumulate : {false, true}) {
    std::vector<float> expected = numbers(m * shape.ldc, 3), found = expected;
    multiply(shape, a.data(), b.data(), expected.data(), accumulate);
    gemm(shape, a.data(), b.data(), found.data(), accumulate);
    EXPECT_EQ(found, expected) << "accumulate: " << accumulate;
  }
}

}  // namespace

TEST(Gemm, HandComputed) {  // [1 2] * [3; 4] = 11 in every column
  const std::vector<float> a = {1, 2};
  std::vector<float> b(16, 3), c(16, 100);
  b.resize(32, 4);
  gemm({1, 16, 2, 2, 16, 16}, a.data(), b.data(), c.data());
  EXPECT_EQ(c, std::vector<float>(16, 11));
  gemm({1, 16, 2, 2, 16, 16}, a.data(), b.data(), c.data(), true);
  EXPECT_EQ(c, std::vector<float>(16, 22));
}

// Around the four rows of a panel and its one to three vectors of up to 16.
TEST(Gemm, TheSameBitsWithEveryInstructionSet) {
  on_every_isa([] {
    for (const std::int64_t m : {1, 3, 4, 5, 9}) {
      for (const std::int64_t n : {16, 32, 48, 64, 80, 112}) expect_product(m, n, 7);
    }
    expect_product(4, 32, 1);
    expect_product(4, 32, 300);
  });
}

TEST(Gemm, WithoutTermsIsZeroOrWhatWasThere) {
  on_every_isa([] { expect_product(5, 48, 0); });
}

}  // namespace opbench
