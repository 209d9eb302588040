#include <gmock/gmock.h>

#include <algorithm>
#include <atomic>
#include <new>

#include "judge/measure_chunk.h"
#include "tensor/buffer.h"
#include "tensor/error.h"
#include "tests/compare/pair_support.h"
#include "tests/judge/measure_values.h"

namespace opbench {
namespace {

using testing::HasSubstr;

TensorPair noisy_pair(std::size_t count, std::uint64_t seed) {
  const std::vector<float> expected = some_values(count, seed);
  return float_pair(nearby_values(expected, seed + 1), expected);
}

constexpr std::size_t kBlock = kMeasureBlock, kChunk = kMeasureChunk;

// Small pairs, pairs of a block, of a chunk and of several chunks, in mixed order.
std::vector<TensorPair> mixed_pairs() {
  std::vector<TensorPair> pairs;
  std::uint64_t seed = 1;
  for (const std::size_t count :
       {std::size_t{4}, 2 * kChunk + 3, std::size_t{0}, kChunk + 1, kBlock + 1, std::size_t{1},
        kChunk, 3 * kChunk, kChunk - 1, std::size_t{7}}) {
    pairs.push_back(noisy_pair(count, ++seed));
  }
  for (int i = 0; i < 600; ++i)
    pairs.push_back(noisy_pair(static_cast<std::size_t>(i % 9), ++seed));
  return pairs;
}

}  // namespace

TEST(MeasurePairs, TheSameBitsForAnyNumberOfThreads) {
  const std::vector<TensorPair> pairs = mixed_pairs();
  std::vector<PairMeasures> one;
  with_threads(1, [&] { one = measure_all(pairs); });
  for (const int threads : {2, 7}) {
    std::vector<PairMeasures> many;
    with_threads(threads, [&] { many = measure_all(pairs); });
    ASSERT_EQ(many.size(), one.size());
    for (std::size_t i = 0; i < one.size(); ++i) {
      EXPECT_TRUE(one[i].is_done);
      EXPECT_EQ(one[i].stats.count, pairs[i].count);
      EXPECT_EQ(one[i].stats.finite_pairs(), pairs[i].count);
      EXPECT_TRUE(same_bits(one[i], many[i])) << "pair " << i << ", " << threads << " threads";
    }
  }
}

TEST(MeasurePairs, OnePairThatCannotBeReadDoesNotStopTheOthers) {
  std::vector<TensorPair> pairs = {noisy_pair(5, 1), noisy_pair(5, 2), noisy_pair(3 * kChunk, 3),
                                   noisy_pair(5, 4), noisy_pair(5, 5), noisy_pair(2 * kChunk, 6)};
  pairs[1].expected.read = [](ElementRange, void*) { throw RunError("cannot read b"); };
  const auto read = pairs[2].actual.read;
  pairs[2].actual.read = [read](ElementRange range, void* to) {
    if (range.first > 0) throw RunError("the file changed");
    read(range, to);
  };
  pairs[3].actual.read = [](ElementRange, void*) { throw std::bad_alloc(); };
  pairs[4].actual.stored = StoredType::none;
  const std::vector<PairMeasures> results = measure_all(pairs);
  EXPECT_EQ(results[0].error, "");
  EXPECT_EQ(results[1].error, "cannot read b");
  EXPECT_EQ(results[2].error, "the file changed");
  EXPECT_EQ(results[3].error, "not enough memory");
  EXPECT_THAT(results[4].error, HasSubstr("no known type"));
  EXPECT_EQ(results[5].error, "");
  EXPECT_EQ(results[5].stats.count, 2 * std::int64_t{kChunk});
  for (const PairMeasures& result : results) EXPECT_TRUE(result.is_done);
}

TEST(MeasurePairs, APairThatCannotBeAskedForIsAnErrorOfItsOwn) {
  std::vector<PairMeasures> results(3);
  measure_pairs(
      results.size(),
      [](std::size_t i) {
        if (i == 1) throw Error("no such pair");
        return noisy_pair(4, i);
      },
      {}, {}, [&](std::size_t i, PairMeasures&& found) { results[i] = std::move(found); });
  EXPECT_EQ(results[0].stats.count, 4);
  EXPECT_EQ(results[1].error, "no such pair");
  EXPECT_EQ(results[2].stats.count, 4);
}

TEST(MeasurePairs, NoPairsAndEmptyPairs) {
  EXPECT_TRUE(measure_all({}).empty());
  const PairMeasures empty = measure_one(float_pair({}, {}));
  EXPECT_TRUE(empty.is_done);
  EXPECT_EQ(empty.error, "");
  EXPECT_EQ(empty.stats.count, 0);
  EXPECT_EQ(empty.stats.inside_share(), 1);
  EXPECT_EQ(empty.sums.count, 0);
}

TEST(MeasurePairs, RefusesTooLittleMemory) {
  EXPECT_THROW(measure_all({noisy_pair(4, 1)}, {.memory_bytes = std::int64_t{1} << 20}), Error);
  EXPECT_THROW(measure_all({noisy_pair(4, 1)}, {.memory_bytes = -1}), Error);
}

// Elements are read in order, at most a chunk at a time. A pair of several chunks is read twice if
// the divergence is requested.
TEST(MeasurePairs, ReadsInChunksAndTwiceWhereAPairIsLarge) {
  for (const bool wants_kl : {false, true}) {
    std::vector<std::int64_t> firsts;
    TensorPair pair = noisy_pair(2 * kChunk + 3, 1);
    const auto read = pair.actual.read;
    pair.actual.read = [&](ElementRange range, void* to) {
      EXPECT_LE(range.count, kMeasureChunk);
      firsts.push_back(range.first);
      read(range, to);
    };
    measure_all({pair}, {.wants_kl = wants_kl});
    const std::int64_t chunk = kMeasureChunk;
    const std::vector<std::int64_t> once = {0, chunk, 2 * chunk};
    std::vector<std::int64_t> twice = once;
    twice.insert(twice.end(), once.begin(), once.end());
    EXPECT_EQ(firsts, wants_kl ? twice : once);
  }
}

// The first pass may make the divergence NaN, and the second pass unnecessary.
TEST(MeasurePairs, DoesNotReadTwiceForADivergenceThatIsNan) {
  std::vector<float> actual = some_values(2 * kChunk, 1);
  actual[kChunk + 5] = std::numeric_limits<float>::infinity();
  TensorPair pair = float_pair(actual, actual);
  int calls = 0;
  const auto read = pair.actual.read;
  pair.actual.read = [&](ElementRange range, void* to) {
    ++calls;
    read(range, to);
  };
  const PairMeasures measures = measure_one(pair);
  EXPECT_EQ(calls, 2);
  EXPECT_TRUE(std::isnan(kl_divergence(measures.sums)));
}

// The memory holds two chunks of both sides. At most two chunks are read and not yet measured. The
// third chunk takes the memory of the first.
TEST(MeasurePairs, KeepsToItsMemory) {
  const std::int64_t two_tokens = std::int64_t{40} << 20;
  std::vector<void*> places;
  std::vector<double> data(8 * kChunk, 1.5);
  TensorPair pair = pair_of(side_of(StoredType::f64, DType::fp64, data),
                            side_of(StoredType::f64, DType::fp64, data), data.size());
  const auto read = pair.actual.read;
  pair.actual.read = [&](ElementRange range, void* to) {
    if (std::find(places.begin(), places.end(), to) == places.end()) places.push_back(to);
    read(range, to);
  };
  with_threads(7, [&] { measure_all({pair}, {.memory_bytes = two_tokens}); });
  EXPECT_LE(places.size(), 2U);
}

TEST(MeasurePairs, ReportsEveryByteThatIsRead) {
  std::int64_t last = 0;
  std::size_t last_pair = 0;
  const auto progress = [&](std::size_t index, std::int64_t bytes) {
    EXPECT_GE(bytes, last);
    last = bytes;
    last_pair = index;
  };
  measure_all({noisy_pair(5, 1), noisy_pair(2 * kChunk, 2), noisy_pair(7, 3)}, {},
              {.progress = progress});
  // The large pair's expected values are read for their scale. Both sides are read for the metrics
  // and for the divergence.
  EXPECT_EQ(last, std::int64_t{8} * (5 + 7) + std::int64_t{4 + 2 * 8} * 2 * kMeasureChunk);
  EXPECT_LE(last_pair, 2U);
}

TEST(MeasurePairs, StopsAfterWhatWasBegun) {
  for (const int threads : {1, 2, 7}) {
    std::vector<TensorPair> pairs;
    for (std::uint64_t i = 0; i < 5; ++i) pairs.push_back(noisy_pair(kChunk + kChunk / 2, i));
    const PairMeasures whole = measure_one(pairs[0]);
    std::atomic<bool> is_stopped = false;
    std::vector<PairMeasures> results;
    // The run is stopped after the first chunk is read.
    const MeasureHooks hooks{.progress = [&](std::size_t, std::int64_t) { is_stopped = true; },
                             .stop = [&] { return is_stopped.load(); }};
    with_threads(threads, [&] { results = measure_all(pairs, {}, hooks); });
    EXPECT_TRUE(same_bits(results[0], whole));
    for (std::size_t i = 1; i < pairs.size(); ++i) EXPECT_FALSE(results[i].is_done) << i;
  }
}

// The file refuses further reads once the run is stopped: no error of the pair.
TEST(MeasurePairs, AReadThatIsCutOffEndsTheWork) {
  for (const int threads : {1, 7}) {
    std::atomic<bool> is_stopped = false;
    std::vector<TensorPair> pairs = {noisy_pair(3 * kChunk, 1), noisy_pair(5, 2)};
    pairs[0].expected.read = [&](ElementRange range, void*) {
      is_stopped = range.first > 0;
      if (is_stopped) throw RunError("interrupted");
    };
    std::vector<PairMeasures> results;
    with_threads(threads, [&] {
      results = measure_all(pairs, {}, {.stop = [&] { return is_stopped.load(); }});
    });
    for (const PairMeasures& result : results)
      EXPECT_FALSE(result.is_done || !result.error.empty());
  }
}

// Digests of what is read are computed in parallel: a thread that reads must not begin other parts.
TEST(MeasurePairs, ReadsMayWorkInParallel) {
  std::vector<TensorPair> pairs;
  for (std::uint64_t i = 0; i < 20; ++i) pairs.push_back(noisy_pair(kChunk + i, i));
  for (TensorPair& pair : pairs) {
    pair.actual.read = [read = pair.actual.read](ElementRange range, void* to) {
      read(range, to);
      parallel_blocks(16, [&](std::int64_t) { checksum(to, 1 << 16); });
    };
  }
  with_threads(7, [&] {
    for (const PairMeasures& result : measure_all(pairs)) EXPECT_EQ(result.error, "");
  });
}

TEST(MeasurePairs, AnErrorOfTheSinkEndsTheWork) {
  const std::vector<TensorPair> pairs = mixed_pairs();
  const auto measure = [&] {
    measure_pairs(
        pairs.size(), [&](std::size_t i) { return pairs[i]; }, {}, {},
        [](std::size_t, PairMeasures&&) { throw RunError("no room"); });
  };
  for (const int threads : {1, 7})
    with_threads(threads, [&] { EXPECT_THROW(measure(), RunError); });
}

TEST(MeasurePairs, StopsBeforeAnythingIsBegun) {
  const auto results = measure_all({noisy_pair(5, 1)}, {}, {.stop = [] { return true; }});
  EXPECT_FALSE(results[0].is_done);
}

}  // namespace opbench
