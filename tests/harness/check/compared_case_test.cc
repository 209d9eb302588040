#include "harness/check/compared_case.h"

#include <gmock/gmock.h>

#include "harness/check/speed_verdict.h"
#include "tests/harness/check/scripted_build.h"

namespace opbench::check {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class ComparedCases : public testing::Test {
 protected:
  ComparedCases() { options.threads = {1}; }

  std::vector<ComparedCase> collect() {
    WorkerClient base(base_build.program()), current(current_build.program());
    return collect_cases(base, current, options, notices);
  }

  /// "a[1] 2": id and threads of each case, with "+" if the baseline has it and "-" if the current
  /// build does not.
  std::vector<std::string> collected() {
    std::vector<std::string> all;
    for (const ComparedCase& one : collect()) {
      all.push_back(one.spec.id + " " + std::to_string(one.threads) + (one.base ? "+" : "") +
                    (one.is_in_current ? "" : "-"));
    }
    return all;
  }

  double clock_s = 0;
  std::string log;
  ScriptedBuild base_build{"base", clock_s, log}, current_build{"current", clock_s, log};
  RunOptions options;
  std::vector<std::string> notices;
};

/// A timed variant: rounds of these ratios, each in a pair of its own.
ComparedVariant timed(const std::vector<double>& ratios, double sign_p, bool is_open) {
  ComparedVariant variant;
  for (std::size_t i = 0; i < ratios.size(); ++i) {
    variant.times.screening.add(1, ratios[i], static_cast<int>(i));
  }
  variant.finding.change.sign_p = sign_p;
  variant.is_open = is_open;
  return variant;
}

}  // namespace

// Cases of the current build in its order, then those of the baseline only.
TEST_F(ComparedCases, AreThoseOfBothBuilds) {
  for (const char* id : {"both[1]", "gone[1]"}) base_build.add_case(id, always(1));
  for (const char* id : {"new[1]", "both[1]"}) current_build.add_case(id, always(1));
  EXPECT_THAT(collected(), ElementsAre("new[1] 1", "both[1] 1+", "gone[1] 1+-"));
  EXPECT_THAT(notices, IsEmpty());
}

// A GONE case is reported once.
TEST_F(ComparedCases, HaveEveryNumberOfThreads) {
  base_build.add_case("both[1]", always(1));
  base_build.add_case("gone[1]", always(1));
  current_build.add_case("both[1]", always(1));
  options.threads = {1, 4};
  EXPECT_THAT(collected(), ElementsAre("both[1] 1+", "both[1] 4+", "gone[1] 1+-"));
}

// The key does not change if one build has an additional attribute.
TEST_F(ComparedCases, AreTheSameByTheirKeys) {
  ListedCase older = ScriptedBuild::listed_case("a[1]"), newer = older;
  newer.id = "a[1,extra=0]";
  base_build.add_case(older, {});
  current_build.add_case(newer, {});
  const std::vector<ComparedCase> all = collect();
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_EQ(base_request(all[0], {}).id, "a[1]");
  EXPECT_EQ(current_request(all[0], {}).id, "a[1,extra=0]");
}

// Contexts of the same name in two files are different contexts. An installed file is the same file
// in both builds.
TEST_F(ComparedCases, OfContextsAreTheSameByTheirFiles) {
  const auto listed = [](const std::string& file) {
    ListedCase one = ScriptedBuild::listed_case("unit[fp32]");
    one.context = ContextSource{file, "unit", DType::fp32, {}};
    return one;
  };
  base_build.add_case(listed("/old/share/opbench/cases/a.yaml"), {});
  base_build.add_case(listed("b.yaml"), {});
  current_build.add_case(listed("/new/share/opbench/cases/a.yaml"), {});
  current_build.add_case(listed("c.yaml"), {});
  EXPECT_THAT(collected(), ElementsAre("unit[fp32] 1+", "unit[fp32] 1", "unit[fp32] 1+-"));
}

// Part 1 of 2 has the places 0, 2, ... of the joint list.
TEST_F(ComparedCases, OfAPartAreOneOfAll) {
  for (const char* id : {"a[1]", "b[1]", "z[1]"}) base_build.add_case(id, always(1));
  for (const char* id : {"a[1]", "b[1]", "c[1]", "d[1]"}) current_build.add_case(id, always(1));
  options.selection.part = {1, 2};
  const std::vector<std::string> first = collected();
  options.selection.part = {2, 2};
  const std::vector<std::string> second = collected();
  EXPECT_THAT(first, ElementsAre("a[1] 1+", "c[1] 1", "z[1] 1+-"));
  EXPECT_THAT(second, ElementsAre("b[1] 1+", "d[1] 1"));
}

TEST_F(ComparedCases, OfABuildThatCannotReadTheSelectionMayBeRefused) {
  base_build.list_error = "unknown operator 'swish'";
  current_build.add_case("a[1]", always(1));
  const std::vector<ComparedCase> all = collect();
  ASSERT_THAT(all, SizeIs(1));
  EXPECT_TRUE(all[0].base_may_refuse);
  EXPECT_TRUE(all[0].base.has_value());
  EXPECT_THAT(notices, ElementsAre("the baseline cannot read the selection (unknown operator "
                                   "'swish'); cases that only it has are missing here"));
  current_build.list_error = "no such file";
  EXPECT_THROW(collect(), WorkerError);
}

// A variant that both builds skip is left out. A variant that one of them skips is NEW or GONE.
TEST_F(ComparedCases, OpenedInBothHaveTheVariantsOfBoth) {
  const auto with_status = [](const char* name, Status status) {
    ScriptedVariant variant = ScriptedBuild::passing(name, always(1));
    variant.opened.status = status;
    return variant;
  };
  const ListedCase listed = ScriptedBuild::listed_case("a[1]");
  base_build.add_case(listed,
                      {with_status("both", Status::passed), with_status("none", Status::skipped),
                       with_status("gone", Status::passed)});
  current_build.add_case(listed,
                         {with_status("both", Status::passed), with_status("none", Status::skipped),
                          with_status("new", Status::passed)});
  WorkerClient base(base_build.program()), current(current_build.program());
  PairedRun run(base, current);
  ComparedCase compared;
  compared.spec = listed;
  compared.base = listed;
  open_in_both(compared, run, {}, {});
  std::map<std::string, ChangeVerdict> found;
  for (const ComparedVariant& variant : compared.variants) {
    found[variant.item.variant] = variant.item.verdict;
    EXPECT_EQ(variant.is_open, variant.item.variant == "both");
  }
  EXPECT_EQ(found, (std::map<std::string, ChangeVerdict>{{"both", ChangeVerdict::ambiguous},
                                                         {"gone", ChangeVerdict::gone},
                                                         {"new", ChangeVerdict::new_}}));
}

TEST(ComparedCase, ThatOnlyTheOtherBuildHasIsARegression) {
  double clock_s = 0;
  std::string log;
  ScriptedBuild build("base", clock_s, log);
  WorkerClient base(build.program()), current(build.program());
  PairedRun run(base, current);
  ComparedCase compared;
  compared.spec = ScriptedBuild::listed_case("a[1]");
  compared.is_in_current = false;
  open_in_both(compared, run, {}, {});
  ASSERT_THAT(compared.variants, SizeIs(1));
  EXPECT_EQ(compared.variants[0].item.verdict, ChangeVerdict::gone);
  EXPECT_TRUE(compared.variants[0].item.is_regression);
  EXPECT_EQ(build.processes(), 0);
}

// A case without variants gets a single item; else its open variants fail.
TEST(ComparedCase, FailsWhatIsOpen) {
  ComparedCase unknown;
  unknown.fail("lost");
  ASSERT_THAT(unknown.variants, SizeIs(1));
  EXPECT_EQ(unknown.variants[0].item.verdict, ChangeVerdict::error);
  ComparedCase known;
  known.variants.resize(2);
  known.variants[0].item.verdict = ChangeVerdict::same;
  known.variants[1].is_open = true;
  known.fail("lost");
  EXPECT_EQ(known.variants[0].item.verdict, ChangeVerdict::same);
  EXPECT_EQ(known.variants[1].item.verdict, ChangeVerdict::error);
  EXPECT_EQ(known.variants[1].item.evidence, "lost");
  EXPECT_THAT(known.open_variants(), IsEmpty());
}

TEST(ComparedCase, ThatWasNotOpenedHasOneItem) {
  ComparedCase same, skipped;
  same.spec.count = 3;
  same.threads = 2;
  same.settle_as_same();
  skipped.skip("the budget ended");
  EXPECT_EQ(same.variants.at(0).item.verdict, ChangeVerdict::same);
  EXPECT_EQ(same.variants[0].item.count, 3);
  EXPECT_EQ(same.variants[0].item.threads, 2);
  EXPECT_FALSE(same.variants[0].item.is_unfinished);
  EXPECT_EQ(skipped.variants.at(0).item.verdict, ChangeVerdict::ambiguous);
  EXPECT_TRUE(skipped.variants[0].item.is_unfinished);
}

// The median of three spreads is the second one. A failed variant has no spread.
TEST(ComparedTogether, TypicalNoiseIsTheMedianOfSpreads) {
  EXPECT_FALSE(typical_noise({}).has_value());
  const std::vector<double> calm = {1, 1, 1, 1, 1, 1}, some = {1, 1.01, 0.99, 1.02, 0.98, 1},
                            wild = {1, 1.5, 0.5, 2, 0.7, 1};
  std::vector<ComparedCase> cases(2);
  cases[0].variants = {timed(wild, 1, true), timed(calm, 1, true)};
  cases[1].variants = {timed(some, 1, false), timed(wild, 1, true)};
  cases[1].variants[1].item.verdict = ChangeVerdict::error;
  const double middle = spread_noise(cases[1].variants[0].times.screening);
  EXPECT_GT(middle, 0);
  EXPECT_LT(middle, spread_noise(cases[0].variants[0].times.screening));
  EXPECT_EQ(typical_noise(cases), middle);
}

// p is 0.01, 0.02 and 0.5; the variant that is the same counts as 1, although its p is small.
// Multiplied by 4/1, 4/2, 4/3 and 4/4, Benjamini and Hochberg give 0.04, 0.04, 2/3 and 1.
TEST(ComparedTogether, AdjustsForAllThatWasTimed) {
  const std::vector<double> ratios = {1, 1};
  std::vector<ComparedCase> cases(2);
  cases[0].variants = {timed(ratios, 0.02, true), timed(ratios, 0.001, false)};
  cases[1].variants = {timed(ratios, 0.5, true), timed({}, 0.003, true)};
  cases[1].first_calls = {timed(ratios, 0.01, true)};
  adjust_for_all(cases);
  const auto adjusted = [](const ComparedVariant& variant) {
    return variant.finding.change.adjusted_p;
  };
  EXPECT_NEAR(adjusted(cases[0].variants[0]), 0.04, 1e-12);
  EXPECT_NEAR(adjusted(cases[0].variants[1]), 1, 1e-12);
  EXPECT_NEAR(adjusted(cases[1].variants[0]), 2.0 / 3, 1e-12);
  EXPECT_NEAR(adjusted(cases[1].first_calls[0]), 0.04, 1e-12);
  EXPECT_EQ(adjusted(cases[1].variants[1]), 1) << "not timed: it is as it was";
}

// Four items are undecided: one looks slower, two were not measured, and noise hides one.
TEST(ComparedTogether, NotesWhatTheBudgetLeft) {
  const auto item = [](bool is_unfinished, bool is_noisy, bool is_timed) {
    CheckedItem one;
    one.is_unfinished = is_unfinished;
    one.is_too_noisy = is_noisy;
    if (is_timed) one.speed = SpeedChange{};
    return one;
  };
  std::vector<CheckedItem> items = {item(true, false, true), item(true, false, false),
                                    item(true, false, false), item(false, true, true),
                                    item(false, false, true)};
  items.push_back(items[0]);
  items.back().verdict = ChangeVerdict::error;
  std::vector<std::string> notices;
  note_budget(items, 60, notices);
  EXPECT_THAT(notices, ElementsAre("the budget of 60 s ended with 4 of 6 undecided: 1 look slower, "
                                   "2 were not measured; --budget gives more time"));
  notices.clear();
  note_budget({items[4], items[5]}, 60, notices);
  EXPECT_THAT(notices, IsEmpty());
}

}  // namespace opbench::check
