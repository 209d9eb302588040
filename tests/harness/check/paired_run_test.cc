#include "harness/check/paired_run.h"

#include <gmock/gmock.h>

#include "tests/harness/check/scripted_build.h"

namespace opbench::check {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class PairedRunTest : public testing::Test {
 protected:
  /// One variant that takes `base_us` in the baseline and `current_us` in the current build.
  void set(std::function<double(ScriptedSample)> base_us,
           std::function<double(ScriptedSample)> current_us) {
    base_.add_case(kCase, std::move(base_us));
    current_.add_case(kCase, std::move(current_us));
  }

  /// Takes `rounds` rounds in `budget` invented seconds. Returns the result of `measure`.
  bool measure(int rounds, double budget = 1000) {
    WorkerProgram base = base_.program(), current = current_.program();
    base.now_s = current.now_s = [this] { return clock_s_; };
    WorkerClient base_peer(base), current_peer(current);
    PairedRun run(base_peer, current_peer);
    run.set_pair(7);
    OpenRequest request;
    request.id = kCase;
    run.open_base(request);
    run.open_current(request);
    variant_.item.variant = "v";
    variant_.is_open = true;
    return run.measure({&variant_}, &PairedTimes::screening, rounds,
                       {[this] { return clock_s_; }, clock_s_ + budget});
  }
  const PairedTimes::Stage& times() const { return variant_.times.screening; }

  double clock_s_ = 0;
  std::string log_;
  ScriptedBuild base_{"base", clock_s_, log_}, current_{"current", clock_s_, log_};
  ComparedVariant variant_;
};

}  // namespace

TEST_F(PairedRunTest, AlternatesWhoComesFirst) {
  set(always(100), always(110));
  EXPECT_TRUE(measure(3));
  EXPECT_EQ(log_, "bccbbc");
  EXPECT_THAT(times().base_us, ElementsAre(100, 100, 100));
  EXPECT_THAT(times().current_us, ElementsAre(110, 110, 110));
  EXPECT_THAT(times().pair, ElementsAre(7, 7, 7));
  EXPECT_EQ(base_.layouts(), current_.layouts()) << "both place their tensors alike";
  EXPECT_NE(base_.layouts()[0], base_.layouts()[1]);
}

// A round takes 0.04 s. Three rounds do not fit into 0.1 s, so none counts.
TEST_F(PairedRunTest, LeavesTheStageAsItWasWhereTheBudgetEnds) {
  set(always(100), always(110));
  variant_.times.screening.add(1, 2, 0);
  EXPECT_FALSE(measure(10, 0.1));
  EXPECT_THAT(times().base_us, ElementsAre(1));
}

// The ratio of 1 ns and 1 ms is 10^6. No change of a kernel explains it.
TEST_F(PairedRunTest, RefusesTimesThatNoChangeExplains) {
  set(always(1000), always(0.001));
  EXPECT_TRUE(measure(2));
  EXPECT_EQ(variant_.item.verdict, ChangeVerdict::error);
  EXPECT_FALSE(variant_.item.is_regression);
  EXPECT_THAT(variant_.item.evidence, HasSubstr("the ratio may be at most 100000"));
  EXPECT_TRUE(times().empty());
}

// An error of the current build is a regression; an error of the baseline is not.
TEST_F(PairedRunTest, SaysWhoFailed) {
  const auto fail = [](ScriptedSample) -> double { throw Error("no memory"); };
  set(always(100), fail);
  measure(2);
  EXPECT_TRUE(variant_.item.is_regression);
  variant_ = {};
  set(fail, always(100));
  measure(2);
  EXPECT_FALSE(variant_.item.is_regression);
  EXPECT_THAT(variant_.item.evidence, HasSubstr("in the baseline: "));
}

TEST(WrongWith, IsWhatTheSampleSaysOrOtherResults) {
  EXPECT_EQ(results_error({1, "a NaN", "01"}, "01"), "a NaN");
  EXPECT_EQ(results_error({1, "", "01"}, "01"), "");
  EXPECT_THAT(results_error({1, "", "02"}, "01"), HasSubstr("differ from the verified results"));
  EXPECT_EQ(results_error({1, "", ""}, "01"), "") << "an older build does not say";
  EXPECT_EQ(results_error({1, "", "02"}, ""), "") << "what does not repeat was not verified";
}

TEST(ComparedVariant, IsTimedUnlessItFailed) {
  ComparedVariant variant;
  EXPECT_FALSE(variant.is_timed());
  variant.times.screening.add(1, 1, 0);
  EXPECT_TRUE(variant.is_timed());
  variant.is_open = true;
  variant.fail("lost", false);
  EXPECT_FALSE(variant.is_timed());
  EXPECT_FALSE(variant.is_open);
  EXPECT_TRUE(variant.item.is_unfinished);
  variant.fail("wrong", true);
  EXPECT_FALSE(variant.item.is_unfinished);
  EXPECT_TRUE(variant.item.is_regression);
}

}  // namespace opbench::check
