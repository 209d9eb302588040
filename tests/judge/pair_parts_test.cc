#include "judge/pair_parts.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <vector>

#include "tensor/error.h"
#include "tests/compare/pair_support.h"

namespace opbench {
namespace {

std::vector<float> values(std::size_t count, std::uint32_t seed) {
  std::vector<float> all(count);
  std::uint32_t state = seed;
  for (float& value : all) {
    state = state * 1664525U + 1013904223U;
    value = static_cast<float>(static_cast<std::int32_t>(state)) * 0x1p-31F;
  }
  return all;
}

// The measured numbers that reports use, with every bit.
std::string text_of(const PairMeasures& measures) {
  const PairStats& s = measures.stats;
  return fmt::format(
      "{} {} {} {} {} {:a} {:a} {:a} {:a} {:a} {:a} {:a} {} {} {} {} {} {:a} {:a} {:a}",
      measures.error, measures.is_done, s.count, s.unequal, s.inside, s.sum_abs, s.sum_rel,
      double(s.sum_sq), double(s.sum_product), s.sum_ulp, s.min_tolerance, s.scale,
      s.worst_abs.index, s.worst_rel.index, s.first_mismatch, s.histogram.exact,
      s.histogram.counts.total(), measures.sums.kl_x, measures.sums.kl_log, measures.sums.x_spread);
}

TensorPair unreadable_pair(std::int64_t count) {
  TensorPair pair = float_pair({}, {});
  pair.count = count;
  pair.expected.read = [](ElementRange range, void*) {
    if (range.first > 0) throw Error(fmt::format("cannot read at {}", range.first));
  };
  pair.actual.read = [](ElementRange, void*) {};
  return pair;
}

std::vector<TensorPair> all_kinds() {
  std::vector<TensorPair> pairs;
  for (const std::size_t count : {std::size_t{0}, std::size_t{1}, std::size_t{5000},
                                  std::size_t{kMeasureChunk} + 1, std::size_t{2'500'000}}) {
    const std::vector<float> expected = values(count, 7);
    std::vector<float> actual = expected;
    for (std::size_t i = 0; i < count; i += 3) actual[i] *= 1.001F;
    Tolerance tolerance = mixed_tolerance(DType::fp32);
    pairs.push_back(float_pair(actual, expected, tolerance));
    tolerance.follows_scale = true;
    pairs.push_back(float_pair(actual, expected, tolerance));
    if (count == 0) continue;
    actual[count / 2] = std::numeric_limits<float>::quiet_NaN();
    pairs.push_back(float_pair(actual, expected, tolerance));
  }
  pairs.push_back(unreadable_pair(30'000'000));
  return pairs;
}

// Moves all parts that there are now to the end of `waiting`.
void add_parts(PairParts& parts, std::vector<std::string>& waiting) {
  while (const auto part = parts.next()) waiting.push_back(pack_all(*part));
}

// Parts in the order in which `next` picks them.
std::vector<PairMeasures> measure_in_parts(const std::vector<TensorPair>& pairs,
                                           const std::function<std::size_t(std::size_t)>& next,
                                           const MeasureOptions& options) {
  std::vector<PairMeasures> all(pairs.size());
  std::vector<std::string> waiting;
  const PairParts::FindPair find = [&](std::size_t i) { return pairs[i]; };
  PairParts parts(pairs.size(), find, options, kRankPart, [&](std::size_t i, PairMeasures&& found) {
    EXPECT_FALSE(all[i].is_done);
    all[i] = std::move(found);
  });
  for (add_parts(parts, waiting); !waiting.empty(); add_parts(parts, waiting)) {
    const std::size_t i = next(waiting.size());
    const std::string part = std::move(waiting[i]);
    waiting.erase(waiting.begin() + static_cast<std::ptrdiff_t>(i));
    const std::string found = measure_part(part, find, options);
    Unpacker packed(found);
    const auto measured = packed.get<PairPart>();
    parts.take(measured, packed.get<PartMeasures>());
  }
  return all;
}

TEST(PairParts, FindWhatTheWholeFindsInAnyOrder) {
  const std::vector<TensorPair> pairs = all_kinds();
  for (const bool wants_kl : {false, true}) {
    const MeasureOptions options{.wants_kl = wants_kl};
    const std::vector<PairMeasures> whole = measure_all(pairs, options);
    const auto first = measure_in_parts(
        pairs, [](std::size_t) { return 0; }, options);
    const auto last = measure_in_parts(
        pairs, [](std::size_t n) { return n - 1; }, options);
    for (std::size_t i = 0; i < pairs.size(); ++i) {
      EXPECT_EQ(text_of(first[i]), text_of(whole[i])) << i;
      EXPECT_EQ(text_of(last[i]), text_of(whole[i])) << i;
    }
  }
}

// A known hole has the measures of the zeros that reading it gives.
TEST(PairParts, HolesAreMeasuredAsWhatTheyRead) {
  std::vector<float> expected(static_cast<std::size_t>(5 * kMeasureChunk), 0.0F);
  for (std::size_t i = 0; i < 1000; ++i) expected[i] = 1 + static_cast<float>(i);
  expected.back() = 2;
  std::vector<float> actual = expected;
  actual[7] = 8.5F;
  for (const bool follows_scale : {false, true}) {
    Tolerance tolerance = mixed_tolerance(DType::fp32);
    tolerance.follows_scale = follows_scale;
    TensorPair pair = float_pair(actual, expected, tolerance);
    const std::string read = text_of(measure_one(pair));
    int unread = 0;
    pair.actual.is_hole = [](ElementRange) { return true; };
    pair.expected.is_hole = [&](ElementRange range) {
      const bool is_hole = range.first > 0 && range.first < 4 * kMeasureChunk;
      unread += is_hole;
      return is_hole;
    };
    EXPECT_EQ(text_of(measure_one(pair)), read);
    EXPECT_GE(unread, 3);
    const auto parts = measure_in_parts({pair}, [](std::size_t) { return 0; }, {});
    EXPECT_EQ(text_of(parts[0]), read);
  }
}

// A terabyte of holes would need a million messages, each for a chunk.
TEST(PairParts, HolesAreInNoPart) {
  constexpr std::int64_t kChunks = 100;
  TensorPair pair = float_pair({}, {}, mixed_tolerance(DType::fp32));
  pair.count = kChunks * kMeasureChunk + 5;
  std::atomic<int> chunks_read = 0;
  pair.expected.read = pair.actual.read = [&](ElementRange range, void* to) {
    ++chunks_read;
    std::fill_n(static_cast<float*>(to), range.count, range.first == 0 ? 1.0F : 0.0F);
  };
  pair.expected.is_hole = pair.actual.is_hole = [](ElementRange range) {
    return range.first > 0 && range.first != 50 * kMeasureChunk;
  };
  const std::string whole = text_of(measure_one(pair));
  chunks_read = 0;
  const auto measured = measure_in_parts({pair}, [](std::size_t n) { return n - 1; }, {});
  EXPECT_EQ(text_of(measured[0]), whole);
  // The first, the middle and the last chunk: the expected values for their scale, and both sides
  // in both passes.
  EXPECT_EQ(chunks_read, 3 * (1 + 2 + 2));

  pair.count = kChunks * kMeasureChunk;
  pair.expected.is_hole = pair.actual.is_hole = [](ElementRange) { return true; };
  std::vector<std::string> parts;
  PairMeasures found;
  const PairParts::FindPair find = [&](std::size_t) { return pair; };
  PairParts of_holes(1, find, {}, kRankPart,
                     [&](std::size_t, PairMeasures&& measures) { found = std::move(measures); });
  add_parts(of_holes, parts);
  EXPECT_THAT(parts, testing::IsEmpty());
  EXPECT_EQ(found.stats.count, pair.count);
  EXPECT_EQ(text_of(found), text_of(measure_one(pair)));
}

// The thread that reads a file that is gone since it was listed reports it.
TEST(PairParts, HolesThatCannotBeAskedForAreRead) {
  TensorPair pair = unreadable_pair(30'000'000);
  const std::string read = text_of(measure_one(pair));
  pair.expected.is_hole = pair.actual.is_hole = [](ElementRange) -> bool { throw Error("gone"); };
  EXPECT_EQ(text_of(measure_one(pair)), read);
  EXPECT_EQ(text_of(measure_in_parts({pair}, [](std::size_t) { return 0; }, {})[0]), read);
}

TEST(PairParts, ThoseThatAreDamagedAreRefused) {
  const PairParts::FindPair find = [](std::size_t) { return float_pair({1}, {1}); };
  EXPECT_THROW(measure_part("", find, {}), Error);
  EXPECT_THROW(measure_part(std::string(5, '\0'), find, {}), Error);
}

}  // namespace
}  // namespace opbench
