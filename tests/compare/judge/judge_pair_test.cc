#include "compare/judge/judge_pair.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "tests/compare/comparison_support.h"

namespace opbench {
namespace {

using compare_tests::entry;
using compare_tests::measured;
using compare_tests::standard;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

constexpr float kNan = NAN, kInf = HUGE_VALF;

/// Two entries of one shape, to name places.
struct Pair {
  DumpEntry actual, expected;

  explicit Pair(const Dims& shape)
      : actual(entry("Op", "1", "output/y", DeviceType::npu, shape)),
        expected(entry("Op", "1", "output/y", DeviceType::cuda, shape)) {}
  TensorMatch match() const { return {&actual, &expected}; }
};

PairJudgement judged(const std::string& typed, const std::vector<float>& actual,
                     const std::vector<float>& expected) {
  const Pair pair({static_cast<std::int64_t>(actual.size())});
  const Standard held_to = standard(typed);
  return judge_pair(pair.match(), measured(actual, expected, held_to).stats, held_to);
}

// 1 to n, of which `off` are larger by `error`.
std::vector<float> rising(int count, int off = 0, float error = 0) {
  std::vector<float> values;
  for (int i = 0; i < count; ++i) {
    values.push_back(static_cast<float>(i + 1) + (i < off ? error : 0));
  }
  return values;
}

TEST(JudgePair, MixedPassesWhatIsClose) {
  // 1 + 2^-11 is inside of 2^-16 + 2^-10 * 1.
  const PairJudgement close = judged("mixed", {1 + 0x1p-11f, 2}, {1, 2});
  EXPECT_EQ(close.verdict, PairVerdict::passed);
  EXPECT_EQ(close.reason, "");
}

TEST(JudgePair, MixedNeeds99Percent) {
  // An error of 0.005 is outside of 2^-16 + 2^-10 (0.00099) at 1 and below the limit of 0.01.
  EXPECT_EQ(judged("mixed", rising(100, 1, 0.005f), rising(100)).verdict, PairVerdict::passed);
  // At 2 it is outside of 0.00197 too, so 98 of 100 are inside.
  const PairJudgement two = judged("mixed", rising(100, 2, 0.005f), rising(100));
  EXPECT_EQ(two.verdict, PairVerdict::failed);
  EXPECT_EQ(two.reason, "98% inside tolerance, 99% needed; worst at [1]: 2.00500011, expected 2");
}

TEST(JudgePair, MixedAllowsNothingBeyondTheLimit) {
  const PairJudgement one = judged("mixed", rising(1000, 1, 0.5f), rising(1000));
  EXPECT_EQ(one.verdict, PairVerdict::failed);
  EXPECT_EQ(one.reason,
            "1 of 1000 elements off by more than 0.01 and 32 ULP; worst at [0]: 1.5, expected 1");
}

TEST(JudgePair, MixedForgivesLargeErrorsOfFewUlp) {
  // 2^20 + 1 is 8 ULP (of 1/8) from 2^20: an error of 1 that fp32 hardly sees.
  EXPECT_EQ(judged("mixed", {0x1p20f + 1, 1}, {0x1p20f, 1}).verdict, PairVerdict::passed);
}

TEST(JudgePair, ASharesDigitsTellItFromTheOneThatIsNeeded) {
  std::vector<float> expected(100001, 1.0f), actual = expected;
  for (std::size_t i = 0; i < 1001; ++i) actual[i] += 0.009f;
  const PairJudgement judgement = judged("mixed", actual, expected);
  EXPECT_EQ(judgement.verdict, PairVerdict::failed);
  // 99000 / 100001
  EXPECT_THAT(judgement.reason, HasSubstr("98.9990"));
}

TEST(JudgePair, ExactFindsOneUlp) {
  EXPECT_EQ(judged("exact", {1, 2, 3}, {1, 2, 3}).verdict, PairVerdict::passed);
  const PairJudgement off = judged("exact", {1, 2, std::nextafter(3.0f, 4.0f)}, {1, 2, 3});
  EXPECT_EQ(off.verdict, PairVerdict::failed);
  EXPECT_EQ(off.reason, "1 of 3 elements differ; worst at [2]: 3.00000024, expected 3");
}

TEST(JudgePair, StatisticalLimitsTheMean) {
  // fp32: mean 2^-13 = 0.000122. Each is off by a thousandth.
  const PairJudgement mean = judged("statistical", {1.001f, 2.002f}, {1, 2});
  EXPECT_EQ(mean.verdict, PairVerdict::failed);
  EXPECT_THAT(mean.reason, HasSubstr("mean relative error 0.001, at most 0.0001221 allowed"));
}

TEST(JudgePair, StatisticalLimitsTheMaximum) {
  // One of 1000 is off by 0.01, which is above 10 * 2^-13 = 0.00122; the mean is 0.00001.
  const PairJudgement one = judged("statistical", rising(1000, 1, 0.01f), rising(1000));
  EXPECT_EQ(one.verdict, PairVerdict::failed);
  EXPECT_THAT(one.reason, HasSubstr("maximum relative error 0.01, at most 0.001221 allowed"));
  EXPECT_THAT(one.reason, HasSubstr("worst at [0]: 1.00999999, expected 1"));
}

TEST(JudgePair, StatisticalTakesZerosRelativeToTheFloor) {
  // 1e-12 at an expected 0: 1e-12 / 1e-7 = 1e-5, no astronomic number.
  EXPECT_EQ(judged("statistical", {1e-12f, 1, 2}, {0, 1, 2}).verdict, PairVerdict::passed);
}

TEST(JudgePair, Cosine) {
  EXPECT_EQ(judged("cosine", {1, 2, 3}, {2, 4, 6}).verdict, PairVerdict::passed);
  // cos of (1,0) and (1,1) is 1/sqrt(2).
  const PairJudgement wrong = judged("cosine", {1, 0}, {1, 1});
  EXPECT_EQ(wrong.verdict, PairVerdict::failed);
  EXPECT_THAT(wrong.reason, HasSubstr("cosine 0.707106781, at least 0.99 needed"));
}

TEST(JudgePair, PrecIsAbsolute) {
  EXPECT_EQ(judged("prec=0.25", {1.25f, 2}, {1, 2}).verdict, PairVerdict::passed);
  const PairJudgement wrong = judged("prec=0.25", {1.5f, 2}, {1, 2});
  EXPECT_EQ(wrong.verdict, PairVerdict::failed);
  EXPECT_EQ(wrong.reason, "1 of 2 elements off by more than 0.25; worst at [0]: 1.5, expected 1");
}

TEST(JudgePair, NanAndInfMustCoincideInAllStandards) {
  for (const char* typed : {"mixed", "exact", "statistical", "cosine", "prec=1000"}) {
    SCOPED_TRACE(typed);
    EXPECT_EQ(judged(typed, {1, kNan, 2, -kInf}, {1, kNan, 2, -kInf}).verdict, PairVerdict::passed);
    const PairJudgement nan = judged(typed, {1, kNan, 2}, {1, 3, 2});
    EXPECT_EQ(nan.verdict, PairVerdict::failed);
    EXPECT_EQ(nan.reason, "1 NaN on one side only, first at [1]: NaN, expected 3");
    const PairJudgement both = judged(typed, {kInf, 1, 2}, {-kInf, kNan, 2});
    EXPECT_EQ(both.verdict, PairVerdict::failed);
    EXPECT_EQ(both.reason, "1 NaN and 1 Inf on one side only, first at [0]: inf, expected -inf");
  }
}

TEST(JudgePair, MistrustsWhatProvesLittle) {
  EXPECT_EQ(judged("mixed", {}, {}).reason, "no elements to compare");
  EXPECT_EQ(judged("mixed", {kNan, kInf}, {kNan, kInf}).reason, "nothing but NaN and Inf expected");
  EXPECT_EQ(judged("exact", {2, 2}, {2, 2}).reason, "constant 2 expected");
  std::vector<float> zeros(100, 0.0f);
  zeros[0] = 1;
  EXPECT_EQ(judged("mixed", zeros, zeros).reason, "99% zeros expected");
  for (const auto& values : {std::vector<float>{}, {kNan, kInf}, {2, 2}, zeros}) {
    EXPECT_EQ(judged("mixed", values, values).verdict, PairVerdict::mistrusted);
  }
  EXPECT_EQ(judged("mixed", {2}, {2}).verdict, PairVerdict::passed);
}

TEST(JudgePair, PlacesAreOfTheShape) {
  const Pair pair({2, 3, 4});
  std::vector<float> expected = rising(24), actual = expected;
  actual[17] = 0;  // 17 = 1*12 + 1*4 + 1
  const Standard exact = standard("exact");
  const PairJudgement judgement =
      judge_pair(pair.match(), measured(actual, expected, exact).stats, exact);
  EXPECT_EQ(judgement.reason, "1 of 24 elements differ; worst at [1,1,1]: 0, expected 18");
  EXPECT_EQ(index_text({}, 0), "[]");
  EXPECT_EQ(index_text({1}, 0), "[0]");
  EXPECT_EQ(index_text({2, 0}, 0), "[0,0]");
}

TEST(JudgePair, CrossCheckComparesErrorsOfBoth) {
  const Pair pair({4});
  const Standard limits = standard("cross-check=L1");
  const std::vector<float> golden = {1, 2, 3, 4};
  const PairStats gpu = measured({1.001f, 2, 3, 4}, golden, limits).stats;
  const CrossCheck same = judge_cross_check(pair.match(), gpu, gpu, limits);
  EXPECT_EQ(same.judgement.verdict, PairVerdict::passed);
  EXPECT_DOUBLE_EQ(same.mare, 1);
  EXPECT_DOUBLE_EQ(same.rmse, 1);
  // Twice the error passes L0's limits (10, 2, 2) and breaks L1's mean (1.5).
  const PairStats npu = measured({1.002f, 2, 3, 4}, golden, limits).stats;
  const CrossCheck wrong = judge_cross_check(pair.match(), npu, gpu, limits);
  EXPECT_EQ(wrong.judgement.verdict, PairVerdict::failed);
  EXPECT_THAT(wrong.judgement.reason, HasSubstr("mean relative error is 2 times the GPU's, at most "
                                                "1.5 allowed"));
  EXPECT_THAT(wrong.judgement.reason, HasSubstr("worst at [0]: 1.00199997, expected 1"));
  EXPECT_EQ(judge_cross_check(pair.match(), gpu, npu, limits).judgement.verdict,
            PairVerdict::passed);
}

TEST(JudgePair, CrossCheckHoldsNobodyToBeMoreExactThanARounding) {
  const Pair pair({4});
  const Standard limits = standard("cross-check=L2");
  const std::vector<float> golden = {1, 2, 3, 4};
  const PairStats exact = measured(golden, golden, limits).stats;
  const CrossCheck none = judge_cross_check(pair.match(), exact, exact, limits);
  EXPECT_EQ(none.judgement.verdict, PairVerdict::passed);
  EXPECT_EQ(none.mare, 0);
  // An ULP at 1 is 2^-23, twice the rounding 2^-24; the mean over four is half of it.
  const PairStats ulp = measured({1 + 0x1p-23f, 2, 3, 4}, golden, limits).stats;
  const CrossCheck one = judge_cross_check(pair.match(), ulp, exact, limits);
  EXPECT_DOUBLE_EQ(one.mare, 2);
  EXPECT_DOUBLE_EQ(one.mere, 0.5);
  EXPECT_EQ(one.judgement.verdict, PairVerdict::passed);
  const PairStats two = measured({1 + 0x1p-22f, 2, 3, 4}, golden, limits).stats;
  EXPECT_EQ(judge_cross_check(pair.match(), two, exact, limits).judgement.verdict,
            PairVerdict::failed);
}

TEST(JudgePair, CrossCheckOfIntegersIsExactAndNanMustCoincideWithTheGolden) {
  const Pair pair({3});
  const Standard whole = standard("cross-check", DType::int32);
  const PairStats off = measured({1, 2, 4}, {1, 2, 3}, whole).stats;
  const PairJudgement same_error = judge_cross_check(pair.match(), off, off, whole).judgement;
  EXPECT_EQ(same_error.verdict, PairVerdict::failed);
  EXPECT_THAT(same_error.reason, HasSubstr("1 of 3 elements differ"));
  const Standard limits = standard("cross-check");
  const PairStats nan = measured({1, 2, kNan}, {1, 2, 3}, limits).stats;
  const PairJudgement both = judge_cross_check(pair.match(), nan, nan, limits).judgement;
  EXPECT_EQ(both.verdict, PairVerdict::failed);
  EXPECT_THAT(both.reason, HasSubstr("against the golden file"));
}

TEST(Comparable, NamesWhatIsMissing) {
  const Pair pair({3});
  const SideNames sides{"npu.h5", "gpu.h5"};
  EXPECT_EQ(why_not_compared(pair.match(), sides), "");
  EXPECT_EQ(why_not_compared({&pair.actual, nullptr}, sides), "only in npu.h5");
  EXPECT_EQ(why_not_compared({nullptr, &pair.expected}, sides), "only in gpu.h5");
}

TEST(Comparable, NamesWhatCannotBeRead) {
  Pair pair({3});
  const SideNames sides{"npu.h5", "gpu.h5"};
  pair.expected.problem = "chunk 3 is damaged";
  EXPECT_EQ(why_not_compared(pair.match(), sides), "gpu.h5: chunk 3 is damaged");
  pair.expected.problem.clear();
  pair.actual.stored = StoredType::none;
  pair.actual.stored_name = "string";
  EXPECT_EQ(why_not_compared(pair.match(), sides),
            "npu.h5: its elements are string, which are no numbers");
}

TEST(Comparable, CodesOfDtypesWithoutAMeaningHereAreNotCompared) {
  Pair pair({3});
  pair.actual.attributes.data_type = 17;
  pair.actual.stored = StoredType::i8;
  EXPECT_EQ(why_not_compared(pair.match(), {"npu.h5", "gpu.h5"}),
            "npu.h5: DataType 17 (float8_e4m3fn) is not supported");
  pair.actual.stored = StoredType::f32;  // widened by the dumper
  EXPECT_EQ(why_not_compared(pair.match()), "");
  pair.actual.attributes.data_type = 14;
  EXPECT_THAT(why_not_compared(pair.match()), HasSubstr("complex64"));
  pair.actual.attributes.data_type = 77;  // unknown: compared as it is stored
  EXPECT_EQ(why_not_compared(pair.match()), "");
}

TEST(Comparable, ElementsMustBeAsMany) {
  Pair pair({3, 4});
  pair.expected.desc.shape = {3, 5};
  EXPECT_EQ(why_not_compared(pair.match()), "12 elements against 15 (shapes 3x4 and 3x5)");
}

TEST(Comparable, WarnsOfShapesAndDtypesThatDiffer) {
  Pair pair({3, 4});
  EXPECT_THAT(pair_warnings(pair.match()), IsEmpty());
  pair.expected.desc.shape = {12};
  EXPECT_EQ(why_not_compared(pair.match()), "");
  pair.expected.desc.dtype = DType::fp16;
  EXPECT_THAT(pair_warnings(pair.match()),
              ElementsAre("shapes differ: 3x4 against 12, compared in row-major order",
                          "dtypes differ: fp32 against fp16"));
  EXPECT_EQ(judged_dtype(pair.match()), DType::fp16);
  pair.expected.desc = describe(DType::int64, {3, 4});
  pair.actual.warning = "attribute Stride is [1], which does not fit";
  EXPECT_THAT(pair_warnings(pair.match(), {"npu.h5", "gpu.h5"}),
              ElementsAre("dtypes differ: fp32 against int64, compared as numbers",
                          "npu.h5: attribute Stride is [1], which does not fit"));
  EXPECT_EQ(judged_dtype(pair.match()), DType::fp32);
}

}  // namespace
}  // namespace opbench
