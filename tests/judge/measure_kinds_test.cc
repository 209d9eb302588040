// Tests pairs of every stored type and dtype.

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "tests/compare/pair_support.h"
#include "tests/judge/measure_values.h"
#include "tests/support.h"

namespace opbench {
namespace {

template <class T>
PairSide side(StoredType stored, DType dtype, const std::vector<int>& values) {
  std::vector<T> converted;
  for (const int value : values) converted.push_back(static_cast<T>(static_cast<float>(value)));
  return side_of(stored, dtype, converted);
}

// Small whole numbers in every type that a file may store.
std::vector<PairSide> every_side(const std::vector<int>& values) {
  return {side<half>(StoredType::f16, DType::fp16, values),
          side<float>(StoredType::f32, DType::fp32, values),
          side<double>(StoredType::f64, DType::fp64, values),
          side<std::int8_t>(StoredType::i8, DType::int8, values),
          side<std::int16_t>(StoredType::i16, DType::int16, values),
          side<std::int32_t>(StoredType::i32, DType::int32, values),
          side<std::int64_t>(StoredType::i64, DType::int64, values),
          side<std::uint8_t>(StoredType::u8, DType::uint8, values),
          side<std::uint16_t>(StoredType::u16, DType::int32, values),
          side<std::uint32_t>(StoredType::u32, DType::int64, values),
          side<std::uint64_t>(StoredType::u64, DType::int64, values)};
}

PairMeasures measured(const PairSide& actual, const PairSide& expected, std::size_t count) {
  return measure_one(pair_of(actual, expected, count));
}

}  // namespace

TEST(MeasureKinds, EveryStoredTypeAgainstEveryOther) {
  std::vector<int> actual, expected;
  for (int i = 0; i < 100; ++i) {
    actual.push_back(i);
    expected.push_back(i % 10 == 3 ? i + 2 : i);
  }
  // Ten pairs differ by 2.
  for (const PairSide& a : every_side(actual)) {
    for (const PairSide& e : every_side(expected)) {
      SCOPED_TRACE(testing::Message()
                   << static_cast<int>(a.stored) << " against " << static_cast<int>(e.stored));
      on_every_isa([&] {
        const PairMeasures measures = measured(a, e, 100);
        EXPECT_EQ(measures.error, "");
        EXPECT_EQ(measures.stats.unequal, 10);
        EXPECT_EQ(measures.stats.sum_abs, 20);
        EXPECT_EQ(measures.stats.worst_abs.index, 3);
        EXPECT_EQ(measures.stats.worst_abs.error, 2);
        EXPECT_EQ(measures.stats.worst_rel.index, 3) << "2/5";
        EXPECT_EQ(measures.stats.worst_rel.error, 0.4);
        EXPECT_EQ(measures.stats.histogram.counts[42], 10);
        EXPECT_EQ(measures.stats.sum_actual_sq, 328350) << "99*100*199/6";
        EXPECT_EQ(measures.sums.diff_sq, 40);
        EXPECT_EQ(measures.sums.xx, 328350);
        EXPECT_EQ(measures.sums.x_max, 99);
      });
    }
  }
}

// 200 is stored as -56. opbench measures 200, msaccucmp measures -56.
TEST(MeasureKinds, Uint8StoredAsInt8IsReadBackRight) {
  const std::vector<std::int8_t> actual = {-56, 1, 2}, expected = {100, 1, 2};
  const PairMeasures measures = measured(side_of(StoredType::i8, DType::uint8, actual),
                                         side_of(StoredType::i8, DType::uint8, expected), 3);
  EXPECT_EQ(measures.stats.actual.max, 200);
  EXPECT_EQ(measures.stats.worst_abs.error, 100);
  EXPECT_EQ(measures.stats.max_ulp, 100);
  EXPECT_EQ(measures.sums.x_min, -56);
  EXPECT_EQ(measures.sums.max_diff, 156);
}

TEST(MeasureKinds, AnyByteThatIsNotZeroIsTrue) {
  const std::vector<std::uint8_t> actual = {0, 1, 2, 255, 0}, expected = {0, 1, 1, 0, 1};
  const PairMeasures stored =
      measured(side_of(StoredType::boolean, DType::boolean, actual),
               side_of(StoredType::boolean, DType::boolean, expected), actual.size());
  EXPECT_EQ(stored.stats.unequal, 2);
  EXPECT_EQ(stored.stats.actual.max, 1);
  EXPECT_EQ(stored.booleans.count, 5);
  EXPECT_EQ(stored.booleans.x_true, 3);
  EXPECT_EQ(stored.booleans.y_true, 3);
  EXPECT_EQ(stored.booleans.both_true, 2);
  EXPECT_EQ(stored.sums.x_max, 1);
  // Dumps store bool as int8, which msaccucmp treats as numbers.
  const PairMeasures as_int8 = measured(side_of(StoredType::i8, DType::boolean, actual),
                                        side_of(StoredType::i8, DType::boolean, expected), 5);
  EXPECT_EQ(as_int8.stats.unequal, 2);
  EXPECT_EQ(as_int8.booleans.count, 0);
  EXPECT_EQ(as_int8.sums.x_max, 2);
  EXPECT_EQ(as_int8.sums.x_min, -1);
}

TEST(MeasureKinds, LargeIntegersAreComparedExactly) {
  const std::int64_t large = std::int64_t{1} << 53;
  const std::vector<std::int64_t> actual = {large + 1, 5, -large - 3}, expected = {large, 5, 7};
  const PairStats stats = measured(side_of(StoredType::i64, DType::int64, actual),
                                   side_of(StoredType::i64, DType::int64, expected), 3)
                              .stats;
  EXPECT_EQ(stats.unequal, 2);
  EXPECT_EQ(stats.sum_abs, static_cast<double>(large + 11));
  EXPECT_EQ(stats.histogram.counts[41], 1) << "an error of 1";
  EXPECT_EQ(stats.worst_abs.index, 2);
  EXPECT_EQ(stats.max_ulp, static_cast<double>(large + 10));
}

TEST(MeasureKinds, ExtremesOfSignedAndUnsignedDoNotWrap) {
  const std::vector<std::int64_t> actual = {std::numeric_limits<std::int64_t>::min()};
  const std::vector<std::uint64_t> expected = {std::numeric_limits<std::uint64_t>::max()};
  const PairStats stats = measured(side_of(StoredType::i64, DType::int64, actual),
                                   side_of(StoredType::u64, DType::int64, expected), 1)
                              .stats;
  EXPECT_EQ(stats.worst_abs.error, 0x1.8p64) << "2^64 - 1 + 2^63, rounded";
}

// fp32 does not hold these values. opbench measures them unchanged; msaccucmp rounds them.
TEST(MeasureKinds, DoublesKeepTheirDigits) {
  const std::vector<double> actual = {1 + 0x1p-40, 1e300, -1e-300}, expected = {1, 1e300, 0};
  const PairMeasures measures = measured(side_of(StoredType::f64, DType::fp64, actual),
                                         side_of(StoredType::f64, DType::fp64, expected), 3);
  EXPECT_EQ(measures.stats.unequal, 2);
  EXPECT_EQ(measures.stats.worst_abs.error, 0x1p-40);
  EXPECT_EQ(measures.stats.worst_abs.index, 0);
  EXPECT_EQ(measures.stats.histogram.counts[1], 1) << "2^-40";
  EXPECT_EQ(measures.stats.histogram.counts[0], 1) << "1e-300";
  EXPECT_EQ(measures.stats.actual.positive_inf, 0);
  EXPECT_EQ(measures.sums.x_max, std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(measures.sums.kl_x));
}

TEST(MeasureKinds, UnitsAreThoseOfTheCoarserDType) {
  const std::vector<float> actual = {1 + 0x1p-10F}, expected = {1 + 0x1p-13F};
  const auto units = [&](DType a, DType e) {
    return measured(side_of(StoredType::f32, a, actual), side_of(StoredType::f32, e, expected), 1)
        .stats.max_ulp;
  };
  EXPECT_EQ(units(DType::fp16, DType::fp32), 1) << "the expected value rounds to 1";
  EXPECT_EQ(units(DType::fp32, DType::fp32), 7 * 0x1p10);
  EXPECT_EQ(units(DType::fp32, DType::bf16), 0) << "both round to 1";
}

TEST(CommonDType, IsTheCoarserOfFloatsAndTheWiderOfIntegers) {
  EXPECT_EQ(common_dtype(DType::fp16, DType::fp32), DType::fp16);
  EXPECT_EQ(common_dtype(DType::fp32, DType::fp64), DType::fp32);
  EXPECT_EQ(common_dtype(DType::bf16, DType::fp16), DType::bf16);
  EXPECT_EQ(common_dtype(DType::int32, DType::int64), DType::int64);
  EXPECT_EQ(common_dtype(DType::boolean, DType::uint8), DType::uint8);
  EXPECT_EQ(common_dtype(DType::int64, DType::fp64), DType::fp64);
  for (const DType a : kAllDTypes) {
    for (const DType b : kAllDTypes) EXPECT_EQ(common_dtype(a, b), common_dtype(b, a));
  }
}

}  // namespace opbench
