#include "judge/large_pair.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>

#include "tensor/error.h"
#include "tests/compare/pair_support.h"

namespace opbench {
namespace {

Tolerance with_scale(bool follows) {
  Tolerance tolerance;
  tolerance.rtol = 0.001;
  tolerance.atol = 0.01;
  tolerance.limit = 0.1;
  tolerance.follows_scale = follows;
  return tolerance;
}

/// The measures of a pass over elements of the pair.
PassMeasures pass_over(LargePair& large, const std::vector<float>& actual,
                       const std::vector<float>& expected) {
  const auto scratch = std::make_unique<BlockScratch>();
  return measure_pass(large.pass,
                      {&large.rules, 0, std::ssize(actual), actual.data(), expected.data()},
                      large.scales, *scratch);
}

LargePair begun(const std::vector<float>& actual, const std::vector<float>& expected,
                const Tolerance& tolerance) {
  LargePair large;
  large.begin(float_pair(actual, expected, tolerance));
  return large;
}

const std::vector<float> kActual = {1, 2, 4}, kExpected = {1, 2, 3};

}  // namespace

// The first pass finds the scale of the expected values. Then follow all metrics, then the
// divergence.
TEST(LargePair, IsReadForItsScaleFirst) {
  LargePair large = begun(kActual, kExpected, with_scale(true));
  EXPECT_EQ(large.pass, Pass::scale);
  large.merge(pass_over(large, kActual, kExpected));
  ASSERT_EQ(large.end_pass(true), Pass::metrics);
  EXPECT_NEAR(large.rules.scale, 3, 3.0 / 16) << "three quarters of 1, 2, 3 are up to 3";
  EXPECT_NEAR(large.rules.tolerance.atol, 0.03, 0.03 / 16);
  EXPECT_FALSE(large.rules.tolerance.follows_scale);
  large.begin_pass(Pass::metrics);
  large.merge(pass_over(large, kActual, kExpected));
  ASSERT_EQ(large.end_pass(true), Pass::divergence);
  EXPECT_EQ(large.measures.stats.sum_abs, 1);
  large.begin_pass(Pass::divergence);
  large.merge(pass_over(large, kActual, kExpected));
  EXPECT_EQ(large.end_pass(true), std::nullopt);
  EXPECT_GT(large.measures.sums.kl_x, 0);
  EXPECT_TRUE(std::isfinite(kl_divergence(large.measures.sums)));
}

TEST(LargePair, IsReadOnceWhereNothingElseIsWanted) {
  LargePair large = begun(kActual, kExpected, with_scale(false));
  EXPECT_EQ(large.pass, Pass::metrics);
  large.merge(pass_over(large, kActual, kExpected));
  EXPECT_EQ(large.end_pass(false), std::nullopt);
  EXPECT_EQ(large.rules.tolerance.atol, 0.01);
}

// NaN makes the divergence NaN, so a second pass is not needed.
TEST(LargePair, WithoutADivergenceIsNotReadAgain) {
  const std::vector<float> actual = {1, std::numeric_limits<float>::quiet_NaN(), 4};
  LargePair large = begun(actual, kExpected, with_scale(false));
  large.merge(pass_over(large, actual, kExpected));
  EXPECT_EQ(large.end_pass(true), std::nullopt);
  EXPECT_TRUE(std::isnan(kl_divergence(large.measures.sums)));
}

// Each hole counts as a chunk of zeros.
TEST(LargePair, HolesAreChunksOfZeros) {
  LargePair large = begun(kActual, kExpected, with_scale(false));
  const auto scratch = std::make_unique<BlockScratch>();
  large.merge_hole(*scratch);
  large.merge_hole(*scratch);
  EXPECT_EQ(large.measures.stats.count, 2 * kMeasureChunk);
  EXPECT_EQ(large.measures.stats.actual.zero, 2 * kMeasureChunk);
  EXPECT_EQ(large.measures.stats.unequal, 0);
}

TEST(LargePair, KnowsAHole) {
  TensorPair pair = float_pair(kActual, kExpected);
  const ElementRange chunk{0, kMeasureChunk};
  EXPECT_FALSE(is_hole(pair, chunk)) << "nobody knows";
  pair.actual.is_hole = [](ElementRange) { return true; };
  pair.expected.is_hole = [](ElementRange) { return true; };
  EXPECT_TRUE(is_hole(pair, chunk));
  EXPECT_FALSE(is_hole(pair, {0, kMeasureChunk - 1})) << "not a whole chunk";
  pair.expected.is_hole = [](ElementRange) -> bool { throw Error("damaged"); };
  EXPECT_FALSE(is_hole(pair, chunk));
  pair.expected.is_hole = [](ElementRange) { return false; };
  EXPECT_FALSE(is_hole(pair, chunk));
}

// Another process receives every bit. A truncated text is refused.
TEST(LargePair, MeasuresComeThroughAnotherProcess) {
  LargePair large = begun(kActual, kExpected, with_scale(false));
  large.merge(pass_over(large, kActual, kExpected));
  const PairMeasures measures = measures_of(std::move(large.measures));
  EXPECT_TRUE(measures.is_done);
  const std::string text = pack_all(measures);
  Unpacker whole(text);
  const auto read = whole.get<PairMeasures>();
  EXPECT_TRUE(whole.is_empty());
  EXPECT_EQ(read.stats.sum_abs, 1);
  EXPECT_EQ(read.stats.worst_abs.index, 2);
  EXPECT_EQ(read.stats.histogram.counts, measures.stats.histogram.counts);
  EXPECT_EQ(read.stats.histogram.exact, 2);
  EXPECT_EQ(read.sums.xy, 1 + 4 + 12);
  EXPECT_TRUE(read.is_done);
  for (const std::size_t part : {std::size_t{0}, text.size() / 2, text.size() - 1}) {
    Unpacker cut(std::string_view(text).substr(0, part));
    EXPECT_THROW(cut.get<PairMeasures>(), RunError) << part;
  }
}

TEST(LargePair, APairThatFailedSaysWhy) {
  const std::string text = pack_all(failed_measures("cannot be read"));
  Unpacker packed(text);
  const auto read = packed.get<PairMeasures>();
  EXPECT_EQ(read.error, "cannot be read");
  EXPECT_TRUE(read.is_done);
  EXPECT_EQ(read.stats.count, 0);
}

}  // namespace opbench
