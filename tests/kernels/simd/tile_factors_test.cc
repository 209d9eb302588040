#include "kernels/simd/tile_factors.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/simd/cube.h"
#include "kernels/simd/pair_product.h"
#include "tensor/half.h"
#include "tests/support.h"

namespace opbench {
namespace {

/// bf16 numbers in rows with a gap, and the same in fp32.
struct Rows {
  std::int64_t count, size, apart;
  std::vector<bfloat16> stored;
  std::vector<float> values;

  Rows(std::int64_t rows, std::int64_t columns, float scale, std::uint64_t seed)
      : count(rows), size(columns), apart(columns + 3) {
    const std::vector<std::uint8_t> bytes = noise(static_cast<std::size_t>(count * apart), seed);
    std::vector<float> numbers;
    for (const std::uint8_t byte : bytes) numbers.push_back((float(byte) - 128) * scale);
    stored.resize(numbers.size()), values.resize(numbers.size());
    narrow(numbers.data(), stored.data(), numbers.size());
    widen(stored.data(), values.data(), stored.size());
  }
  double at(std::int64_t r, std::int64_t i) const {
    return double(values[static_cast<std::size_t>(r * apart + i)]);
  }
};

// c = 1 + a*b in fp64 where a is [m, k], or a^T of [k, m], and b is [k, n].
void expect_product(const TileFactors& f, const Rows& a, const Rows& b, bool is_transposed) {
  const std::int64_t m = is_transposed ? a.size : a.count, k = b.count;
  const std::int64_t width = round_up_to_cube(b.size), pitch = f.words(width);
  SCOPED_TRACE(testing::Message() << m << "x" << b.size << "x" << k << " pairs: " << f.in_pairs
                                  << " transposed: " << is_transposed);
  const auto memory = [](std::int64_t words) {
    return std::vector<float>(static_cast<std::size_t>(words), 7.0f);
  };
  std::vector<float> rows = memory(k * pitch), pairs = memory(k * width);
  std::vector<float> narrow = memory(a.count * (a.size + 64));
  std::vector<float> columns = memory(a.size * (a.count + 64)), c = memory(m * width);
  for (std::int64_t r = 0; r < k; ++r) {
    std::fill_n(rows.data() + r * pitch, pitch, 0.0f);
    f.load(DType::bf16, b.stored.data() + r * b.apart, b.size, rows.data() + r * pitch);
  }
  TileFactors::Left left = f.left(a.values.data(), a.count, a.size, a.apart, narrow.data());
  if (is_transposed) left = f.left_transposed(left, a.count, a.size, columns.data());
  std::fill(c.begin(), c.end(), 0x1p-140f);  // subnormal
  f.multiply({m, width, f.words(k), left.pitch, width, width}, left.words,
             f.right(rows.data(), k, pitch, pairs.data()), c.data(), true);
  for (std::int64_t i = 0; i < m; ++i) {
    for (std::int64_t j = 0; j < b.size; ++j) {
      double sum = 0x1p-140, terms = 0x1p-140;
      for (std::int64_t p = 0; p < k; ++p) {
        const double term = (is_transposed ? a.at(p, i) : a.at(i, p)) * b.at(p, j);
        sum += term, terms += std::fabs(term);
      }
      const double bound = double(k + 2) * (0x1p-24 * terms + 0x1p-150);
      const double found = double(c[static_cast<std::size_t>(i * width + j)]);
      ASSERT_NEAR(found, sum, bound) << i << ", " << j;
    }
  }
}

std::vector<TileFactors> forms() {
  if (!has_pair_product()) return {TileFactors{false}};
  return {TileFactors{false}, TileFactors{true}};
}

// Sizes at the borders of panels, of pairs, and of the part that stays in the cache.
TEST(TileFactors, MultiplyAtEveryBorder) {
  for (const TileFactors& f : forms()) {
    for (const std::int64_t m : {1, 4, 5, 9, 13}) {
      for (const std::int64_t n : {1, 16, 33, 64, 80}) {
        for (const std::int64_t k : {1, 2, 31, 300}) {
          expect_product(f, {m, k, 1, 1}, {k, n, 1, 2}, false);
        }
      }
    }
    for (const std::int64_t k : {1, 2, 17, 64}) {
      expect_product(f, {k, 37, 1, 1}, {k, 48, 1, 2}, true);
    }
  }
}

// The instruction takes subnormal factors and products as 0.
TEST(TileFactors, KeepSubnormalNumbers) {
  for (const TileFactors& f : forms()) {
    for (const float scale : {0x1p-50f, 0x1p-60f, 0x1p-66f, 0x1p-72f}) {
      expect_product(f, {9, 40, scale, 1}, {40, 48, scale, 2}, false);
    }
    expect_product(f, {9, 40, 1, 1}, {40, 48, 0x1p-130f, 2}, false);
    expect_product(f, {9, 40, 0x1p-130f, 1}, {40, 48, 0x1p100f, 2}, false);
  }
}

// A subnormal number in one row changes the bits of no other row.
TEST(TileFactors, RowsDoNotDependOnEachOther) {
  const Rows b(40, 48, 1, 2);
  for (const TileFactors& f : forms()) {
    std::vector<float> results[2], pairs(40 * 48), rows(40 * 48), narrow(9 * 64);
    for (std::int64_t r = 0; r < b.count; ++r) {
      f.load(DType::bf16, b.stored.data() + r * b.apart, b.size, rows.data() + r * f.words(b.size));
    }
    for (std::vector<float>& c : results) {
      Rows a(9, 40, 1, 1);
      if (&c != results) a.values[0] = 0x1p-130f;
      c.resize(9 * 48);
      const auto left = f.left(a.values.data(), a.count, a.size, a.apart, narrow.data());
      f.multiply({9, 48, f.words(40), left.pitch, 48, 48}, left.words,
                 f.right(rows.data(), 40, f.words(48), pairs.data()), c.data());
      c.erase(c.begin(), c.begin() + 48);
    }
    EXPECT_EQ(results[0], results[1]);
  }
}

}  // namespace
}  // namespace opbench
