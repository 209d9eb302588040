#include "tests/judge/measure_values.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace opbench {
namespace {

void expect_same(const std::vector<double>& a, const std::vector<double>& b) {
  ASSERT_EQ(a.size(), b.size());
  for (std::size_t i = 0; i < a.size(); ++i) {
    EXPECT_TRUE(a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i])))
        << "number " << i << ": " << a[i] << " and " << b[i];
  }
}

}  // namespace

std::vector<float> some_values(std::size_t count, std::uint64_t seed, float centre) {
  std::vector<float> values(count);
  std::uint64_t state = seed * 0x9E3779B97F4A7C15 + 1;
  for (float& value : values) {
    state ^= state << 13;
    state ^= state >> 7;
    state ^= state << 17;
    value = centre + (static_cast<float>(state >> 40) - 0x1p23F) * 0x1p-20F;
  }
  return values;
}

std::vector<float> nearby_values(std::vector<float> values, std::uint64_t seed) {
  const std::vector<float> errors = some_values(values.size(), seed);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (i % 3 != 0) values[i] += errors[i] * 0x1p-14F;
    if (i % 101 == 100) values[i] = 0;
    if (i % 211 == 210) values[i] = -values[i];
  }
  return values;
}

std::vector<double> exact_numbers(const PairMeasures& measures) {
  const PairStats& s = measures.stats;
  const MsaccucmpSums& p = measures.sums;
  std::vector<double> numbers = {s.worst_abs.actual,
                                 s.worst_abs.expected,
                                 s.worst_abs.error,
                                 s.worst_rel.actual,
                                 s.worst_rel.expected,
                                 s.worst_rel.error,
                                 s.max_ulp,
                                 p.max_diff,
                                 p.max_rel,
                                 p.x_min,
                                 p.x_max,
                                 p.y_min,
                                 p.y_max};
  for (const std::int64_t count :
       {s.count, s.nan_mismatches, s.inf_mismatches, s.first_mismatch, s.unequal, s.inside,
        s.beyond_limit, s.worst_abs.index, s.worst_rel.index, s.histogram.exact, p.count,
        measures.booleans.count, measures.booleans.x_true, measures.booleans.y_true,
        measures.booleans.both_true}) {
    numbers.push_back(static_cast<double>(count));
  }
  for (const ValueCounts& side : {s.actual, s.expected}) {
    numbers.insert(numbers.end(), {side.min, side.max, double(side.nan), double(side.positive_inf),
                                   double(side.negative_inf), double(side.zero)});
  }
  for (std::size_t i = 0; i < ErrorHistogram::kBuckets; ++i) {
    numbers.push_back(double(s.histogram.counts[i]));
  }
  return numbers;
}

std::vector<double> summed_numbers(const PairMeasures& measures) {
  const PairStats& s = measures.stats;
  const MsaccucmpSums& p = measures.sums;
  return {s.sum_abs,
          s.sum_rel,
          static_cast<double>(s.sum_sq),
          static_cast<double>(s.sum_expected_sq),
          static_cast<double>(s.sum_actual_sq),
          static_cast<double>(s.sum_product),
          s.sum_ulp,
          p.xx,
          p.yy,
          p.xy,
          p.diff_sq,
          p.diff_abs,
          p.rel,
          p.x_mean,
          p.y_mean,
          p.x_spread,
          p.y_spread,
          p.kl_x,
          p.kl_y,
          p.kl_log};
}

bool same_bits(const PairMeasures& a, const PairMeasures& b) {
  std::vector<double> left = exact_numbers(a), right = exact_numbers(b);
  const std::vector<double> left_sums = summed_numbers(a), right_sums = summed_numbers(b);
  left.insert(left.end(), left_sums.begin(), left_sums.end());
  right.insert(right.end(), right_sums.begin(), right_sums.end());
  return a.is_done == b.is_done && a.error == b.error &&
         std::memcmp(left.data(), right.data(), left.size() * sizeof(double)) == 0;
}

void expect_close(const PairMeasures& a, const PairMeasures& b, double relative) {
  expect_same(exact_numbers(a), exact_numbers(b));
  const std::vector<double> left = summed_numbers(a), right = summed_numbers(b);
  // Means, products and logarithms cancel, so the difference is compared with the size of their
  // terms.
  const double scale = std::sqrt(std::max(a.sums.xx, a.sums.yy)) + std::fabs(a.sums.kl_x);
  for (std::size_t i = 0; i < left.size(); ++i) {
    if (std::isfinite(left[i]) && std::isfinite(right[i])) {
      const double size = std::max(std::fabs(left[i]), scale);
      EXPECT_NEAR(left[i], right[i], relative * size) << "sum " << i;
    } else {
      expect_same({left[i]}, {right[i]});
    }
  }
}

}  // namespace opbench
