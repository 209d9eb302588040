#include "harness/run/step_measurement.h"

#include <gmock/gmock.h>

#include "tests/harness/run/run_context.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

/// Steps with the index of the step that each builds on, and one sample per call.
PlannedContext context_of(const std::vector<int>& after) {
  PlannedContext planned;
  for (const int one : after) planned.steps.emplace_back().spec.after = one;
  return planned;
}

Record step_of(double us) {
  Record record;
  record.step = StepDetails{};
  record.status = Status::passed;
  if (us > 0) set_times(record, {{0, us, us * 1e3, 1}});
  return record;
}

}  // namespace

// Node by node over the rounds: the median of 1, 3, 2 is 2, that of 10, 30, 20 is 20.
TEST(StepMeasurement, TaskMediansAreByNode) {
  const std::vector<std::vector<double>> rounds = {{1, 10}, {3, 30}, {2, 20}};
  EXPECT_THAT(task_medians(rounds), ElementsAre(2, 20));
  EXPECT_THAT(task_medians({}), IsEmpty());
}

// 100, 50 and 25 us: the second builds on the first, and so does the third.
TEST(StepMeasurement, SpeedUpsAreOverTheStepBeforeAndTheFirst) {
  const PlannedContext planned = context_of({-1, 0, 0});
  std::vector<Record> records = {step_of(100), step_of(50), step_of(25)};
  compare_steps(planned, records);
  EXPECT_EQ(records[0].step->speedup_over_previous, 0);
  EXPECT_EQ(records[0].step->speedup_over_first, 1);
  EXPECT_EQ(records[1].step->speedup_over_previous, 2);
  EXPECT_EQ(records[1].step->speedup_over_first, 2);
  EXPECT_EQ(records[2].step->speedup_over_previous, 4);
  EXPECT_EQ(records[2].step->speedup_over_first, 4);
}

// 100 us for 2 samples are 50 each, and 120 us for 8 are 15, which is 3.33 times as fast.
TEST(StepMeasurement, TimesAreComparedPerSample) {
  PlannedContext planned = context_of({-1, 0});
  planned.steps[0].spec.samples = 2;
  planned.steps[1].spec.samples = 8;
  std::vector<Record> records = {step_of(100), step_of(120)};
  compare_steps(planned, records);
  EXPECT_EQ(records[0].step->us_per_sample, 50);
  EXPECT_EQ(records[1].step->us_per_sample, 15);
  EXPECT_DOUBLE_EQ(records[1].step->speedup_over_previous, 50.0 / 15);
}

// The first timed step is the first. A step without times is not compared.
TEST(StepMeasurement, StepsWithoutTimesAreLeftOut) {
  const PlannedContext planned = context_of({-1, 0, 1, 0});
  std::vector<Record> records = {step_of(0), step_of(60), step_of(20), step_of(30)};
  compare_steps(planned, records);
  EXPECT_EQ(records[0].step->us_per_sample, 0);
  EXPECT_EQ(records[0].step->speedup_over_first, 0);
  EXPECT_EQ(records[1].step->speedup_over_previous, 0) << "what it builds on has no time";
  EXPECT_EQ(records[1].step->speedup_over_first, 1);
  EXPECT_EQ(records[2].step->speedup_over_previous, 3);
  EXPECT_EQ(records[3].step->speedup_over_first, 2);
}

// An addition and two Relus in a row; each reads the output of the node before.
TEST(StepMeasurement, DetailsHaveTheTimesOfEachType) {
  const PlannedContext planned = planned_text(
      "contexts:\n"
      "  - name: two\n"
      "    inputs: {x: [2, 8], y: [2, 8]}\n"
      "    nodes:\n"
      "      - {name: first, op: add, in: [x, y], out: z}\n"
      "      - {name: second, op: relu, in: [z], out: a}\n"
      "      - {name: third, op: relu, in: [a], out: b}\n"
      "    outputs: [b]\n"
      "    steps:\n"
      "      - {name: native}\n"
      "      - {name: again, summary: the same, after: native}\n");
  ASSERT_THAT(planned.steps[1].graph.nodes, SizeIs(3));
  StepMeasurement measured;
  measured.task_us = {10, 1, 5};
  measured.gradient_error = 0.25;
  measured.skipped_updates = 2;
  const StepDetails details = step_details(planned, 1, measured);
  EXPECT_EQ(details.after, "native");
  EXPECT_EQ(details.summary, "the same");
  EXPECT_EQ(details.index, 1);
  EXPECT_EQ(details.nodes, 3);
  EXPECT_EQ(details.trans_data, 0);
  EXPECT_EQ(details.gradient_error, 0.25);
  EXPECT_EQ(details.skipped_updates, 2);
  ASSERT_THAT(details.tasks, SizeIs(3));
  EXPECT_EQ(details.tasks[2].start_us, 11);
  EXPECT_EQ(details.tasks[2].duration_us, 5);
  EXPECT_THAT(details.tasks[0].sources, ElementsAre(-1, -1));
  EXPECT_THAT(details.tasks[2].sources, ElementsAre(1));
  // One addition takes 10 of 16 us. Two Relus of 1 and 5 us take 6.
  ASSERT_THAT(details.types, SizeIs(2));
  EXPECT_EQ(details.types[0].type, "Add");
  EXPECT_EQ(details.types[0].share, 10.0 / 16);
  EXPECT_EQ(details.types[1].count, 2);
  EXPECT_EQ(details.types[1].total_us, 6);
  EXPECT_EQ(details.types[1].min_us, 1);
  EXPECT_EQ(details.types[1].avg_us, 3);
  EXPECT_EQ(details.types[1].max_us, 5);
  // Without times there are tasks but no types.
  const StepDetails untimed = step_details(planned, 0, {});
  EXPECT_THAT(untimed.tasks, SizeIs(3));
  EXPECT_THAT(untimed.types, IsEmpty());
  EXPECT_EQ(untimed.after, "");
}

}  // namespace opbench
