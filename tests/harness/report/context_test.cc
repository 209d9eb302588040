// Tests a context's steps on the console.
#include <gmock/gmock.h>

#include <algorithm>
#include <sstream>

#include "harness/report/step_table.h"
#include "tests/support/step_records.h"

namespace opbench::report {
namespace {

using testing::AllOf;
using testing::Each;
using testing::HasSubstr;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;

std::string console(const std::vector<Record>& records, bool colour = false) {
  std::ostringstream out;
  print_case(out, records, {colour, 120});
  return out.str();
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  return lines;
}

Record with_notes(bool has_overflow, int skipped_updates, double loss_scale) {
  StepDetails details;
  details.has_overflow = has_overflow;
  details.skipped_updates = skipped_updates;
  details.loss_scale = loss_scale;
  return step_records::step("a", "", {{"Relu", 1, 10}}, details);
}

std::string verdict_of(const Record& record) { return step_verdict({&record}, 0); }

// A step with one sample per call and these times in microseconds.
Record step_of(const std::string& name, const std::string& after, const std::vector<double>& us) {
  Record record = step_records::step(name, after, {{"Relu", 1, 1}});
  std::vector<Sample> samples;
  for (const double time : us) samples.push_back({0, time, time * 1e3, 1});
  set_times(record, samples);
  record.step->us_per_sample = record.times->median_us;
  return record;
}

std::vector<std::string> first_cells(const TextTable& table) {
  std::vector<std::string> cells;
  for (const auto& row : table.rows) cells.push_back(row.front());
  return cells;
}

}  // namespace

TEST(ContextConsole, ShowsStepsAndWhereTheirTimeGoes) {
  EXPECT_EQ(console(step_records::shufflenet()),
            R"(shufflenet_v2[fp16,N=8]  (2 threads, 5 steps)
  #  step                 time  spread       TransData  Cast  copies      peak  after  v. before  v. first  verdict
  1  baseline        23.800 ms     0 %  118, 212.3 MiB    12      32  48.5 MiB      -          -     1.00x  passed
  2  concat_5hd      20.890 ms     0 %   86, 150.8 MiB    12      32  48.5 MiB      1      1.14x     1.14x  passed
  3  shuffle_gather  13.740 ms     0 %    40, 61.2 MiB    12       0  39.2 MiB      2      1.52x     1.73x  passed
  4  no_sync                 -       -               -     -       -         -      3          -         -  skipped
        stream synchronisation exists on a device only
* 5  weights_init    10.770 ms     0 %      3, 4.6 MiB     0       0  36.8 MiB      3      1.28x     2.21x  passed

  where the time goes, by step: ms and share of all tasks
                                       1            2            3            5
  TransData                   9.12  38 %   6.24  30 %   2.51  18 %   0.21   2 %
  Cast                        0.61   3 %   0.60   3 %   0.60   4 %            -
  contiguous                  4.81  20 %   4.79  23 %            -            -
  Conv2D                      3.92  16 %   3.90  19 %   3.91  28 %   3.89  36 %
  DepthwiseConv2D             2.21   9 %   2.20  11 %   2.21  16 %   2.19  20 %
  BNInferenceD                1.48   6 %   1.49   7 %   1.48  11 %   1.49  14 %
  GatherV2                             -            -   1.35  10 %   1.34  12 %
  Relu                        0.76   3 %   0.75   4 %   0.76   6 %   0.75   7 %
  ConcatD                     0.69   3 %   0.72   3 %   0.72   5 %   0.70   6 %
  MaxPool                     0.10   0 %   0.10   0 %   0.10   1 %   0.10   1 %
  MatMul                      0.07   0 %   0.07   0 %   0.07   0 %   0.07   1 %
  ReduceMean                  0.04   0 %   0.04   0 %   0.04   0 %   0.04   0 %
  no conv, BN, pool, MatMul  16.03  67 %  13.14  63 %   5.98  44 %   3.04  28 %
  all tasks                  23.80 100 %  20.89 100 %  13.74 100 %  10.77 100 %

)");
}

TEST(ContextConsole, ColoursOnlyWhereTheStyleHasThem) {
  EXPECT_THAT(console(step_records::shufflenet()), Not(HasSubstr("\033")));
  const std::string text = console(step_records::shufflenet(), true);
  EXPECT_THAT(text, HasSubstr("\033[1mshufflenet_v2[fp16,N=8]\033[0m"));
  EXPECT_THAT(text, HasSubstr("\033[32mpassed\033[0m"));
}

TEST(ContextConsole, StepsThatBuildOnTheOneAboveNeedNoAfter) {
  const std::string text = console({step_records::step("a", "", {{"Relu", 1, 30}}),
                                    step_records::step("b", "a", {{"Relu", 1, 15}})});
  EXPECT_THAT(text, Not(HasSubstr("after")));
  EXPECT_THAT(text, Not(HasSubstr("per sample")));
  EXPECT_THAT(text, HasSubstr("  Relu       30.0 100 %  15.0 100 %\n"));
}

TEST(ContextConsole, TimePerSampleWhereSamplesDiffer) {
  StepDetails larger;
  larger.us_per_sample = 0.5;  // 16 samples; the other step has 8
  const std::string text = console({step_records::step("a", "", {{"Relu", 1, 8}}),
                                    step_records::step("b", "a", {{"Relu", 1, 8}}, larger)});
  EXPECT_THAT(text, HasSubstr("     time  spread  per sample  "));
  EXPECT_THAT(text, HasSubstr("  8.00 us     0 %     1.00 us  "));
  EXPECT_THAT(text, HasSubstr("  8.00 us     0 %     0.50 us  "));
}

TEST(ContextConsole, TimesOfAColumnHaveOneUnit) {
  StepDetails larger;
  larger.us_per_sample = 0.5;
  const std::string text = console({step_records::step("a", "", {{"Relu", 1, 16000}}),
                                    step_records::step("b", "a", {{"Relu", 1, 8}}, larger)});
  EXPECT_THAT(text, HasSubstr("  16000.00 us     0 %  2000.00 us  "));
  EXPECT_THAT(text, HasSubstr("      8.00 us     0 %     0.50 us  "));
}

TEST(ContextConsole, VerdictSaysWhatHappenedToTheUpdates) {
  EXPECT_EQ(verdict_of(with_notes(false, 0, 0)), "passed");
  EXPECT_EQ(verdict_of(with_notes(true, 0, 0)), "passed, overflow");
  EXPECT_EQ(verdict_of(with_notes(true, 1, 32768)),
            "passed, overflow, 1 update skipped, loss scale 32768");
  Record failed = with_notes(false, 2, 0.5);
  failed.status = Status::failed;
  failed.reason = "y differs";
  EXPECT_EQ(verdict_of(failed), "FAILED: y differs; 2 updates skipped, loss scale 0.5");
}

// Five samples have a MAD of 2 around 100. The standard error of the median is
// 1.2533*1.4826*2/sqrt(5) = 1.66, that of a difference 2.35, and twice that is 4.7.
TEST(ContextConsole, StepsThatDifferByLessThanTheirSpreadsAreEqual) {
  const Record first = step_of("a", "", {96, 98, 100, 102, 104});
  const auto verdict = [&](const Record& second) { return step_verdict({&first, &second}, 1); };
  EXPECT_EQ(verdict(step_of("b", "a", {92, 94, 96, 98, 100})), "passed, equal within noise to a");
  EXPECT_EQ(verdict(step_of("b", "a", {100, 102, 104, 106, 108})),
            "passed, equal within noise to a");
  EXPECT_EQ(verdict(step_of("b", "a", {90, 92, 94, 96, 98})), "passed");
  EXPECT_EQ(verdict(step_of("b", "a", {103, 105, 107, 109, 111})), "passed");
  EXPECT_EQ(verdict(step_of("b", "", {96, 98, 100, 102, 104})), "passed") << "builds on nothing";
  EXPECT_EQ(verdict(step_of("b", "a", {100, 100})), "passed") << "two samples have no spread";
  EXPECT_EQ(step_verdict({&first}, 0), "passed");
  EXPECT_THAT(console({first, step_of("b", "a", {96, 98, 100, 102, 104})}),
              HasSubstr("passed, equal within noise to a"));
}

// 20 steps do not fit next to each other.
TEST(ContextConsole, StaysWithin120Columns) {
  std::vector<Record> steps;
  for (int i = 0; i < 20; ++i) {
    Record record =
        step_records::step("step_with_a_long_name_" + std::to_string(i), "", {{"Relu", 1, 5e3}});
    record.status = Status::failed;
    record.reason = "output differs: " + std::string(150, 'x') + " and so on";
    steps.push_back(record);
  }
  const std::vector<std::string> lines = lines_of(console(steps));
  EXPECT_THAT(lines, Each(SizeIs(testing::Le(120u))));
  // Every step has a column.
  int parts = 0;
  for (const std::string& line : lines) parts += line.starts_with("  Relu");
  EXPECT_EQ(parts, 3);
}

TEST(ContextConsole, TextFromFilesDrivesNoTerminal) {
  std::vector<Record> steps = {step_records::step("\033[2Jx", "", {{"R\ne", 1, 5}})};
  steps[0].reason = "\033]0;";
  steps[0].case_id = "a\nb";
  const std::string text = console(steps);
  EXPECT_THAT(text, AllOf(Not(HasSubstr("\033")), StartsWith("a\\x0ab"), HasSubstr("\\x1b[2Jx"),
                          HasSubstr("\n  R\\x0ae  ")));
}

TEST(ContextConsole, SeveralContextsStandApart) {
  std::vector<Record> steps = {step_records::step("a", "", {{"Relu", 1, 30}}),
                               step_records::step("a", "", {{"Relu", 1, 30}})};
  steps[1].threads = 1;
  const std::vector<ContextSteps> contexts = steps_by_context(steps);
  ASSERT_THAT(contexts, SizeIs(2));
  EXPECT_THAT(console(steps),
              AllOf(HasSubstr("(2 threads, 1 step)"), HasSubstr("(1 thread, 1 step)")));
  const std::vector<Record> single(1);
  EXPECT_THAT(steps_by_context(single), SizeIs(0));
}

// 1 GB per sample less is 10 GB for 10 samples: 100 ms of the 400 ms that were saved.
TEST(Published, TheCountsExplainAPart) {
  const TensorDesc desc = describe(DType::int8, {1000000000});
  std::vector<Record> records = {step_of("a", "", {4e5}), step_of("b", "a", {2e5})};
  EXPECT_EQ(published_text({&records[0], &records[1]}), "");
  records[0].step->published = {800, 10, "guide", 100};
  records[1].step->published = {400, 10, "guide", 100};
  records[0].step->tasks.resize(1);
  records[0].step->tasks[0].inputs = {desc};
  const std::string text = published_text({&records[0], &records[1]});
  EXPECT_THAT(text, StartsWith("Published (guide): 800, 400 ms for 10 samples. Per sample 2.00x "
                               "there, 2.00x here. TransData 0 to 0"));
  EXPECT_THAT(text, HasSubstr("take 100 ms at 100 GB/s, 25 % of the 400 ms saved there; these "
                              "counts do not explain the rest."));
  EXPECT_THAT(console(records), HasSubstr("published"));
}

TEST(TimeTable, WhatTuningRemovesFirstThenByTime) {
  const std::vector<Record> steps = {
      step_records::step("a", "",
                         {{"Small", 1, 1}, {"Cast", 1, 2}, {"Large", 1, 10}, {"TransData", 1, 3}}),
      step_records::step("b", "a", {{"New", 1, 100}, {"contiguous", 1, 1}})};
  const TextTable table = time_table(steps_by_context(steps).front(), 9).table;
  EXPECT_THAT(first_cells(table), testing::ElementsAre("TransData", "Cast", "contiguous", "New",
                                                       "Large", "Small", "all tasks"));
}

TEST(TimeTable, OthersAreSummed) {
  const std::vector<Record> steps = {
      step_records::step("a", "", {{"A", 1, 50}, {"B", 1, 30}, {"C", 1, 15}, {"D", 1, 5}})};
  const TextTable table = time_table(steps_by_context(steps).front(), 2).table;
  EXPECT_THAT(first_cells(table), testing::ElementsAre("A", "B", "2 others", "all tasks"));
  EXPECT_EQ(table.rows[2][1], "20.0  20 %");
  // "1 others" would take as much room as the row that it replaces.
  EXPECT_THAT(first_cells(time_table(steps_by_context(steps).front(), 3).table),
              testing::ElementsAre("A", "B", "C", "D", "all tasks"));
}

TEST(TimeTable, ChoosesItsUnit) {
  const auto unit = [](double us) {
    const std::vector<Record> steps = {step_records::step("a", "", {{"A", 1, us}})};
    const TimeTable table = time_table(steps_by_context(steps).front(), 2);
    return table.table.rows[0][1] + " " + std::string(table.unit);
  };
  EXPECT_EQ(unit(999), "999.0 100 % us");
  EXPECT_EQ(unit(1000), "1.000 100 % ms");
  EXPECT_EQ(unit(10000), "10.00 100 % ms");
  EXPECT_EQ(unit(2.5e6), "2.500 100 % s");
}

}  // namespace opbench::report
