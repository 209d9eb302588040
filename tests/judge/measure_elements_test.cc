// Checks vector code against the definitions, one element at a time, and against long double.

#include "judge/measure_elements.h"

#include <gtest/gtest.h>

#include <cmath>
#include <memory>

#include "judge/compare_values.h"
#include "judge/standards.h"
#include "tests/compare/msaccucmp/msaccucmp_definition.h"
#include "tests/compare/pair_support.h"
#include "tests/judge/measure_values.h"
#include "tests/support.h"
#include "tests/support/non_finite.h"

namespace opbench {
namespace {

using Floats = std::vector<float>;

// The definition, element by element.
PairMeasures by_definition(const Floats& actual, const Floats& expected, DType dtype,
                           const Tolerance& tolerance) {
  const ValueKind kind{StoredType::f32, dtype};
  const auto count = static_cast<std::int64_t>(actual.size());
  const std::vector<double> a(actual.begin(), actual.end()), e(expected.begin(), expected.end());
  PairMeasures measures;
  PairRules rules = pair_rules(kind, kind, tolerance);
  set_scale(rules, scale_of(DType::fp32, expected.data(), count));
  measures.stats = measure_elements(rules, 0, count, a.data(), e.data());
  measures.sums = measure_msaccucmp(count, actual.data(), expected.data());
  set_kl(measures.sums,
         has_no_divergence(measures.sums)
             ? no_divergence()
             : measure_kl(kl_scales(measures.sums), count, actual.data(), expected.data()));
  return measures;
}

void expect_definition(const Floats& actual, const Floats& expected, DType dtype = DType::fp32,
                       double relative = 1e-12) {
  const Tolerance tolerance = mixed_tolerance(dtype);
  const TensorPair pair =
      pair_of(side_of(StoredType::f32, dtype, actual), side_of(StoredType::f32, dtype, expected),
              actual.size(), tolerance);
  const PairMeasures wanted = by_definition(actual, expected, dtype, tolerance);
  on_every_isa([&] { expect_close(measure_one(pair), wanted, relative); });
}

// Values of every magnitude and sign. Their errors range from 0 to Inf.
Floats any_bits(std::size_t count, std::uint64_t seed) {
  const std::vector<std::uint8_t> bytes = noise(count * sizeof(float), seed);
  Floats values(count);
  if (count > 0) std::memcpy(values.data(), bytes.data(), bytes.size());
  return values;
}

Floats finite(Floats values) {
  for (float& value : values) value = std::isfinite(value) ? value : 0;
  return values;
}

}  // namespace

TEST(MeasureBlock, AgreesWithTheDefinitionsAtEverySize) {
  for (const std::size_t count : kPairSizes) {
    SCOPED_TRACE(count);
    const Floats expected = some_values(count, count + 1);
    expect_definition(nearby_values(expected, count + 2), expected);
  }
}

TEST(MeasureBlock, CountsUnitsOfEveryFloatingDType) {
  for (const DType dtype : {DType::fp64, DType::fp16, DType::bf16, DType::int32}) {
    SCOPED_TRACE(name(dtype));
    const Floats expected = some_values(1003, 5);
    expect_definition(nearby_values(expected, 6), expected, dtype);
    expect_definition(finite(any_bits(1003, 7)), finite(any_bits(1003, 8)), dtype);
  }
}

TEST(MeasureBlock, AgreesWhereNumbersAreLargeSmallOrSubnormal) {
  for (const float scale : {0x1p100F, 0x1p120F, 0x1p-60F, 0x1p-130F, 0x1p-146F}) {
    SCOPED_TRACE(scale);
    Floats expected = some_values(777, 3), actual = nearby_values(expected, 4);
    for (float& value : expected) value *= scale;
    for (float& value : actual) value *= scale;
    expect_definition(actual, expected);
  }
  expect_definition(finite(any_bits(5000, 1)), finite(any_bits(5000, 2)));
}

TEST(MeasureBlock, AgreesWithNanAndInfAtEveryPlace) {
  const Floats specials = {kNan, kInf, -kInf, 0.0F, -0.0F, 1.5F};
  for (const std::size_t count :
       {std::size_t{1}, std::size_t{17}, std::size_t{kMeasureBlock + 5}}) {
    const std::size_t step = count < 100 ? 1 : count / 3;
    for (std::size_t at = 0; at < count; at += step) {
      for (const float a : specials) {
        for (const float e : specials) {
          SCOPED_TRACE(testing::Message() << a << ", " << e << " at " << at << " of " << count);
          Floats expected = some_values(count, 9), actual = nearby_values(expected, 10);
          actual[at] = a;
          expected[at] = e;
          expect_definition(actual, expected);
        }
      }
    }
  }
}

TEST(MeasureBlock, AgreesWhereEverythingIsNanOrInf) {
  expect_definition(Floats(40, kNan), Floats(40, kNan));
  expect_definition(Floats(40, kInf), Floats(40, -kInf));
  expect_definition(any_bits(5000, 11), any_bits(5000, 12));
}

TEST(MeasureBlock, AgreesForConstantsAndEqualTensors) {
  expect_definition(Floats(100, 0.3F), Floats(100, 0.3F));
  expect_definition(Floats(100, 0.0F), Floats(100, -0.0F));
  expect_definition(Floats(100, -5.0F), Floats(100, 7.0F));
  const Floats values = some_values(10000, 1);
  expect_definition(values, values);
}

// The mean is 10^6 times the deviation. Sums of squares alone would keep 4 digits.
TEST(MeasureBlock, SpreadDoesNotCancel) {
  Floats values(kMeasureBlock + 100);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1e6F + (i % 2 == 0 ? 1.0F : -1.0F);
  on_every_isa([&] {
    const MsaccucmpSums sums = measure_one(float_pair(values, values)).sums;
    EXPECT_DOUBLE_EQ(sums.x_mean, 1e6);
    EXPECT_NEAR(sums.x_spread, static_cast<double>(values.size()), 1e-8) << "each is off by 1";
  });
}

// The definition with 64 bits of mantissa, in one pass.
long double exact_divergence(const Floats& x, const Floats& y) {
  using Limits = std::pair<long double, long double>;
  const auto limits = [](const Floats& v) -> Limits {
    const auto [min, max] = std::minmax_element(v.begin(), v.end());
    return {*min, *max};
  };
  const auto scaled = [](float v, Limits l) -> long double {
    const long double n = l.first == l.second ? v : (v - l.first) / (l.second - l.first);
    return std::max(n, 0x1p-23L);
  };
  const Limits lx = limits(x), ly = limits(y);
  long double sum_x = 0, sum_y = 0, sum = 0;
  for (std::size_t i = 0; i < x.size(); ++i) {
    sum_x += scaled(x[i], lx);
    sum_y += scaled(y[i], ly);
  }
  for (std::size_t i = 0; i < x.size(); ++i) {
    const long double p = scaled(x[i], lx) / sum_x, q = scaled(y[i], ly) / sum_y;
    sum += p * std::log(p / q);
  }
  return sum;
}

TEST(MeasureBlock, DivergenceIsThatOfLongDouble) {
  const Floats base = some_values(20000, 21);
  Floats positive = base;
  for (float& value : positive) value = std::exp(value);
  const std::vector<std::pair<Floats, Floats>> pairs = {{nearby_values(base, 22), base},
                                                        {some_values(20000, 23), base},
                                                        {positive, base},
                                                        {base, positive},
                                                        {Floats(20000, 3e30F), positive},
                                                        {positive, Floats(20000, -1.0F)},
                                                        {base, base}};
  for (std::size_t i = 0; i < pairs.size(); ++i) {
    const auto wanted = static_cast<double>(exact_divergence(pairs[i].first, pairs[i].second));
    on_every_isa([&] {
      const auto sums = measure_one(float_pair(pairs[i].first, pairs[i].second)).sums;
      EXPECT_NEAR(kl_divergence(sums), wanted, 1e-12 * std::max(1.0, std::fabs(wanted)))
          << "pair " << i;
    });
  }
}

TEST(MeasureBlock, AgreesInPairsOfSeveralChunks) {
  const Floats expected = some_values(2 * kMeasureChunk + 3, 31);
  // Two million squares that are added one by one lose more digits than in blocks.
  expect_definition(nearby_values(expected, 32), expected, DType::fp32, 1e-11);
}

// The merged parts have the counts, maxima and indices of the whole, wherever it is cut.
TEST(MeasureBlock, MergingIsMeasuringTheWhole) {
  const std::size_t count = 2 * kMeasureBlock + 100;
  Floats expected = some_values(count, 41), actual = nearby_values(expected, 42);
  actual[5] = expected[5] = kNan;
  actual[kMeasureBlock + 3] = kInf;
  const ValueKind kind{StoredType::f32, DType::fp32};
  PairRules rules = pair_rules(kind, kind, mixed_tolerance(DType::fp32));
  set_scale(rules, 0.5);
  const auto scratch = std::make_unique<BlockScratch>();
  const auto part = [&](std::size_t first, std::size_t end) {
    return measure_chunk(
        {&rules, static_cast<std::int64_t>(first), static_cast<std::int64_t>(end - first),
         actual.data() + first, expected.data() + first},
        *scratch);
  };
  const ChunkMeasures whole = part(0, count);
  const auto as_measures = [](const ChunkMeasures& found) {
    PairMeasures measures;
    measures.stats = found.stats;
    measures.sums = found.sums;
    return measures;
  };
  for (const std::size_t cut :
       {std::size_t{0}, std::size_t{1}, std::size_t{5}, std::size_t{6}, std::size_t{kMeasureBlock},
        std::size_t{kMeasureBlock + 3}, std::size_t{kMeasureBlock + 4}, count - 1, count}) {
    SCOPED_TRACE(cut);
    ChunkMeasures merged = part(0, cut);
    merged.merge(part(cut, count));
    expect_close(as_measures(merged), as_measures(whole), 1e-12);
  }
}

TEST(MeasureBlock, SwappingTheSidesKeepsWhatIsSymmetric) {
  Floats expected = some_values(5000, 51), actual = nearby_values(expected, 52);
  actual[7] = kNan;
  expected[4100] = kInf;
  const PairMeasures there = measure_one(float_pair(actual, expected));
  const PairMeasures back = measure_one(float_pair(expected, actual));
  EXPECT_EQ(there.stats.nan_mismatches, back.stats.nan_mismatches);
  EXPECT_EQ(there.stats.inf_mismatches, back.stats.inf_mismatches);
  EXPECT_EQ(there.stats.first_mismatch, 7);
  EXPECT_EQ(back.stats.first_mismatch, 7);
  EXPECT_EQ(there.stats.unequal, back.stats.unequal);
  EXPECT_EQ(there.stats.worst_abs.index, back.stats.worst_abs.index);
  EXPECT_EQ(there.stats.worst_abs.error, back.stats.worst_abs.error);
  EXPECT_EQ(there.stats.sum_abs, back.stats.sum_abs);
  EXPECT_EQ(there.stats.sum_sq, back.stats.sum_sq);
  EXPECT_EQ(there.stats.max_ulp, back.stats.max_ulp);
  EXPECT_EQ(there.stats.sum_ulp, back.stats.sum_ulp);
  EXPECT_DOUBLE_EQ(there.stats.cosine(), back.stats.cosine());
  EXPECT_EQ(there.stats.histogram.counts, back.stats.histogram.counts);
  EXPECT_EQ(there.stats.actual.min, back.stats.expected.min);
}

// The first of equal errors is reported, wherever the blocks end.
TEST(MeasureBlock, WorstIsTheFirstOfEquals) {
  Floats expected(3 * kMeasureBlock, 2), actual = expected;
  for (const std::size_t at : {std::size_t{kMeasureBlock + 9}, std::size_t{kMeasureBlock + 12},
                               std::size_t{2 * kMeasureBlock}}) {
    actual[at] = 3;
  }
  on_every_isa([&] {
    const PairStats stats = measure_one(float_pair(actual, expected)).stats;
    EXPECT_EQ(stats.worst_abs.index, kMeasureBlock + 9);
    EXPECT_EQ(stats.worst_rel.index, kMeasureBlock + 9);
  });
}

}  // namespace opbench
