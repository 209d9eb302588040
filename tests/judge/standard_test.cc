#include "judge/standard.h"

#include <gtest/gtest.h>

namespace opbench {
namespace {

/// Invented numbers for fp32. Other dtypes have no numbers.
Standards our_standards() {
  Standards standards;
  StandardNumbers& fp32 = standards.numbers[static_cast<std::size_t>(DType::fp32)];
  fp32.mixed.rtol = 0.1;
  fp32.mixed.atol = 0.2;
  fp32.statistical_mean = 0.01;
  fp32.statistical_max = 0.02;
  fp32.statistical_floor = 0.03;
  fp32.cosine = 0.99;
  fp32.cross_check = {RatioLimits{1, 2, 3}, RatioLimits{4, 5, 6}, RatioLimits{7, 8, 9}};
  fp32.cross_check_floor = 1e-7;
  fp32.cross_check_rounding = 1e-6;
  return standards;
}

Standard resolved(const std::string& typed, DType dtype = DType::fp32,
                  const Standards& standards = our_standards(), std::string_view op = "relu") {
  return standard_for(standards, parse_standard(typed), op, dtype);
}

StandardRule rule_for(std::string_view wanted) {
  StandardRule rule;
  rule.applies = [wanted](std::string_view op) { return op == wanted; };
  return rule;
}

}  // namespace

// Each kind has its own numbers for the dtype. Under `mixed`, floating dtypes follow the scale.
TEST(Standard, HasTheNumbersOfItsKind) {
  EXPECT_EQ(resolved("mixed").tolerance.rtol, 0.1);
  EXPECT_TRUE(resolved("mixed").tolerance.follows_scale);
  const Standard statistical = resolved("statistical");
  EXPECT_EQ(statistical.mean_relative, 0.01);
  EXPECT_EQ(statistical.max_relative, 0.02);
  EXPECT_EQ(statistical.tolerance.relative_floor, 0.03);
  EXPECT_EQ(resolved("cosine").least_cosine, 0.99);
  const Standard absolute = resolved("prec=0.5");
  EXPECT_EQ(absolute.tolerance.atol, 0.5);
  EXPECT_EQ(absolute.tolerance.limit, 0.5);
  EXPECT_EQ(absolute.tolerance.rtol, 0);
  EXPECT_FALSE(absolute.tolerance.follows_scale);
}

TEST(Standard, OfACrossCheckHasTheRatiosOfItsLevel) {
  EXPECT_EQ(resolved("cross-check=L0").ratios, (RatioLimits{1, 2, 3}));
  EXPECT_EQ(resolved("cross-check").ratios, (RatioLimits{4, 5, 6}));
  const Standard second = resolved("cross-check=L2");
  EXPECT_EQ(second.ratios, (RatioLimits{7, 8, 9}));
  EXPECT_EQ(second.rounding, 1e-6);
  EXPECT_EQ(second.tolerance.relative_floor, 1e-7);
  const Standard integers = resolved("cross-check", DType::int32);
  EXPECT_EQ(integers.rounding, 0) << "the golden values have to be met exactly";
  EXPECT_EQ(integers.tolerance, Tolerance{});
}

// A floating dtype without numbers in the standard must match exactly.
TEST(Standard, OfADtypeWithoutNumbersIsExact) {
  for (const char* typed : {"mixed", "statistical", "exact"}) {
    EXPECT_EQ(resolved(typed, DType::int32).kind, StandardKind::exact) << typed;
  }
  EXPECT_EQ(resolved("exact").kind, StandardKind::exact);
  EXPECT_EQ(resolved("prec=1", DType::int32).tolerance.atol, 1);
  Standards shared = our_standards();
  shared.numbers[static_cast<std::size_t>(DType::int32)].mixed.atol = 1;
  EXPECT_EQ(resolved("mixed", DType::int32, shared).kind, StandardKind::mixed);
  EXPECT_FALSE(resolved("mixed", DType::int32, shared).tolerance.follows_scale);
}

// Rules apply in their order, each to its operators and dtypes.
TEST(Standard, FollowsRulesOfItsOperator) {
  Standards standards = our_standards();
  const auto rtol = [](StandardNumbers& numbers) -> double& { return numbers.mixed.rtol; };
  StandardRule first = rule_for("softmax"), second = rule_for("softmax"), other = rule_for("sort");
  first.changes = {{{DType::fp32}, rtol, 0.3}};
  second.changes = {{{DType::fp32, DType::fp16}, rtol, 0.4}};
  other.standard = StandardChoice{StandardKind::exact};
  standards.rules = {first, second, other};
  EXPECT_EQ(resolved("mixed", DType::fp32, standards, "softmax").tolerance.rtol, 0.4);
  EXPECT_EQ(resolved("mixed", DType::fp32, standards, "relu").tolerance.rtol, 0.1);
  EXPECT_EQ(resolved("mixed", DType::fp16, standards, "softmax").tolerance.rtol, 0.4);
  EXPECT_EQ(resolved("mixed", DType::fp32, standards, "sort").kind, StandardKind::exact);
}

TEST(Standard, KindsAreNamedAsTheyAreTyped) {
  EXPECT_EQ(name(StandardKind::absolute), "prec");
  EXPECT_EQ(name(StandardKind::cross_check), "cross-check");
  EXPECT_EQ(to_string({StandardKind::absolute, 0.25, 1}), "prec=0.25");
  EXPECT_EQ(to_string({StandardKind::cross_check, 0, 2}), "cross-check=L2");
}

// Equal standards are shared, so a million tensors hold a million pointers to few standards.
TEST(SharedStandard, IsKeptOnce) {
  const SharedStandard first = resolved("mixed"), again = resolved("mixed"),
                       other = resolved("cosine");
  const Standard &a = first, &b = again, &c = other;
  EXPECT_EQ(&a, &b);
  EXPECT_NE(&a, &c);
  EXPECT_EQ(other->least_cosine, 0.99);
  EXPECT_EQ(static_cast<const Standard&>(SharedStandard()), Standard{});
}

}  // namespace opbench
