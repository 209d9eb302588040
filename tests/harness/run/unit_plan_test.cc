#include "harness/run/unit_plan.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <functional>
#include <set>

#include "tests/support/refusal.h"

namespace opbench::units {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

UnitPlan plan_of(const std::vector<double>& seconds) {
  UnitPlan plan;
  for (const double cost : seconds) plan.costs.push_back({"u", cost});
  return plan;
}

UnitPlan plan_of_cases(const std::vector<std::string>& ids,
                       const std::function<void(RunOptions&)>& change = {}) {
  RunOptions options;
  options.selection.case_ids = ids;
  if (change) change(options);
  return plan_units(make_plan(options.selection), options, "");
}

double load_of(const UnitPlan& plan, const std::vector<std::size_t>& units) {
  double sum = 0;
  for (const std::size_t unit : units) sum += plan.costs[unit].seconds;
  return sum;
}

const std::string kRelu = "relu[64,fp32]", kLarge = "relu[64x1000x1000,fp32]";

}  // namespace

TEST(Part, IsReadAndRefused) {
  EXPECT_EQ(parse_part("3/8"), (Part{3, 8}));
  EXPECT_EQ(to_string(Part{3, 8}), "3/8");
  for (const char* text : {"", "3", "/8", "3/", "0/8", "9/8", "-1/8", "3/8x", "1/1000001", "a/b"}) {
    EXPECT_EQ(
        bad_input_by([&] { parse_part(text); }),
        "--part '" + std::string(text) + "' must be K/N with 1 <= K <= N <= 1000000, such as 1/4");
  }
}

// Graham's bound for largest first: two parts differ by at most one unit.
TEST(Part, PartsCostAboutTheSameAndHoldEveryUnitOnce) {
  std::vector<double> seconds;
  for (int i = 0; i < 100; ++i) seconds.push_back((i * 37) % 50 + 0.5);
  const UnitPlan plan = plan_of(seconds);
  for (const int count : {1, 2, 3, 7, 100, 150}) {
    std::multiset<std::size_t> all;
    double least = 1e9, most = 0;
    for (int index = 1; index <= count; ++index) {
      const std::vector<std::size_t> units = units_of(plan, {index, count});
      EXPECT_TRUE(std::is_sorted(units.begin(), units.end()));
      all.insert(units.begin(), units.end());
      least = std::min(least, load_of(plan, units));
      most = std::max(most, load_of(plan, units));
    }
    EXPECT_EQ(all.size(), plan.costs.size());
    EXPECT_EQ(std::set<std::size_t>(all.begin(), all.end()).size(), plan.costs.size());
    EXPECT_LE(most - least, 49.5 + 0.5) << count;
  }
}

TEST(UnitPlan, TheLargestComesFirstAndEqualOnesKeepTheirOrder) {
  EXPECT_THAT(largest_first(plan_of({1, 3, 2, 3})), ElementsAre(1, 3, 2, 0));
}

TEST(UnitPlan, LargeTensorsAndLongTimesCostMore) {
  const UnitPlan plan = plan_of_cases({kRelu, kLarge});
  EXPECT_LT(plan.costs[0].seconds, plan.costs[1].seconds);
  const UnitPlan longer =
      plan_of_cases({kRelu}, [](RunOptions& options) { options.seconds_per_case = 10; });
  EXPECT_GT(longer.costs[0].seconds, 10);
  const UnitPlan twice = plan_of_cases({kRelu}, [](RunOptions& options) {
    options.threads = {1, 2};
  });
  EXPECT_DOUBLE_EQ(twice.costs[0].seconds, 2 * plan.costs[0].seconds);
}

// The digest depends on everything that decides what runs, and on nothing else.
TEST(UnitPlan, TheDigestIsThatOfTheRun) {
  const std::string digest = plan_of_cases({kRelu, kLarge}).digest;
  EXPECT_EQ(digest.size(), 16u);
  EXPECT_EQ(plan_of_cases({kRelu, kLarge}).digest, digest);
  const std::function<void(RunOptions&)> changes[] = {
      [](RunOptions& o) { o.seconds_per_case = 1; },
      [](RunOptions& o) { o.repetitions = 10; },
      [](RunOptions& o) { o.threads = {1}; },
      [](RunOptions& o) { o.cold = true; },
      [](RunOptions& o) { o.verify = false; },
      [](RunOptions& o) { o.selection.variants = {"native"}; },
      [](RunOptions& o) { o.selection.backward = true; }};
  std::set<std::string> seen = {digest, plan_of_cases({kLarge, kRelu}).digest,
                                plan_of_cases({kRelu}).digest};
  EXPECT_EQ(seen.size(), 3u);
  for (const auto& change : changes) {
    EXPECT_TRUE(seen.insert(plan_of_cases({kRelu, kLarge}, change).digest).second)
        << "change " << &change - changes;
  }
}

}  // namespace opbench::units
