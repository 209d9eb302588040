#include "harness/check/verdict.h"

#include <gmock/gmock.h>

namespace opbench::check {
namespace {

using testing::HasSubstr;

OpenedVariant variant(Status status, double max_ulp = 2, const char* bits = "1") {
  return {"v", status, "", Accuracy{max_ulp}, bits};
}

CheckedItem met(const OpenedVariant* base, const OpenedVariant* current, bool expect_open) {
  CheckedItem item;
  EXPECT_EQ(judge_accuracy(item, base, current), expect_open);
  return item;
}

}  // namespace

TEST(CheckVerdict, ALostVerdictIsARegression) {
  const OpenedVariant right = variant(Status::passed), wrong = variant(Status::failed),
                      broken = variant(Status::errored);
  for (const OpenedVariant* now : {&wrong, &broken}) {
    const CheckedItem item = met(&right, now, false);
    EXPECT_EQ(item.verdict, ChangeVerdict::error);
    EXPECT_TRUE(item.is_regression);
  }
}

TEST(CheckVerdict, AVariantThatIsGoneIsARegression) {
  const OpenedVariant right = variant(Status::passed), skipped = variant(Status::skipped),
                      wrong = variant(Status::failed);
  EXPECT_EQ(met(&right, nullptr, false).verdict, ChangeVerdict::gone);
  EXPECT_TRUE(met(&right, nullptr, false).is_regression);
  EXPECT_TRUE(met(&right, &skipped, false).is_regression);
  EXPECT_FALSE(met(&wrong, nullptr, false).is_regression) << "was wrong before";
}

TEST(CheckVerdict, WhatIsNewOrRightAgainIsNoRegression) {
  const OpenedVariant right = variant(Status::passed), wrong = variant(Status::failed);
  for (const CheckedItem& item :
       {met(nullptr, &right, false), met(&wrong, &right, false), met(nullptr, &wrong, false)}) {
    EXPECT_EQ(item.verdict, ChangeVerdict::new_);
    EXPECT_FALSE(item.is_regression);
  }
}

TEST(CheckVerdict, WrongInBothIsNotCompared) {
  const OpenedVariant wrong = variant(Status::failed), broken = variant(Status::errored);
  EXPECT_EQ(met(&wrong, &wrong, false).verdict, ChangeVerdict::incomparable);
  const CheckedItem item = met(&broken, &broken, false);
  EXPECT_EQ(item.verdict, ChangeVerdict::error);
  EXPECT_TRUE(item.is_unfinished);
  EXPECT_FALSE(item.is_regression);
}

// At most 1.5 x 2 + 1 = 4 ULP are allowed.
TEST(CheckVerdict, AnErrorMayGrowByHalfAndOneUlp) {
  const OpenedVariant before = variant(Status::passed, 2), four = variant(Status::passed, 4),
                      five = variant(Status::passed, 4.5), first = variant(Status::passed, 0),
                      one = variant(Status::passed, 1);
  met(&before, &four, true);
  met(&first, &one, true);
  const CheckedItem item = met(&before, &five, false);
  EXPECT_EQ(item.verdict, ChangeVerdict::error);
  EXPECT_TRUE(item.is_regression);
  EXPECT_THAT(item.evidence, HasSubstr("from 2 to 4.5 ULP"));
}

// A matrix product with a cancelling element: 3e5 ULP there in both builds, and 62 times the error
// elsewhere. The limits: mean 1.5 x 0.5 + 1, tolerance and error 1.5 times plus an epsilon of the
// scale.
TEST(CheckVerdict, WhatCancelsHidesNoGrownError) {
  OpenedVariant before{"v", Status::passed, "", Accuracy{3e5, 0.5, 1e-5, 1, 1e-6, 0}, "1"};
  before.epsilon = 0x1p-23;
  OpenedVariant after = before;
  after.accuracy->max_abs = 62e-5;
  after.accuracy->min_tolerance = 62e-6;
  const CheckedItem item = met(&before, &after, false);
  EXPECT_EQ(item.verdict, ChangeVerdict::error);
  EXPECT_TRUE(item.is_regression);
  EXPECT_THAT(item.evidence, HasSubstr("its least tolerance that would pass grew from 1e-06 to "
                                       "6.2e-05; up to 1.619e-06 are allowed"));
  after = before;
  after.accuracy->min_tolerance = 1.6e-6;  // 1.5e-6 + 2^-23
  after.accuracy->max_abs = 1.6e-5;
  met(&before, &after, true);
  after.accuracy->max_abs = 62e-5;  // for a large value: 2^-23 of 62e-5 / 1.6e-6
  EXPECT_THAT(met(&before, &after, false).evidence,
              HasSubstr("its largest absolute error grew from 1e-05 to 0.00062"));
  after = before;
  after.accuracy->mean_ulp = 1.8;
  EXPECT_THAT(met(&before, &after, false).evidence, HasSubstr("its mean error grew"));
  after.accuracy->mean_ulp = 1.75;
  met(&before, &after, true);
  after.accuracy->inside_share = 0.99;
  EXPECT_THAT(met(&before, &after, false).evidence,
              HasSubstr("share of elements outside the tolerance grew from 0 to 0.01"));
}

TEST(CheckVerdict, OtherBitsOfWhatHasOneRightResultAreAnError) {
  const OpenedVariant before = variant(Status::passed, 0, "1");
  OpenedVariant after = variant(Status::passed, 0, "2");
  after.is_exact = true;
  const CheckedItem item = met(&before, &after, false);
  EXPECT_EQ(item.verdict, ChangeVerdict::error);
  EXPECT_TRUE(item.is_regression);
  EXPECT_THAT(item.evidence, HasSubstr("the result of its operator is defined bit for bit"));
}

TEST(CheckVerdict, OtherBitsFailWhereAsked) {
  const OpenedVariant before = variant(Status::passed, 2, "1"),
                      after = variant(Status::passed, 2, "2");
  CheckedItem item;
  EXPECT_FALSE(judge_accuracy(item, &before, &after, true));
  EXPECT_EQ(item.verdict, ChangeVerdict::error);
  EXPECT_TRUE(judge_accuracy(item, &before, &before, true));
}

TEST(CheckVerdict, OtherBitsAreANotice) {
  const OpenedVariant before = variant(Status::passed, 2, "1"),
                      after = variant(Status::passed, 2, "2");
  EXPECT_THAT(met(&before, &after, true).notices,
              testing::ElementsAre(HasSubstr("the bits of the results changed")));
  EXPECT_TRUE(met(&before, &before, true).notices.empty());
}

TEST(CheckVerdict, OneMoreConversionOfAnyKindIsARegression) {
  const Conversions before{2, 4096, 1, 3};
  for (const Conversions& more : {Conversions{3, 4096, 1, 3}, Conversions{2, 4097, 1, 3},
                                  Conversions{2, 4096, 2, 3}, Conversions{2, 4096, 1, 4}}) {
    OpenedVariant base = variant(Status::passed), current = base;
    base.conversions = before;
    current.conversions = more;
    CheckedItem item;
    EXPECT_FALSE(judge_conversions(item, base, current));
    EXPECT_EQ(item.verdict, ChangeVerdict::error);
    EXPECT_TRUE(item.is_regression);
    EXPECT_THAT(item.evidence, testing::StartsWith("converts more: "));
    EXPECT_TRUE(judge_conversions(item, base, base));
    EXPECT_TRUE(judge_conversions(item, current, base)) << "less is well";
  }
}

TEST(CheckVerdict, ConversionsAreNamedWithBothCounts) {
  OpenedVariant base = variant(Status::passed), current = base;
  base.conversions = {2, 4096, 1, 3};
  current.conversions = {3, 6144, 0, 3};
  CheckedItem item;
  judge_conversions(item, base, current);
  EXPECT_EQ(item.evidence, "converts more: 3 TransData, was 2; 6144 bytes of TransData, was 4096");
  EXPECT_THAT(item.notices, testing::ElementsAre("0 Cast, was 1"));
}

TEST(CheckVerdict, WhatHasNoConversionsIsNotJudgedByThem) {
  OpenedVariant base = variant(Status::passed), current = base;
  current.conversions = {3, 6144, 0, 3};
  CheckedItem item;
  EXPECT_TRUE(judge_conversions(item, base, current));
  EXPECT_TRUE(judge_conversions(item, base, base));
}

TEST(CheckVerdict, TheNextCommandOfAStepNamesItsFile) {
  CheckedItem item;
  item.case_key = "unit[N=1,fp16]";
  item.variant = "one index_select";
  item.context = ContextSource{"c.yaml", "unit", DType::fp16, {{"N", 1}}};
  item.verdict = ChangeVerdict::slower;
  EXPECT_EQ(next_command(item, {"/old/opbench", ""}, {}),
            "opbench check --against /old/opbench --cases c.yaml --filter '^unit$' --set N=1 "
            "--dtype fp16 --variant 'one index_select' --threads 1");
}

TEST(CheckVerdict, NothingInANextCommandMeansAnythingToAShell) {
  CheckedItem item;
  item.case_key = "unit[fp32]";
  item.variant = "it's `id`";
  item.context = ContextSource{"cases/sp ace/$(id).yaml", "a.b", DType::fp32, {}};
  item.verdict = ChangeVerdict::gone;
  EXPECT_EQ(next_command(item, {"./my builds/opbench", ""}, {}),
            "'./my builds/opbench' --cases 'cases/sp ace/$(id).yaml' --filter '^a\\.b$' "
            "--dtype fp32 --variant 'it'\\''s `id`' --threads 1");
}

TEST(CheckVerdict, NextCommands) {
  CheckedItem item;
  item.case_key = "relu[8,fp32]";
  item.variant = "relu";
  item.threads = 2;
  item.verdict = ChangeVerdict::slower;
  EXPECT_EQ(next_command(item, {"/old/opbench", ""}, {"--cold"}),
            "opbench check --against /old/opbench --case 'relu[8,fp32]' --variant relu --threads 2 "
            "--cold");
  item.verdict = ChangeVerdict::error;
  EXPECT_EQ(next_command(item, {"/old/opbench", ""}, {}),
            "opbench --case 'relu[8,fp32]' --variant relu --threads 2");
  item.verdict = ChangeVerdict::gone;
  EXPECT_EQ(next_command(item, {"/old/opbench", ""}, {}),
            "/old/opbench --case 'relu[8,fp32]' --variant relu --threads 2");
  EXPECT_EQ(next_command(item, {"/old/opbench", "/old/my cases"}, {}),
            "cd '/old/my cases' && /old/opbench --case 'relu[8,fp32]' --variant relu --threads 2");
  item.verdict = ChangeVerdict::slower;
  EXPECT_EQ(next_command(item, {"/old/opbench", "/old"}, {}),
            "opbench check --against /old/opbench --against-directory /old --case 'relu[8,fp32]' "
            "--variant relu --threads 2");
  item.verdict = ChangeVerdict::same;
  EXPECT_EQ(next_command(item, {"/old/opbench", ""}, {}), "");
}

}  // namespace opbench::check
