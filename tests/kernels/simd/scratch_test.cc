// Tests temporaries that kernels share if they never run at the same time.
#include "kernels/simd/scratch.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <thread>

#include "tests/harness/context_support.h"
#include "tests/harness/run/run_step.h"

namespace opbench {
namespace {

constexpr std::size_t kLine = 64;

std::size_t address(const Scratch& scratch) {
  return reinterpret_cast<std::size_t>(scratch.data());
}

TEST(Scratch, HasMemoryOfItsOwnWithoutAPool) {
  const Scratch a(100), b(100);
  ASSERT_NE(a.data(), nullptr);
  std::fill_n(a.data(), 100, 1.0F);
  std::fill_n(b.data(), 100, 2.0F);
  EXPECT_EQ(a.data()[0], 1);
  EXPECT_EQ(a.data()[99], 1);
  EXPECT_EQ(b.data()[99], 2);
}

TEST(Scratch, OfOneUserLieSideBySideInWholeLines) {
  ScratchPool pool;
  const ScratchPool::User user(pool);
  const Scratch a(1), b(17), c(16);  // 4, 68 and 64 bytes: 1, 2 and 1 lines
  EXPECT_EQ(pool.bytes(), 4 * kLine);
  EXPECT_EQ(address(a) % kLine, 0u);
  EXPECT_EQ(address(b) - address(a), kLine);
  EXPECT_EQ(address(c) - address(a), 3 * kLine);
}

TEST(Scratch, UsersShareWhatTheLargestNeeds) {
  ScratchPool pool;
  const auto scratch_of_user = [&](std::int64_t count) {
    const ScratchPool::User user(pool);
    return Scratch(count);
  };
  const Scratch small = scratch_of_user(16);
  EXPECT_EQ(pool.bytes(), kLine);
  const Scratch large = scratch_of_user(1000);  // 4000 bytes: 63 lines
  EXPECT_EQ(pool.bytes(), 63 * kLine);
  const Scratch last = scratch_of_user(32);
  EXPECT_EQ(pool.bytes(), 63 * kLine) << "a smaller user takes nothing more";
  EXPECT_EQ(address(small), address(large)) << "the pool moved, and its users with it";
  EXPECT_EQ(address(last), address(large));
  std::fill_n(large.data(), 1000, 3.0F);
  EXPECT_EQ(small.data()[15], 3);
}

TEST(Scratch, NothingTakesNothing) {
  ScratchPool pool;
  const ScratchPool::User user(pool);
  const Scratch none(0);
  EXPECT_EQ(pool.bytes(), 0u);
}

// A launch may outlive the pool that its kernel was prepared with.
TEST(Scratch, KeepsThePoolsMemoryAlive) {
  auto pool = std::make_unique<ScratchPool>();
  std::optional<Scratch> scratch;
  {
    const ScratchPool::User user(*pool);
    scratch.emplace(1000);
  }
  pool.reset();
  std::fill_n(scratch->data(), 1000, 4.0F);
  EXPECT_EQ(scratch->data()[999], 4);
}

TEST(Scratch, PoolIsLeftWithItsUser) {
  ScratchPool outer, inner;
  const ScratchPool::User user(outer);
  {
    const ScratchPool::User other(inner);
    const Scratch scratch(16);
  }
  EXPECT_EQ(inner.bytes(), kLine);
  EXPECT_EQ(outer.bytes(), 0u);
  const Scratch scratch(32);
  EXPECT_EQ(outer.bytes(), 2 * kLine);
  EXPECT_EQ(inner.bytes(), kLine);
}

TEST(Scratch, OtherThreadsDoNotUseThePool) {
  ScratchPool pool;
  const ScratchPool::User user(pool);
  std::thread([] { const Scratch scratch(1000); }).join();
  EXPECT_EQ(pool.bytes(), 0u);
}

// Three convolutions of different sizes, the largest in the middle, forward and backward.
ContextBuilder convolutions() {
  ContextBuilder builder("convolutions");
  builder.input("x", {2, 16, 6, 6})
      .parameter("w1", {32, 16, 1, 1})
      .parameter("w2", {32, 32, 3, 3})
      .parameter("w3", {16, 32, 1, 1})
      .node("conv2d", {"x", "w1"}, {"a"})
      .node("conv2d", {"a", "w2"}, {"b"}, {{"padding", "1"}})
      .node("conv2d", {"b", "w3"}, {"c"})
      .output("c");
  builder.context().backward = true;
  return builder;
}

std::vector<StepResult> results_in_pool(const PlannedStep& step, ScratchPool& pool) {
  const Workspace memory(step.memory.bytes);
  const UnitVariant variant = unit_variant(step);
  std::vector<StepResult> results;
  with_threads(2, [&] {
    const BoundGraph bound(step.graph, step.selection.kernels, memory.storage_of(variant), 2, false,
                           &pool);
    for (int run = 0; run < 2; ++run) {  // the second run finds the data of the first
      memory.load(variant, 1);
      bound.run();
    }
    results = collect_results(step, memory.storage_of(variant));
  });
  return results;
}

TEST(Scratch, ConvolutionsInAPoolComputeTheSame) {
  const ContextBuilder builder = convolutions();
  const PlannedStep step = builder.plan(builder.step());
  ScratchPool pool;
  const std::vector<StepResult> found = results_in_pool(step, pool);
  const std::vector<StepResult> expected = results_of(step);
  ASSERT_EQ(found.size(), expected.size());
  ASSERT_FALSE(found.empty());
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].values, expected[i].values) << found[i].name;
  }
}

TEST(Scratch, PoolIsAsLargeAsTheNodeThatNeedsMost) {
  const ContextBuilder builder = convolutions();
  const PlannedStep step = builder.plan(builder.step());
  ScratchPool whole;
  results_in_pool(step, whole);
  std::size_t largest = 0, sum = 0;
  for (std::size_t i = 0; i < step.graph.nodes.size(); ++i) {
    ScratchPool alone;
    with_threads(2, [&] {
      const ScratchPool::User user(alone);
      step.selection.kernels[i]->prepare(step.graph.nodes[i].problem);
    });
    largest = std::max(largest, alone.bytes());
    sum += alone.bytes();
  }
  EXPECT_EQ(whole.bytes(), largest);
  EXPECT_LT(largest, sum);
}

// Each vector of these floats is in one line. The memory is kept until more is requested.
TEST(AlignedFloats, BeginAtALineAndKeepTheirRoom) {
  AlignedFloats floats;
  for (const std::int64_t count : {1, 17, 4096}) {
    floats.resize(count);
    EXPECT_EQ(reinterpret_cast<std::size_t>(floats.data()) % 64, 0u) << count;
    std::fill_n(floats.data(), count, 3.0F);
  }
  floats.resize(2);
  EXPECT_EQ(floats.data()[4095], 3.0F);
}

}  // namespace
}  // namespace opbench
