// Every call gets other inputs, and a call that does not write a result is detected.
#include "harness/run/call_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <vector>

#include "harness/plan/case_graph.h"
#include "harness/plan/selected_kernels.h"
#include "tests/evaluate.h"

namespace opbench {
namespace {

/// A case in memory with its native kernel.
struct BoundCase {
  explicit BoundCase(const char* id)
      : graph(build_graph(parse_case_id(id))),
        selection(select_kernels(graph, find_kernel(graph.nodes[0].problem.op->name, "native"))),
        memory(plan_apart(graph)),
        variant{&graph, &selection, &memory, nullptr},
        workspace(memory.bytes),
        call(graph, selection.kernels, workspace.storage_of(variant), 1) {
    workspace.load(variant, 7);
    call.run();
  }

  std::vector<std::byte> bytes_of(std::size_t tensor) const {
    const auto* from = static_cast<const std::byte*>(workspace.at(variant, tensor));
    return {from, from + graph.tensors[tensor].desc.bytes()};
  }

  Graph graph;
  SelectedKernels selection;
  MemoryPlan memory;
  UnitVariant variant;
  Workspace workspace;
  BoundGraph call;
};

// Runs `call` under the watch. Returns false at the first call that skipped work.
template <class Call>
bool watched(CallWatch& watch, int calls, Call call) {
  watch.begin(calls);
  for (int i = 0; i < calls; ++i) {
    watch.before();
    call(i);
    if (!watch.after([&] { call(i); })) return false;
  }
  return true;
}

}  // namespace

TEST(CallWatch, EveryCallSeesAnotherInput) {
  BoundCase bound("relu[1000,fp32]");
  CallWatch watch(bound.variant, bound.workspace, 7);
  const std::vector<std::byte> loaded = bound.bytes_of(0);
  std::vector<std::byte> before;
  EXPECT_TRUE(watched(watch, 50, [&](int) {
    std::vector<std::byte> now = bound.bytes_of(0);
    EXPECT_NE(now, before);
    before = std::move(now);
    bound.call.run();
  }));
  EXPECT_EQ(watch.missed(), "");
  watch.restore();
  EXPECT_EQ(bound.bytes_of(0), loaded);
}

// The places are unpredictable.
TEST(CallWatch, EveryCallOfARepetitionChangesAnotherPlace) {
  BoundCase bound("relu[100000,fp32]");
  CallWatch watch(bound.variant, bound.workspace, 7);
  const std::vector<std::byte> loaded = bound.bytes_of(0);
  std::set<std::size_t> places;
  watched(watch, 200, [&](int) {
    const std::vector<std::byte> now = bound.bytes_of(0);
    for (std::size_t i = 0; i < now.size(); i += 4) {
      if (std::memcmp(&now[i], &loaded[i], 4) != 0) places.insert(i);
    }
    bound.call.run();
  });
  EXPECT_GT(places.size(), 195u);
}

TEST(CallWatch, ARefillLeavesNoRowAndCanBeUndone) {
  // Dense, padded, and a permutation.
  for (const char* id : {"relu[64x50,fp32,ND]", "relu[2x3x4x4,fp16,NC1HWC0]",
                         "index_select[6x40,6,fp32,ND,axis=0]"}) {
    BoundCase bound(id);
    CallWatch watch(bound.variant, bound.workspace, 7);
    const std::vector<std::byte> loaded = bound.bytes_of(0);
    const std::size_t row = bound.graph.tensors[0].desc.bytes() / 6;
    std::set<std::vector<std::byte>> seen = {loaded};
    for (int i = 0; i < 5; ++i) {
      watch.refill();
      const std::vector<std::byte> now = bound.bytes_of(0);
      EXPECT_TRUE(seen.insert(now).second) << id;
      EXPECT_NE(std::memcmp(now.data(), loaded.data(), row), 0) << id;
      watched(watch, 3, [&](int) { bound.call.run(); });
    }
    watch.restore();
    EXPECT_EQ(bound.bytes_of(0), loaded) << id;
  }
}

TEST(CallWatch, AValueThatACaseStatesStays) {
  BoundCase bound("relu[1000,fp32,data=arange(-5,0.01)]");
  CallWatch watch(bound.variant, bound.workspace, 7);
  const std::vector<std::byte> loaded = bound.bytes_of(0);
  watch.refill();
  EXPECT_EQ(bound.bytes_of(0), loaded);
}

TEST(CallWatch, WhatAnHonestCallLeftComesBack) {
  for (const char* id : {"relu[1000,fp32]", "relu[2x3x4x4,fp16,NC1HWC0]", "mean[1000,fp32]"}) {
    BoundCase bound(id);
    CallWatch watch(bound.variant, bound.workspace, 7);
    for (int repetition = 0; repetition < 6; ++repetition) {
      watch.refill();
      watched(watch, 4, [&](int) { bound.call.run(); });
      watch.note();
    }
    EXPECT_TRUE(watch.repeats_its_results([&] { bound.call.run(); }, 1)) << id;
    watch.restore();
  }
}

// Recomputes only if one of its first hundred inputs has changed, as each repetition does.
TEST(CallWatch, WhatACallDidNotComputeDoesNotComeBack) {
  BoundCase bound("relu[1000,fp32]");
  const std::size_t output = bound.graph.nodes[0].outputs[0];
  for (const int calls : {1, 4}) {
    CallWatch watch(bound.variant, bound.workspace, 7);
    std::vector<std::byte> sample, kept;
    const auto call = [&] {
      std::vector<std::byte> now = bound.bytes_of(0);
      now.resize(400);
      if (now != sample) {
        bound.call.run();
        sample = std::move(now);
        kept = bound.bytes_of(output);
      }
      std::memcpy(bound.workspace.at(bound.variant, output), kept.data(), kept.size());
    };
    for (int repetition = 0; repetition < 6; ++repetition) {
      watch.refill();
      EXPECT_TRUE(watched(watch, calls, [&](int) { call(); }));
      watch.note();
    }
    EXPECT_FALSE(watch.repeats_its_results(call, 1)) << calls;
    watch.restore();
  }
}

TEST(CallWatch, ACallThatIsLeftOutIsMissed) {
  BoundCase bound("relu[2x3,fp32]");
  CallWatch watch(bound.variant, bound.workspace, 7);
  EXPECT_FALSE(watched(watch, 200, [&](int i) {
    if (i % 2 == 0) bound.call.run();
  }));
  EXPECT_THAT(watch.missed(),
              testing::MatchesRegex("a timed call left \\[[01],[012]\\] of 'result' as it was "
                                    "before the call"));
}

// The result equals the value that was overwritten: small numbers and flags have few other values.
TEST(CallWatch, AResultThatHappensToBeTheValueIsNone) {
  for (const char* id : {"relu[64,fp16]", "cast[64,fp32,to=bool]", "cast[64,fp32,to=int8]"}) {
    BoundCase bound(id);
    CallWatch watch(bound.variant, bound.workspace, 7);
    const std::size_t output = bound.graph.nodes[0].outputs[0];
    // Keeps the result of the first call, and writes that value to the overwritten place.
    std::vector<std::byte> fixed;
    EXPECT_TRUE(watched(watch, 100,
                        [&](int) {
                          if (fixed.empty()) fixed = bound.bytes_of(output);
                          auto* to =
                              static_cast<std::byte*>(bound.workspace.at(bound.variant, output));
                          std::memcpy(to, fixed.data(), fixed.size());
                        }))
        << id << watch.missed();
  }
}

TEST(CallWatch, PaddingStaysAsItIs) {
  BoundCase bound("relu[2x3x2x2,fp16,NC1HWC0]");
  CallWatch watch(bound.variant, bound.workspace, 7);
  EXPECT_TRUE(watched(watch, 100, [&](int) { bound.call.run(); }));
  // 3 of 16 lanes hold numbers.
  for (const std::size_t tensor : {std::size_t{0}, bound.graph.nodes[0].outputs[0]}) {
    const std::vector<std::byte> bytes = bound.bytes_of(tensor);
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      if (i / 2 % 16 >= 3) {
        EXPECT_EQ(bytes[i], std::byte{0}) << tensor << ' ' << i;
      }
    }
  }
}

}  // namespace opbench
