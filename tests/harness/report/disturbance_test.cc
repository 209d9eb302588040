#include <gmock/gmock.h>

#include "harness/report/text.h"
#include "tests/support/records.h"

namespace opbench::report {
namespace {

using testing::HasSubstr;

// Three samples of 100 us with this number of preemptions in all.
Record preempted(std::int64_t times) {
  Record record = timed_record({100, 100, 100});
  record.times->preemptions = times;
  return record;
}

RunResult run_of(std::vector<Record> records) {
  RunResult result;
  result.records = std::move(records);
  return result;
}

}  // namespace

TEST(Disturbance, SamplesAddTheirPreemptions) {
  Record record = record_of();
  set_times(record, {{0, 1, 1000, 1, 2}, {0, 1, 1000, 1, 0}, {0, 1, 1000, 1, 3}});
  EXPECT_EQ(record.times->preemptions, 5);
}

TEST(Disturbance, PreemptionsAreSaidInCrowdsOrWhereTheyShow) {
  EXPECT_EQ(disturbance_text(preempted(29)), "") << "fewer than ten in a sample, and equal times";
  EXPECT_EQ(disturbance_text(preempted(30)), "preempted 30 times");
  Record wide = preempted(3);
  wide.times->mad_us = 6;  // 6 % of 100
  EXPECT_EQ(disturbance_text(wide), "preempted 3 times");
  wide.times->preemptions = 2;
  EXPECT_EQ(disturbance_text(wide), "");
  EXPECT_EQ(disturbance_text(record_of()), "");
  wide.times->preemptions.reset();  // as in an old file
  EXPECT_EQ(disturbance_text(wide), "");
}

// oneDNN's second thread waited for a core in every call. Each call took 8 ms instead of 1 us.
TEST(Disturbance, EqualTimesThatAllLostTheirCoreAreSaid) {
  Record slow = timed_record({8000, 8000, 8000});
  slow.times->preemptions = 3;
  EXPECT_EQ(disturbance_text(slow), "disturbed, preempted 3 times") << "whole ticks";
  slow.times->preemptions = 2;
  EXPECT_EQ(disturbance_text(slow), "") << "not in every sample";
  Record usual = timed_record({25000, 25000, 25000});
  usual.times->preemptions = 3;
  EXPECT_EQ(disturbance_text(usual), "") << "40 times a second, as the system does";
}

TEST(Disturbance, OutliersAreCounted) {
  EXPECT_EQ(disturbance_text(timed_record({100, 150, 100})), "");
  EXPECT_EQ(disturbance_text(timed_record({100, 151, 100, 99, 900})), "outliers 2 of 5");
}

TEST(Disturbance, AQuietRunHasNone) {
  EXPECT_EQ(disturbance_text(run_of({preempted(0), preempted(2)})), "");
  EXPECT_EQ(disturbance_text(run_of({})), "");
}

TEST(Disturbance, ABusyMachineIsSaidWithItsSigns) {
  EXPECT_THAT(disturbance_text(run_of({preempted(1), preempted(40)})),
              HasSubstr("busy: 1 of 2 results noisy, 41 preemptions, spread up to 0 %."));
  EXPECT_THAT(disturbance_text(run_of({preempted(1), timed_record({10, 30, 30})})),
              HasSubstr("busy: 1 of 2 results noisy (1 disturbed: no ratio), "));
  Record wide = preempted(0);
  wide.times->mad_us = 30;
  EXPECT_THAT(disturbance_text(run_of({wide})), HasSubstr("spread up to 30 %"));
  Record copied = preempted(0);
  copied.copy_spread = 0.6;
  RunResult result = run_of({copied});
  result.load = 3.14;
  EXPECT_EQ(disturbance_text(result),
            "This machine was busy: load 3.1 when it began; copies of the same bytes differ by "
            "60 %. Trust ratios more than times; see opbench doctor.");
}

}  // namespace opbench::report
