// Every call sees other inputs, and a call that leaves a result as it was is none.
#include "harness/run/call_watch.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <set>
#include <vector>

#include "harness/plan/case_graph.h"
#include "harness/plan/selection.h"
#include "tests/evaluate.h"

namespace opbench {
namespace {

/// A case in memory with its native kernel.
struct Bound {
  explicit Bound(const char* id)
      : graph(build_graph(parse_case_id(id))),
        selection(select_kernels(graph, find_kernel(graph.nodes[0].problem.op->name, "native"))),
        memory(plan_apart(graph)),
        runnable{&graph, &selection, &memory, nullptr},
        workspace(memory.bytes),
        call(graph, selection.kernels, workspace.storage_of(runnable), 1) {
    workspace.load(runnable, 7);
    call.run();
  }

  std::vector<std::byte> bytes_of(std::size_t tensor) const {
    const auto* from = static_cast<const std::byte*>(workspace.at(runnable, tensor));
    return {from, from + graph.tensors[tensor].desc.bytes()};
  }

  Graph graph;
  Selection selection;
  MemoryPlan memory;
  Runnable runnable;
  Workspace workspace;
  BoundGraph call;
};

// Calls what `call` does, under watch; false at the first that is none.
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
  Bound bound("relu[1000,fp32]");
  CallWatch watch(bound.runnable, bound.workspace, 7);
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

// No call before has seen what the last one sees.
TEST(CallWatch, TheLastCallSeesNewValues) {
  Bound bound("relu[1000,fp32]");
  CallWatch watch(bound.runnable, bound.workspace, 7);
  std::set<std::vector<std::byte>> seen;
  for (const int calls : {1, 1, 40, 40}) {
    std::vector<std::byte> last;
    watched(watch, calls, [&](int i) {
      last = bound.bytes_of(0);
      if (i + 1 < calls) seen.insert(last);
      bound.call.run();
    });
    EXPECT_TRUE(seen.insert(last).second) << calls;
  }
}

TEST(CallWatch, ACallThatIsLeftOutIsMissed) {
  Bound bound("relu[2x3,fp32]");
  CallWatch watch(bound.runnable, bound.workspace, 7);
  EXPECT_FALSE(watched(watch, 200, [&](int i) {
    if (i % 2 == 0) bound.call.run();
  }));
  EXPECT_THAT(watch.missed(),
              testing::MatchesRegex("a timed call left \\[[01],[012]\\] of 'result' as it was "
                                    "before the call"));
}

// The result is the very value that stood there: small numbers and flags have few others.
TEST(CallWatch, AResultThatHappensToBeTheValueIsNone) {
  for (const char* id : {"relu[64,fp16]", "cast[64,fp32,to=bool]", "cast[64,fp32,to=int8]"}) {
    Bound bound(id);
    CallWatch watch(bound.runnable, bound.workspace, 7);
    const std::size_t output = bound.graph.nodes[0].outputs[0];
    // Keeps the result as the first call leaves it, and writes that value where it was spoilt.
    std::vector<std::byte> fixed;
    EXPECT_TRUE(watched(watch, 100,
                        [&](int) {
                          if (fixed.empty()) fixed = bound.bytes_of(output);
                          auto* to =
                              static_cast<std::byte*>(bound.workspace.at(bound.runnable, output));
                          std::memcpy(to, fixed.data(), fixed.size());
                        }))
        << id << watch.missed();
  }
}

TEST(CallWatch, PaddingStaysAsItIs) {
  Bound bound("relu[2x3x2x2,fp16,NC1HWC0]");
  CallWatch watch(bound.runnable, bound.workspace, 7);
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
