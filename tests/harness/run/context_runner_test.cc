// Steps of a context in the phases of a run: verified, timed, compared, refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "harness/run/record.h"
#include "tests/harness/run/run_context.h"

namespace opbench {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

// Two halves are joined, shuffled and read by a convolution: formats, copies and casts must be
// planned.
constexpr const char* kShuffle =
    "symbols: {N: 2}\n"
    "contexts:\n"
    "  - name: shuffle\n"
    "    inputs: {x1: {shape: [N, 20, 4, 4], format: NC1HWC0},\n"
    "             x2: {shape: [N, 20, 4, 4], format: NC1HWC0}}\n"
    "    parameters: {w: [16, 40, 1, 1]}\n"
    "    nodes:\n"
    "      - {name: shuffle, op: cat_shuffle, in: [x1, x2], out: y}\n"
    "      - {name: conv, op: conv2d, in: [y, w], out: z}\n"
    "    outputs: [z]\n"
    "    samples: N\n"
    "    steps:\n"
    "      - {name: native, variants: {cat_shuffle: native}}\n"
    "      - {name: full, summary: one gather, variants: {cat_shuffle: full}}\n"
    "      - {name: twice, after: full, set: {N: N*2}}\n"
    "      - {name: streams, not_applicable: devices only}\n"
    "      - {name: nchw, after: twice, rules: {concat_output_nchw: true}}\n";

TEST(ContextRunner, EveryStepIsVerifiedAndTimed) {
  const std::vector<Record> records = run_text(kShuffle);
  ASSERT_EQ(records.size(), 5u);
  for (const Record& record : records) {
    SCOPED_TRACE(record.variant);
    EXPECT_EQ(record.op, "shuffle");
    EXPECT_EQ(record.case_id, "shuffle[N=2,fp32]");
    if (record.variant == "streams") continue;
    EXPECT_EQ(record.status, Status::passed) << record.reason;
    EXPECT_EQ(record.times->samples.size(), 3u) << "one a repetition";
    EXPECT_GT(record.times->median_us, 0);
    EXPECT_TRUE(record.accuracy);
    EXPECT_EQ(record.accuracy->nonfinite_mismatches, 0);
  }
  EXPECT_THAT(variants_of(records), ElementsAre("native", "full", "twice", "streams", "nchw"));
}

TEST(ContextRunner, WhatCannotRunHereIsSkippedWithItsReason) {
  const Record skipped = run_text(kShuffle).at(3);
  EXPECT_EQ(skipped.status, Status::skipped);
  EXPECT_EQ(skipped.reason, "devices only");
  EXPECT_FALSE(skipped.is_timed());
  EXPECT_EQ(skipped.step->us_per_sample, 0);
  EXPECT_EQ(skipped.step->speedup_over_first, 0);
}

// The last node before `node` that writes the tensor; -1 if there is no such node.
int maker_of(const Graph& graph, std::size_t tensor, std::size_t node) {
  for (std::size_t i = node; i-- > 0;) {
    const std::vector<std::size_t>& outputs = graph.nodes[i].outputs;
    if (std::count(outputs.begin(), outputs.end(), tensor) > 0) return static_cast<int>(i);
  }
  return -1;
}

// Counts in the planned graph, and compares with the record.
void expect_details_of_plan(const Record& record, const PlannedStep& step) {
  int conversions = 0, casts = 0, copies = 0;
  double bytes = 0;
  for (std::size_t i = 0; i < step.graph.nodes.size(); ++i) {
    const Problem& problem = step.graph.nodes[i].problem;
    if (problem.op->name == "trans_data") {
      ++conversions;
      bytes += double(problem.inputs[0].bytes()) + double(problem.outputs[0].bytes());
    }
    casts += problem.op->name == "cast";
    copies += problem.op->name == "contiguous" ||
              (problem.op->name == "channel_shuffle" &&
               step.selection.kernels[i]->provider == Provider::framework);
    EXPECT_EQ(record.step->tasks.at(i).name, step.graph.nodes[i].name);
    EXPECT_EQ(record.step->tasks.at(i).cause, step.graph.nodes[i].cause);
    std::vector<int> makers;
    for (const std::size_t input : step.graph.nodes[i].inputs) {
      makers.push_back(maker_of(step.graph, input, i));
    }
    EXPECT_EQ(record.step->tasks.at(i).sources, makers) << step.graph.nodes[i].name;
  }
  const StepDetails& details = *record.step;
  EXPECT_EQ(details.nodes, std::ssize(step.graph.nodes));
  EXPECT_EQ(details.tasks.size(), step.graph.nodes.size());
  EXPECT_EQ(details.trans_data, conversions);
  EXPECT_EQ(record.trans_data, conversions);
  EXPECT_EQ(details.trans_data_bytes, bytes);
  EXPECT_EQ(details.casts, casts);
  EXPECT_EQ(details.copies, copies);
  EXPECT_EQ(details.peak_bytes, step.memory.bytes);
  EXPECT_EQ(details.unshared_bytes, step.memory.unshared_bytes);
}

TEST(ContextRunner, DetailsAreThoseOfThePlan) {
  const PlannedContext planned = planned_text(kShuffle);
  const std::vector<Record> records = run_planned(planned);
  for (std::size_t i = 0; i < records.size(); ++i) {
    SCOPED_TRACE(records[i].variant);
    expect_details_of_plan(records[i], planned.steps[i]);
    EXPECT_EQ(records[i].step->context, "shuffle[N=2,fp32]");
    EXPECT_EQ(records[i].step->index, static_cast<int>(i));
  }
  EXPECT_GE(records[0].step->copies, 1) << "a framework's shuffle is a copy";
  EXPECT_EQ(records[1].step->copies, 0);
  EXPECT_EQ(records[1].step->casts, 3) << "operands to fp16, the result back";
  EXPECT_GT(records[1].step->trans_data, records[4].step->trans_data);
  EXPECT_EQ(records[1].step->summary, "one gather");
}

TEST(ContextRunner, TypesAddUpToTheTasks) {
  const std::vector<Record> records = run_text(kShuffle);
  for (const Record& record : records) {
    if (!record.is_timed()) continue;
    SCOPED_TRACE(record.variant);
    const StepDetails& details = *record.step;
    int count = 0;
    double total = 0, share = 0, tasks = 0;
    for (const TypeTime& type : details.types) {
      count += type.count;
      total += type.total_us;
      share += type.share;
      EXPECT_LE(type.min_us, type.avg_us + 1e-9);
      EXPECT_LE(type.avg_us, type.max_us + 1e-9);
    }
    double start = 0;
    for (const TaskTime& task : details.tasks) {
      EXPECT_DOUBLE_EQ(task.start_us, start) << task.name;
      start += task.duration_us;
      tasks += task.duration_us;
    }
    EXPECT_EQ(count, details.nodes);
    EXPECT_NEAR(total, tasks, 1e-6 * tasks);
    EXPECT_NEAR(share, 1, 1e-9);
    EXPECT_EQ(details.types.front().type, "TransData") << "what tuning takes away comes first";
  }
}

TEST(ContextRunner, SpeedupsArePerSampleOverTheStepBefore) {
  const std::vector<Record> records = run_text(kShuffle);
  const auto per_sample = [&](std::size_t i) {
    return records[i].times->median_us / (i == 2 || i == 4 ? 4 : 2);
  };
  // A disturbed step has no ratio.
  const auto ratio = [&](std::size_t before, std::size_t now) {
    const bool has_one = is_comparable(records[before]) && is_comparable(records[now]);
    return has_one ? per_sample(before) / per_sample(now) : 0;
  };
  const auto step = [&](std::size_t i) -> const StepDetails& { return *records[i].step; };
  EXPECT_EQ(step(0).after, "");
  EXPECT_EQ(step(0).speedup_over_previous, 0);
  EXPECT_DOUBLE_EQ(step(0).speedup_over_first, ratio(0, 0));
  EXPECT_EQ(step(1).after, "native");
  EXPECT_DOUBLE_EQ(step(1).speedup_over_previous, ratio(0, 1));
  EXPECT_EQ(step(2).after, "full");
  EXPECT_EQ(records[2].elements, 4) << "samples of a call";
  EXPECT_DOUBLE_EQ(step(2).us_per_sample, per_sample(2));
  EXPECT_DOUBLE_EQ(step(2).speedup_over_previous, ratio(1, 2));
  EXPECT_EQ(step(4).after, "twice");
  EXPECT_DOUBLE_EQ(step(4).speedup_over_previous, ratio(2, 4));
  EXPECT_DOUBLE_EQ(step(4).speedup_over_first, ratio(0, 4));
}

TEST(ContextRunner, WithoutVerificationNothingIsJudged) {
  RunOptions options = quick();
  options.verify = false;
  for (const Record& record : run_planned(planned_text(kShuffle), options)) {
    if (record.variant == "streams") continue;
    EXPECT_EQ(record.status, Status::unverified);
    EXPECT_FALSE(record.accuracy);
    EXPECT_EQ(record.times->samples.size(), 3u);
  }
}

// relu in one step, softplus in the other: the shapes are equal, the functions are not.
constexpr const char* kOther =
    "blocks:\n"
    "  act: {inputs: [x], nodes: [{name: f, op: relu, in: x, out: y}], outputs: [y]}\n"
    "  soft: {inputs: [x], nodes: [{name: f, op: softplus, in: x, out: y}], outputs: [y]}\n"
    "contexts:\n"
    "  - name: other\n"
    "    inputs: {x: [4, 100]}\n"
    "    nodes: [{include: act, name: act, in: [x], out: [y]}]\n"
    "    outputs: [y]\n"
    "    steps:\n"
    "      - {name: relu}\n"
    "      - {name: softplus, blocks: {act: soft}}\n"
    "      - {name: again, after: relu}\n";

TEST(ContextRunner, AnotherFunctionFailsUntimedAndTheOthersGoOn) {
  const std::vector<Record> records = run_text(kOther);
  EXPECT_EQ(records[0].status, Status::passed) << records[0].reason;
  EXPECT_EQ(records[1].status, Status::failed);
  EXPECT_THAT(records[1].reason, HasSubstr("differs from step 'relu': y: "));
  EXPECT_FALSE(records[1].is_timed());
  EXPECT_TRUE(records[1].step->types.empty());
  EXPECT_EQ(records[1].step->speedup_over_first, 0);
  EXPECT_EQ(records[2].status, Status::passed) << records[2].reason;
  EXPECT_TRUE(records[2].is_timed());
}

// One product in fp32 and through fp16: it passes a loose standard and fails a strict one.
std::string product(const std::string& standard) {
  return "contexts:\n"
         "  - name: product\n"
         "    inputs: {x: [8, 64], w: [64, 8]}\n"
         "    nodes: [{name: mm, op: matmul, in: [x, w], out: y}]\n"
         "    outputs: [y]\n"
         "    steps:\n"
         "      - {name: single, rules: {allow_fp32_to_fp16: false}, variants: {matmul: native}}\n"
         "      - {name: half, precision: O1, standard: " +
         standard + "}\n";
}

TEST(ContextRunner, StandardDecidesHowNearIsNearEnough) {
  const std::vector<Record> strict = run_text(product("prec=1e-9"));
  EXPECT_EQ(strict[0].status, Status::passed) << strict[0].reason;
  EXPECT_EQ(strict[1].status, Status::failed);
  EXPECT_THAT(strict[1].reason, HasSubstr("differs from step 'single'"));
  EXPECT_EQ(run_text(product("prec=1"))[1].status, Status::passed);
  EXPECT_EQ(run_text(product("cosine=0.999"))[1].status, Status::passed);
}

// 2^20 samples of 2^20 values are 4 TiB.
TEST(ContextRunner, WhatDoesNotFitIsAnErrorWithBothNumbers) {
  const std::vector<Record> records = run_text(
      "contexts:\n"
      "  - name: huge\n"
      "    inputs: {x: [1048576, 1048576]}\n"
      "    nodes: [{name: f, op: relu, in: x, out: y}]\n"
      "    outputs: [y]\n"
      "    steps: [{name: a}, {name: b}]\n");
  ASSERT_EQ(records.size(), 2u);
  for (const Record& record : records) {
    EXPECT_EQ(record.status, Status::errored);
    EXPECT_THAT(record.reason,
                testing::ContainsRegex("needs 20[0-9.]* TiB of memory, [0-9.]+ [MG]iB are free"));
    EXPECT_THAT(record.reason, HasSubstr("--no-verify"));
    EXPECT_FALSE(record.is_timed());
  }
}

TEST(ContextRunner, ActivitiesNameStepAndPhase) {
  std::vector<std::string> activities;
  RunHooks hooks;
  hooks.activity = [&](const std::string& what) { activities.push_back(what); };
  PhaseTimes times;
  run_work_unit(planned_text(kOther), quick(), 1, hooks, times);
  EXPECT_THAT(activities, testing::Contains("other[fp32] prepare relu, 1 thread"));
  EXPECT_THAT(activities, testing::Contains("other[fp32] verify softplus, 1 thread"));
  EXPECT_THAT(activities, testing::Contains("other[fp32] time again, 1 thread"));
  EXPECT_THAT(activities, Each(testing::Not(HasSubstr("time softplus"))));
  EXPECT_GT(times.measure, 0);
  EXPECT_GT(times.verify, 0);
}

}  // namespace
}  // namespace opbench
