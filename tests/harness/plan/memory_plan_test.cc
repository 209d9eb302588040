#include "harness/plan/memory_plan.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

namespace opbench {
namespace {

std::size_t add_relu(Graph& graph, std::size_t input) {
  const Op& relu = find_op("relu");
  const std::size_t node = add_node(graph, relu, {input}, Attrs(relu.attrs), "");
  return graph.nodes[node].outputs[0];
}

Graph chain(int length, Dims shape) {
  Graph graph;
  std::size_t last =
      add_tensor(graph, "x", describe(DType::fp32, std::move(shape)), GraphTensor::input);
  for (int i = 0; i < length; ++i) last = add_relu(graph, last);
  graph.tensors[last].role = GraphTensor::output;
  return graph;
}

// Guard zones of 256 bytes on both sides, and places at multiples of 64: 28 bytes take 64.
TEST(MemoryPlan, ApartEveryTensorHasAPlaceOfItsOwn) {
  const MemoryPlan plan = plan_apart(chain(3, {7}));
  EXPECT_EQ(plan.offsets, (std::vector<std::size_t>{256, 832, 1408, 1984}));
  EXPECT_EQ(plan.bytes, 1984u + 64 + 256);
  EXPECT_EQ(plan.unshared_bytes, plan.bytes);
}

TEST(MemoryPlan, ApartThereIsRoomToMoveBehindEveryTensor) {
  const MemoryPlan plan = plan_apart(chain(3, {7}), MemoryPlan::kPage);
  EXPECT_EQ(plan.offsets, (std::vector<std::size_t>{256, 832 + 4096, 1408 + 8192, 1984 + 12288}));
  EXPECT_EQ(plan.bytes, 1984u + 12288 + 64 + 4096 + 256);
}

// 64 places with equal probability: in 6400 draws each has between 50 and 150 (50 is five sigma).
TEST(MemoryPlan, LayoutsPutTensorsAnywhereWithinAPage) {
  EXPECT_EQ(layout_shift(0, 5), 0u);
  EXPECT_EQ(layout_shift(7, 5), layout_shift(7, 5));
  std::map<std::size_t, int> places, differences;
  for (std::uint64_t layout = 1; layout <= 1600; ++layout) {
    for (std::size_t tensor = 0; tensor < 4; ++tensor) {
      const std::size_t shift = layout_shift(layout, tensor),
                        next = layout_shift(layout, tensor + 1);
      EXPECT_EQ(shift % 64, 0u);
      EXPECT_LT(shift, 4096u);
      ++places[shift];
      ++differences[(shift - next) % 4096];
    }
  }
  for (const auto& counts : {places, differences}) {
    EXPECT_EQ(counts.size(), 64u);
    for (const auto& [place, count] : counts) EXPECT_TRUE(count > 50 && count < 150) << place;
  }
}

TEST(MemoryPlan, ApartLargeTensorsBeginOnAHugePage) {
  constexpr std::size_t kMiB = 1 << 20;
  const MemoryPlan plan = plan_apart(chain(2, {kMiB / 4}));
  EXPECT_EQ(plan.offsets, (std::vector<std::size_t>{2 * kMiB, 4 * kMiB, 6 * kMiB}));
}

/// Nodes from the writer of a tensor to its last reader; all nodes for other tensors.
std::pair<std::size_t, std::size_t> life_of(const Graph& graph, std::size_t tensor) {
  if (graph.tensors[tensor].role != GraphTensor::intermediate) return {0, graph.nodes.size()};
  std::size_t first = graph.nodes.size(), last = 0;
  for (std::size_t n = 0; n < graph.nodes.size(); ++n) {
    for (const auto* list : {&graph.nodes[n].inputs, &graph.nodes[n].outputs}) {
      if (std::find(list->begin(), list->end(), tensor) == list->end()) continue;
      first = std::min(first, n);
      last = n;
    }
  }
  return {first, last};
}

/// With every tensor at the place of the layout.
void expect_no_overlap(const Graph& graph, std::uint64_t layout) {
  MemoryPlan plan = plan_memory(graph, layout == 0 ? 0 : MemoryPlan::kPage);
  for (std::size_t i = 0; i < plan.offsets.size(); ++i) plan.offsets[i] += layout_shift(layout, i);
  for (std::size_t a = 0; a < graph.tensors.size(); ++a) {
    EXPECT_EQ(plan.offsets[a] % 64, 0u);
    EXPECT_LE(plan.offsets[a] + graph.tensors[a].desc.bytes() + MemoryPlan::kGuardBytes,
              plan.bytes);
    EXPECT_GE(plan.offsets[a], MemoryPlan::kGuardBytes);
    for (std::size_t b = 0; b < a; ++b) {
      const auto [a_first, a_last] = life_of(graph, a);
      const auto [b_first, b_last] = life_of(graph, b);
      if (a_last < b_first || b_last < a_first) continue;
      const bool is_apart =
          plan.offsets[a] + graph.tensors[a].desc.bytes() + MemoryPlan::kGuardBytes <=
              plan.offsets[b] ||
          plan.offsets[b] + graph.tensors[b].desc.bytes() + MemoryPlan::kGuardBytes <=
              plan.offsets[a];
      ASSERT_TRUE(is_apart) << graph.tensors[a].name << " " << a << " and " << b;
    }
  }
}

// A chain of any length needs its input, its output, and two tensors in turn.
TEST(MemoryPlan, AChainNeedsTwoBuffersBesideItsEnds) {
  const MemoryPlan plan = plan_memory(chain(50, {1024}));
  const std::size_t room = 4096 + 2 * MemoryPlan::kGuardBytes;
  EXPECT_EQ(plan.bytes, 4 * room);
  EXPECT_EQ(plan.unshared_bytes, 51 * room);
}

TEST(MemoryPlan, WhatIsAliveNeverOverlaps) {
  std::mt19937 random(1);
  for (int round = 0; round < 20; ++round) {
    Graph graph;
    std::vector<std::size_t> alive;
    for (int i = 0; i < 4; ++i) {
      const std::int64_t size = 1 + static_cast<std::int64_t>(random() % 500);
      alive.push_back(add_tensor(graph, "x", describe(DType::fp32, {size}), GraphTensor::input));
    }
    for (int i = 0; i < 60; ++i) {
      const std::size_t input = alive[random() % alive.size()];
      if (random() % 4 == 0) {
        const Op& concat = find_op("concat");
        Attrs attrs(concat.attrs);
        attrs.put("axis", std::int64_t{0});
        const std::size_t other = alive[random() % alive.size()];
        const std::size_t node = add_node(graph, concat, {input, other}, std::move(attrs), "");
        if (graph.nodes[node].problem.outputs[0].elements() < 100000) {
          alive.push_back(graph.nodes[node].outputs[0]);
        }
      } else {
        alive.push_back(add_relu(graph, input));
      }
    }
    mark_unread_as_outputs(graph);
    for (const std::uint64_t layout : {0, 1, 2, 1003}) expect_no_overlap(graph, layout);
  }
}

TEST(MemoryPlan, TenThousandNodesInMilliseconds) {
  const Graph graph = chain(10000, {1});
  const auto start = std::chrono::steady_clock::now();
  const MemoryPlan plan = plan_memory(graph);
  const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
  EXPECT_LT(plan.bytes, 5u * 1024);
  EXPECT_LT(seconds.count(), 0.5) << "a tenth of it is planned for; sanitizers and load are slow";
}

}  // namespace
}  // namespace opbench
