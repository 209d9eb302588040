// Tests the tensors of a graph in one allocation: values, guard zones, fingerprints.
#include "harness/run/workspace.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "harness/plan/case_graph.h"
#include "harness/run/input_values.h"

namespace opbench {
namespace {

/// relu of `id` in memory. Tensor 0 is the input, tensor 1 is the output.
struct InMemory {
  explicit InMemory(const char* id) : graph(build_graph(parse_case_id(id))) {
    selection = select_kernels(graph, *kernels_of("relu").front());
    memory = plan_apart(graph);
    variant = {&graph, &selection, &memory, nullptr};
    workspace.emplace(memory.bytes);
  }
  const float* floats(std::size_t tensor) const {
    return static_cast<const float*>(workspace->at(variant, tensor));
  }
  std::byte* bytes(std::size_t tensor) const {
    return static_cast<std::byte*>(workspace->at(variant, tensor));
  }

  Graph graph;
  SelectedKernels selection;
  MemoryPlan memory;
  UnitVariant variant;
  std::optional<Workspace> workspace;
};

TEST(Workspace, FillsWhatIsGivenByItsDistributionAndSeed) {
  const InMemory constant("relu[6,fp32,data=constant(2.5)]");
  constant.workspace->load(constant.variant, 1);
  EXPECT_EQ(std::count(constant.floats(0), constant.floats(0) + 6, 2.5F), 6);
  const InMemory normal("relu[100,fp32]");
  normal.workspace->load(normal.variant, 1);
  const std::vector<float> first(normal.floats(0), normal.floats(0) + 100);
  normal.workspace->load(normal.variant, 2);
  EXPECT_FALSE(std::equal(first.begin(), first.end(), normal.floats(0)));
  normal.workspace->load(normal.variant, 1);
  EXPECT_TRUE(std::equal(first.begin(), first.end(), normal.floats(0)));
}

TEST(Workspace, PoisonIsNaNAndLeavesNeighboursAlone) {
  const InMemory relu("relu[7,fp32]");
  relu.workspace->load(relu.variant, 1);
  const std::uint64_t given = relu.workspace->given_fingerprint(relu.variant);
  relu.workspace->poison(relu.variant, 1);
  for (int i = 0; i < 7; ++i) EXPECT_TRUE(std::isnan(relu.floats(1)[i]));
  EXPECT_EQ(relu.workspace->given_fingerprint(relu.variant), given);
  EXPECT_TRUE(relu.workspace->guards_intact(relu.variant, 0));
  EXPECT_TRUE(relu.workspace->guards_intact(relu.variant, 1));
}

TEST(Workspace, OneByteBesideATensorIsSeenUntilItIsWrittenAnew) {
  const InMemory relu("relu[7,fp32]");  // 28 bytes
  for (const std::ptrdiff_t place : {-256, -1, 28, 28 + 255}) {
    relu.workspace->poison(relu.variant, 1);
    relu.bytes(1)[place] ^= std::byte{1};
    EXPECT_FALSE(relu.workspace->guards_intact(relu.variant, 1)) << place;
  }
  relu.workspace->poison(relu.variant, 1);
  EXPECT_TRUE(relu.workspace->guards_intact(relu.variant, 1));
}

TEST(Workspace, FingerprintsFollowTheInputsOnly) {
  const InMemory relu("relu[7,fp32]");
  relu.workspace->load(relu.variant, 1);
  const std::uint64_t before = relu.workspace->given_fingerprint(relu.variant);
  relu.bytes(1)[3] ^= std::byte{1};
  EXPECT_EQ(relu.workspace->given_fingerprint(relu.variant), before);
  relu.bytes(0)[3] ^= std::byte{1};
  EXPECT_NE(relu.workspace->given_fingerprint(relu.variant), before);
}

TEST(Workspace, EvictingKeepsTheValues) {
  const InMemory relu("relu[100,fp32]");
  relu.workspace->load(relu.variant, 1);
  const std::uint64_t before = relu.workspace->given_fingerprint(relu.variant);
  relu.workspace->evict(relu.variant);
  EXPECT_EQ(relu.workspace->given_fingerprint(relu.variant), before);
}

TEST(CornerValues, TakeAQuarterAtMostAndAreTakenOutAgain) {
  const InMemory relu("relu[40,fp32,data=constant(2.5)]");
  relu.workspace->load(relu.variant, 1);
  const std::uint64_t before = relu.workspace->given_fingerprint(relu.variant);
  add_corner_values(*relu.workspace, relu.variant, 1);
  const auto kept = std::count(relu.floats(0), relu.floats(0) + 40, 2.5F);
  EXPECT_LT(kept, 40);
  EXPECT_GE(kept, 30);
  remove_corner_values(*relu.workspace, relu.variant, 1);
  EXPECT_EQ(relu.workspace->given_fingerprint(relu.variant), before);
}

TEST(CornerValues, AreFiniteWhereElementsAreAdded) {
  const Graph graph = build_graph(parse_case_id("mean[4000,fp32]"));
  const SelectedKernels selection = select_kernels(graph, *kernels_of("mean").front());
  const MemoryPlan memory = plan_apart(graph);
  const UnitVariant variant{&graph, &selection, &memory, nullptr};
  const Workspace workspace(memory.bytes);
  workspace.load(variant, 1);
  add_corner_values(workspace, variant, 1);
  const auto* x = static_cast<const float*>(workspace.at(variant, 0));
  EXPECT_TRUE(std::all_of(x, x + 4000, [](float v) { return std::fabs(v) <= 128; }));
}

}  // namespace
}  // namespace opbench
