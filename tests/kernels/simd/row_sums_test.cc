#include "kernels/simd/row_sums.h"

#include <gtest/gtest.h>

#include <map>
#include <numeric>

#include "kernels/simd/cube.h"
#include "tensor/tensor.h"
#include "tests/support.h"

namespace opbench {
namespace {

constexpr DType kDTypes[] = {DType::fp32, DType::fp16, DType::bf16};

std::vector<std::int64_t> lengths() {
  std::vector<std::int64_t> all(std::begin(kLengths), std::end(kLengths));
  for (const std::int64_t around : {48, 64, 128, 2048, 2112}) {
    for (const std::int64_t by : {-1, 0, 1}) all.push_back(around + by);
  }
  return all;
}

// The values stored as `dtype`, in memory that ends with the last element.
std::vector<std::byte> stored(DType dtype, const std::vector<float>& values) {
  std::vector<std::byte> memory(values.size() * size_of(dtype));
  store_floats(dtype, values.data(), std::ssize(values), memory.data());
  return memory;
}

// Small whole numbers, whose sums are exact in every order.
std::vector<float> whole_numbers(std::int64_t count) {
  const std::vector<std::uint8_t> bytes = noise(static_cast<std::size_t>(count), 3);
  std::vector<float> values(bytes.size());
  for (std::size_t i = 0; i < bytes.size(); ++i) values[i] = float(bytes[i] % 16) - 7;
  return values;
}

float exact_sum(std::span<const float> values) {
  return std::accumulate(values.begin(), values.end(), 0.0f);
}

}  // namespace

TEST(RowSums, AreExactForWholeNumbers) {
  on_every_isa([] {
    for (const DType dtype : kDTypes) {
      for (const std::int64_t count : lengths()) {
        const std::int64_t rows = 5, step = count + 3;
        const std::vector<float> values = whole_numbers(rows * step - 3);
        const std::vector<std::byte> x = stored(dtype, values);
        std::vector<float> sums(rows, -1), halves(rows, -1);
        std::vector<double> doubles(rows, -1);
        sum_rows({dtype, x.data(), rows, count, step}, 1, sums.data());
        sum_rows({dtype, x.data(), rows, count, step}, 0.5f, halves.data());
        sum_rows_in_fp64({dtype, x.data(), rows, count, step}, doubles.data());
        for (std::int64_t r = 0; r < rows; ++r) {
          const auto i = static_cast<std::size_t>(r);
          const float expected =
              exact_sum(std::span(values).subspan(i * std::size_t(step), std::size_t(count)));
          EXPECT_EQ(sums[i], expected) << name(dtype) << " " << count;
          EXPECT_EQ(halves[i], expected / 2) << name(dtype) << " " << count;
          EXPECT_EQ(doubles[i], double(expected)) << name(dtype) << " " << count;
        }
      }
    }
  });
}

TEST(RowSums, OfColumns) {
  on_every_isa([] {
    for (const DType dtype : kDTypes) {
      for (const std::int64_t count : {0, 1, 3, 15, 16, 17, 33, 64, 257}) {
        for (const std::int64_t rows : {0, 1, 3, 4, 5, 9}) {
          const std::vector<float> values = whole_numbers(rows * count);
          std::vector<float> sums(static_cast<std::size_t>(count), 100), expected = sums;
          for (std::size_t i = 0; i < values.size(); ++i) {
            expected[i % expected.size()] += values[i];
          }
          add_rows({dtype, stored(dtype, values).data(), rows, count, count}, 1, sums.data());
          EXPECT_EQ(sums, expected) << name(dtype) << " " << rows << "x" << count;
        }
      }
    }
  });
}

// The header defines the order: element i goes to lane i % 64, then upper halves are added to lower
// ones.
TEST(RowSums, AddInTheOrderOfTheLanes) {
  for (const std::int64_t count : lengths()) {
    std::vector<float> values;
    for (const std::uint8_t byte : noise(static_cast<std::size_t>(count), 9)) {
      values.push_back(float(byte) / 7 - 15);
    }
    float lanes[64] = {};
    for (std::size_t i = 0; i < values.size(); ++i) lanes[i % 64] += values[i];
    for (std::size_t half_of = 32; half_of > 0; half_of /= 2) {
      for (std::size_t k = 0; k < half_of; ++k) lanes[k] += lanes[k + half_of];
    }
    on_every_isa([&] {
      float sum = -1;
      sum_rows({DType::fp32, values.data(), 1, count, 0}, 1, &sum);
      EXPECT_EQ(sum, lanes[0]) << count;
    });
  }
}

TEST(RowSums, GoOnWhereTheLanesAre) {
  on_every_isa([] {
    for (const DType dtype : kDTypes) {
      float lanes[kSumLanes] = {};
      lanes[2] = 10;
      const std::vector<float> values = whole_numbers(64 + 3);
      add_to_sum_lanes(dtype, stored(dtype, values).data(), std::ssize(values), 2, lanes);
      for (std::size_t i = 0; i < kSumLanes; ++i) {
        float expected = 2 * values[i] + (i == 2 ? 10.0f : 0.0f);
        if (i < 3) expected += 2 * values[64 + i];
        EXPECT_EQ(lanes[i], expected) << name(dtype) << " " << i;
      }
    }
  });
}

}  // namespace opbench
