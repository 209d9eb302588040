#include "kernels/simd/gemm.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "tensor/processor.h"
#include "tests/support.h"

namespace opbench {
namespace {

// Numbers of 11 bits, as in the cube unit. Their products are exact. A fused multiply-add, which
// the target `scalar` lacks, then equals a multiplication and an addition.
std::vector<float> cube_numbers(std::int64_t count, std::uint64_t seed) {
  const std::vector<std::uint8_t> bytes = noise(static_cast<std::size_t>(2 * count), seed);
  std::vector<float> values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) {
    const int bits = bytes[2 * i] << 3 | bytes[2 * i + 1] >> 5;
    values[i] = static_cast<float>(bits - 1024) * 0x1p-10F;
  }
  return values;
}

// The definition: one fused multiply-add after another, in the order of k.
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

// Rows are longer than the matrices. Elements between the rows must stay unchanged.
void expect_product(std::int64_t m, std::int64_t n, std::int64_t k) {
  SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k);
  const Gemm shape{m, n, k, k + 3, n + 5, n + 7};
  const std::vector<float> a = cube_numbers(m * shape.lda, 1),
                           b = cube_numbers((k + 1) * shape.ldb, 2);
  for (const bool accumulate : {false, true}) {
    std::vector<float> expected = cube_numbers(m * shape.ldc, 3), found = expected;
    multiply(shape, a.data(), b.data(), expected.data(), accumulate);
    gemm(shape, a.data(), b.data(), found.data(), accumulate);
    EXPECT_EQ(found, expected) << "accumulate: " << accumulate;
  }
}

// Rows of a are in reverse order, and its terms are two apart. Rows of b are one, three, two, five,
// four ... rows below.
void expect_product_at_places(std::int64_t m, std::int64_t n, std::int64_t k) {
  SCOPED_TRACE(testing::Message() << m << "x" << n << "x" << k);
  const Gemm shape{m, n, k, 2 * k, n + 5, n + 7};
  std::vector<std::int64_t> row, term, right;
  for (std::int64_t i = 0; i < m; ++i) row.push_back((m - 1 - i) * shape.lda);
  for (std::int64_t p = 0; p < k; ++p) {
    term.push_back(2 * p);
    right.push_back((p % 2 == 0 ? p + 1 : p + 2) * shape.ldb);
  }
  const std::vector<float> a = cube_numbers(m * shape.lda, 1),
                           b = cube_numbers((k + 3) * shape.ldb, 2);
  std::vector<float> plain_a(static_cast<std::size_t>(m * k)), plain_b;
  for (std::int64_t i = 0; i < m * k; ++i) {
    const auto at = static_cast<std::size_t>(row[std::size_t(i / k)] + term[std::size_t(i % k)]);
    plain_a[static_cast<std::size_t>(i)] = a[at];
  }
  for (const std::int64_t at : right)
    plain_b.insert(plain_b.end(), &b[std::size_t(at)], &b[std::size_t(at + n)]);
  for (const bool accumulate : {false, true}) {
    std::vector<float> expected = cube_numbers(m * shape.ldc, 3), found = expected;
    multiply({m, n, k, k, n, shape.ldc}, plain_a.data(), plain_b.data(), expected.data(),
             accumulate);
    gemm_at(shape, {row.data(), term.data(), right.data()}, a.data(), b.data(), found.data(),
            accumulate);
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

// Sizes are around the four and eight rows of a panel and its one to three vectors of up to 16.
// They are also around the number of terms in a pass, which follows from the cache.
TEST(Gemm, TheSameBitsWithEveryInstructionSet) {
  const auto cache = static_cast<std::int64_t>(first_cache_bytes() / sizeof(float) / 2);
  on_every_isa([&] {
    for (const std::int64_t m : {1, 3, 4, 5, 7, 8, 9, 12, 13, 16, 17}) {
      for (const std::int64_t n : {16, 32, 48, 64, 80, 112}) {
        expect_product(m, n, 7);
        expect_product_at_places(m, n, 7);
      }
    }
    for (const std::int64_t k : {std::int64_t{1}, cache / 48 - 1, cache / 48, cache / 48 + 1,
                                 2 * (cache / 48) + 1, cache / 16 + 1}) {
      expect_product(9, 80, k);
      expect_product_at_places(9, 80, k);
    }
  });
}

TEST(Gemm, WithoutTermsIsZeroOrWhatWasThere) {
  on_every_isa([] {
    expect_product(5, 48, 0);
    expect_product_at_places(5, 48, 0);
  });
}

}  // namespace opbench
