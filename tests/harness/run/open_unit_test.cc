// A case and a context in memory, like in a run and in a worker of the check.
#include "harness/run/open_unit.h"

#include <gtest/gtest.h>

#include <map>
#include <set>

#include "harness/plan/case_graph.h"
#include "tensor/error.h"
#include "tensor/parallel.h"
#include "tests/harness/run/run_context.h"

namespace opbench {
namespace {

PlannedCase planned_case(const char* id) {
  PlannedCase planned{parse_case_id(id), {}, {}};
  planned.graph = build_graph(planned.spec);
  for (const Kernel* kernel : kernels_of(planned.spec.op->name)) {
    SelectedKernels variant = select_kernels(planned.graph, *kernel);
    if (variant.refusal.empty()) planned.variants.push_back(std::move(variant));
  }
  return planned;
}

// relu twice, in two steps.
PlannedContext planned_context() {
  return planned_text(
      "contexts:\n"
      "  - name: twice\n"
      "    inputs: {x: [100]}\n"
      "    nodes:\n"
      "      - {name: first, op: relu, in: x, out: a}\n"
      "      - {name: second, op: softplus, in: a, out: y}\n"
      "    outputs: [y]\n"
      "    steps: [{name: one}, {name: two}]\n");
}

std::vector<std::size_t> open_all(OpenUnit& open) {
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < open.unit().size(); ++i) all.push_back(i);
  open.require_memory(all, true);
  open.allocate(all);
  for (const std::size_t i : all) open.prepare(i);
  return all;
}

// Other operations in between do not change the bits: verification of another variant, corner
// values, other seeds.
void expect_same_bits_every_time(const WorkUnit& unit) {
  PhaseTimes times;
  OpenUnit open(unit, 2, times);
  const std::vector<std::size_t> all = open_all(open);
  ASSERT_GE(all.size(), 2u);
  const auto bits = [&](std::size_t i) {
    open.load(i, {open.unit().seed});
    with_threads(2, [&] { open.bound(i).run(); });
    return open.result_bits(i);
  };
  std::vector<std::string> first;
  for (const std::size_t i : all) {
    first.push_back(bits(i));
    EXPECT_EQ(first.back().size(), 16u);
  }
  std::int64_t judged = 0;  // in all: equal tasks of two steps are judged once
  for (const std::size_t i : all) {
    const Verification found = open.verify(i, open.unit().seed + 1);
    EXPECT_NE(found.judgement.verdict, Verdict::failed) << found.judgement.reason;
    judged += found.stats.count;
  }
  EXPECT_GT(judged, 0);
  for (const std::size_t i : all) EXPECT_EQ(bits(i), first[i]) << open.variant(i).name();
}

TEST(OpenUnit, ACaseGivesTheSameResultsEveryTime) {
  expect_same_bits_every_time(planned_case("relu[100,fp32]"));
}

TEST(OpenUnit, AContextGivesTheSameResultsEveryTime) {
  expect_same_bits_every_time(planned_context());
}

// Bound to other places, with the same values and intact guard zones around them.
void expect_same_bits_everywhere(const WorkUnit& unit) {
  PhaseTimes times;
  OpenUnit open(unit, 1, times, {.slack = MemoryPlan::kPage});
  std::map<std::size_t, std::string> first;
  for (const std::size_t i : open_all(open)) {
    open.load(i, {open.unit().seed});
    for (const std::uint64_t layout : {0, 1, 1002, 1}) {
      open.move(layout);
      const UnitVariant& variant = open.variant(i);
      for (std::size_t tensor = 0; tensor < variant.graph->tensors.size(); ++tensor) {
        const auto at = reinterpret_cast<std::uintptr_t>(open.workspace().at(variant, tensor));
        EXPECT_EQ(
            at % MemoryPlan::kPage,
            (variant.memory->offsets[tensor] + layout_shift(layout, tensor)) % MemoryPlan::kPage);
      }
      EXPECT_TRUE(open.workspace().guards_intact(variant, 0));
      with_threads(1, [&] { open.bound(i).run(); });
      const std::string bits = open.result_bits(i);
      EXPECT_EQ(first.emplace(i, bits).first->second, bits) << layout;
    }
    EXPECT_NE(open.verify(i, open.unit().seed + 1).judgement.verdict, Verdict::failed);
    open.move(0);
  }
}

TEST(OpenUnit, ACaseGivesTheSameResultsWhereverItsTensorsLie) {
  expect_same_bits_everywhere(planned_case("add[100,100,fp32]"));
}

TEST(OpenUnit, AContextGivesTheSameResultsWhereverItsTensorsLie) {
  expect_same_bits_everywhere(planned_context());
}

// Each copy has addresses of its own, which return after a round.
TEST(OpenUnit, TensorsRotateThroughCopiesOfTheMemory) {
  PhaseTimes times;
  OpenUnit open(planned_case("add[100,100,fp32]"), 1, times, {.copies = 3});
  open_all(open);
  std::set<const void*> places;
  CallWatch& watch = open.begin_timing(0, 5);
  for (int sample = 0; sample < 7; ++sample) {
    open.rotate();
    watch.refill();
    watch.begin(4);
    places.insert(open.workspace().at(open.variant(0), 0));
    const auto call = [&] { with_threads(1, [&] { open.bound(0).run(); }); };
    for (int k = 0; k < 4; ++k) {
      watch.before();
      call();
      EXPECT_TRUE(watch.after(call));
    }
    watch.note();
  }
  EXPECT_EQ(places.size(), 7u) << "the places within pages differ, too";
  EXPECT_NE(open.end_timing(0).judgement.verdict, Verdict::failed);
  EXPECT_NE(open.verify(1, open.unit().seed).judgement.verdict, Verdict::failed);
}

TEST(OpenUnit, VariantsShareMemoryAndStepsTakeTurnsInIt) {
  PhaseTimes times;
  const OpenUnit of_case(planned_case("relu[100,fp32]"), 1, times);
  EXPECT_FALSE(of_case.unit().is_context());
  EXPECT_EQ(of_case.unit().id, "relu[100,fp32,ND]");
  EXPECT_EQ(of_case.variant(0).graph, of_case.variant(1).graph);
  EXPECT_EQ(of_case.variant(0).memory, of_case.variant(1).memory);
  const OpenUnit of_context(planned_context(), 1, times);
  EXPECT_TRUE(of_context.unit().is_context());
  EXPECT_EQ(of_context.unit().id, "twice[fp32]");
  EXPECT_NE(of_context.variant(0).graph, of_context.variant(1).graph);
  EXPECT_EQ(of_context.variant(0).seed_of(0, 7), of_context.variant(1).seed_of(0, 7));
}

TEST(OpenUnit, WhatDoesNotFitIsRefusedBeforeItIsAllocated) {
  PhaseTimes times;
  const OpenUnit open(planned_case("relu[1048576x1048576,fp32]"), 1, times);
  const std::size_t first = 0;
  EXPECT_THROW(open.require_memory({&first, 1}, true), RunError);
  EXPECT_FALSE(open.is_allocated());
}

}  // namespace
}  // namespace opbench
