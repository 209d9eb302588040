// The tolerances fail broken kernels and pass correct ones.
#include "tests/lab/audit.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "harness/run/example_case.h"
#include "tests/evaluate.h"
#include "tests/lab/attainable.h"

namespace opbench {
namespace {

const MutationRow& row_called(const OperatorAudit& audit, std::string_view name) {
  for (const MutationRow& row : audit.rows) {
    if (row.mutation->name == name) return row;
  }
  throw std::runtime_error("no such mutation");
}

}  // namespace

TEST(Audit, BreaksSoftplusInMoreThanTwentyWays) {
  const OperatorAudit found = audit(find_op("softplus"), {1, 1}, nullptr);
  int effective = 0;
  for (const MutationRow& row : found.rows) effective += row.effective > 0 ? 1 : 0;
  EXPECT_GE(effective, 20);
  // A change below the rounding of bf16 is not a defect.
  EXPECT_GE(found.killed(), 0.9 * found.effective());
  EXPECT_GT(row_called(found, "no-threshold").killed[0], 0);
  for (const char* name : {"exp-overflows", "cut-polynomial", "stale", "skipped-tail",
                           "off-by-one-block", "swallowed-nan", "rounding"}) {
    const MutationRow& row = row_called(found, name);
    EXPECT_GT(row.effective, 0) << name;
    EXPECT_EQ(row.killed[0], row.effective) << name << " passes " << row.survivor;
  }
}

// The surviving mutations are flushed subnormals, and sums whose few wrong terms are small compared
// with the others.
TEST(Audit, ARunKillsMostOfAllOperators) {
  int effective = 0, killed = 0;
  for (const Op* op : arithmetic_operators()) {
    const OperatorAudit found = audit(*op, {1, 2}, nullptr);
    effective += found.effective();
    killed += found.killed();
    EXPECT_EQ(found.false_failure_count, 0)
        << op->name << ": " << found.false_failures[0].case_id << ' '
        << found.false_failures[0].variant << ": " << found.false_failures[0].reason;
    EXPECT_GT(found.honest_runs, 0) << op->name;
  }
  EXPECT_GE(killed, 0.95 * effective);
}

// In long sums and in an operator that computes in fp16, some tries have no visible effect. An
// error within the rounding of a correct result is not a defect. All other defects are detected.
TEST(Audit, ARunSeesTheDefectsOfEveryOperator) {
  for (const char* name : {"sum", "mean", "sum_grad", "cross_entropy", "pairwise_iou", "mse_loss",
                           "l1_loss", "smooth_l1_loss", "bce_with_logits"}) {
    const OperatorAudit found = audit(find_op(name), {8, 0}, nullptr);
    // ptiou states about twelve roundings to fp16, so fewer defects of it are detected.
    const double least = std::string_view(name) == "pairwise_iou" ? 0.9 : 0.95;
    EXPECT_GE(found.seen(), least * found.defects()) << name;
    EXPECT_LT(found.equivalent(), 0.12 * found.defects()) << name;
    int survivors = 0;
    for (const MutationRow& row : found.rows) {
      survivors += row.survivors();
      EXPECT_EQ(row.survivors() > 0, !row.survivor.empty()) << name << ' ' << row.mutation->name;
    }
    EXPECT_EQ(survivors, found.defects() - found.seen()) << name;
  }
}

TEST(Audit, ARunSeesEachMutationOfModels) {
  std::map<std::string_view, OperatorAudit> audits;
  for (const auto list : {attention_mutations(), language_mutations(), vision_mutations()}) {
    for (const Mutation& mutation : list) {
      for (const std::string_view op : mutation.ops) {
        if (op.empty()) continue;
        if (!audits.contains(op)) audits.emplace(op, audit(find_op(op), {1, 0}, nullptr));
        const MutationRow& row = row_called(audits.at(op), mutation.name);
        EXPECT_GT(row.effective, 0) << op << ' ' << mutation.name;
        EXPECT_EQ(row.seen, row.defects) << op << ' ' << mutation.name;
      }
    }
  }
}

// Half a unit is rounding. Half a unit in a result that differs by 2 % is a defect.
TEST(Audit, WhatRoundingExplainsIsNoDefect) {
  const Case c = parse_case_id("mul[64,64,fp32]");
  const HonestRun run(find_kernel("mul", "native"), c, 3);
  EXPECT_TRUE(is_attainable(run, run.results()));
  const TensorDesc& desc = run.problem().outputs[0];
  std::vector<double> values = run.values(desc, run.results()[0]);
  for (double& value : values) value *= 1 + 0x1p-23;
  EXPECT_TRUE(is_attainable(run, {run.elements(desc, values)}));
  for (double& value : values) value *= 1 + 0x1p-20;
  EXPECT_FALSE(is_attainable(run, {run.elements(desc, values)}));
}

// A mutation without any effect is not counted: relu has no negative results.
TEST(Audit, WhatChangesNothingIsNotCounted) {
  const OperatorAudit found = audit(find_op("relu"), {1, 0}, nullptr);
  EXPECT_EQ(row_called(found, "absolute").effective, 0);
  EXPECT_GT(row_called(found, "zeros").effective, 0);
}

TEST(Audit, EveryMutationIsCalledOncePerOperator) {
  std::set<std::pair<std::string_view, std::string_view>> names;
  for (const Mutation* mutation : all_mutations()) {
    for (std::size_t i = 0; i == 0 || (i < mutation->ops.size() && !mutation->ops[i].empty());
         ++i) {
      EXPECT_TRUE(names.emplace(mutation->name, mutation->ops[i]).second) << mutation->name;
    }
  }
}

}  // namespace opbench
