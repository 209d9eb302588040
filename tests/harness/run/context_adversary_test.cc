// Kernels that cheat inside a context. The run must detect each of them, so that none is reported
// as fast.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstring>
#include <memory>

#include "tests/evaluate.h"
#include "tests/harness/run/run_context.h"

namespace opbench {
namespace {

using testing::HasSubstr;

constexpr std::size_t kNodeElements = 1009;

// Two nodes of the same operator, so that a cheat may compute one of them correctly.
PlannedContext chain() {
  return planned_text(
      "contexts:\n"
      "  - name: chain\n"
      "    inputs: {x: [1009]}\n"
      "    nodes:\n"
      "      - {name: first, op: softplus, in: x, out: a}\n"
      "      - {name: second, op: softplus, in: a, out: y}\n"
      "    outputs: [y]\n"
      "    steps: [{name: cheats}, {name: honest}]\n");
}

Launch honest_node() {
  static const Problem problem = problem_with(find_op("softplus"), {{1009}}, {}, DType::fp32);
  return find_kernel("softplus", "softplus_v2").prepare(problem);
}

/// Both steps, with `prepare` for the second node's kernel in the step `cheats`.
std::vector<Record> run_with(Launch (*prepare)(const Problem&)) {
  PlannedContext planned = chain();
  const Kernel adversary{
      .op = "softplus", .name = "adversary", .summary = "cheats", .prepare = prepare};
  planned.steps[0].selection.kernels.at(1) = &adversary;
  return run_planned(planned);
}

// An error of one step does not affect the next, which uses the same memory.
void expect_caught(const std::vector<Record>& records, const std::string& reason) {
  EXPECT_EQ(records[0].status, Status::failed);
  EXPECT_THAT(records[0].reason, HasSubstr("second (adversary): "));
  EXPECT_THAT(records[0].reason, HasSubstr(reason));
  EXPECT_FALSE(records[0].is_timed()) << "a wrong step has no time";
  EXPECT_EQ(records[0].step->speedup_over_first, 0);
  EXPECT_EQ(records[1].status, Status::passed) << records[1].reason;
  EXPECT_TRUE(records[1].is_timed());
}

float* node_output(const KernelArgs& args) { return static_cast<float*>(args.outputs[0]); }

TEST(ContextAdversary, AnHonestKernelPasses) {
  const std::vector<Record> records =
      run_with([](const Problem&) -> Launch { return honest_node(); });
  EXPECT_EQ(records[0].status, Status::passed) << records[0].reason;
  EXPECT_EQ(records[0].times->samples.size(), 3u);
}

TEST(ContextAdversary, DoesNothing) {
  expect_caught(run_with([](const Problem&) -> Launch { return [](const KernelArgs&) {}; }),
                "NaN on one side only");
}

TEST(ContextAdversary, WritesOneElementTooFar) {
  expect_caught(run_with([](const Problem&) -> Launch {
                  return [compute = honest_node()](const KernelArgs& args) {
                    compute(args);
                    node_output(args)[kNodeElements] = 0;
                  };
                }),
                "wrote outside the tensor 'y'");
}

TEST(ContextAdversary, WritesOneElementBefore) {
  expect_caught(run_with([](const Problem&) -> Launch {
                  return [compute = honest_node()](const KernelArgs& args) {
                    compute(args);
                    node_output(args)[-1] = 0;
                  };
                }),
                "wrote outside the tensor 'y'");
}

TEST(ContextAdversary, ChangesItsInput) {
  expect_caught(run_with([](const Problem&) -> Launch {
                  return [compute = honest_node()](const KernelArgs& args) {
                    compute(args);
                    static_cast<float*>(const_cast<void*>(args.inputs[0]))[kNodeElements / 2] += 1;
                  };
                }),
                "changed its input");
}

TEST(ContextAdversary, SkipsTheTail) {
  expect_caught(run_with([](const Problem&) -> Launch {
                  return [compute = honest_node()](const KernelArgs& args) {
                    std::vector<float> whole(kNodeElements);
                    void* elsewhere[] = {whole.data()};
                    compute({args.inputs, elsewhere});
                    std::memcpy(node_output(args), whole.data(),
                                (kNodeElements - 1) * sizeof(float));
                  };
                }),
                "1008]: NaN, expected ");
}

// Correct while it is verified, then returns the same results for ever.
TEST(ContextAdversary, ReturnsTheLastResult) {
  expect_caught(run_with([](const Problem&) -> Launch {
                  auto kept = std::make_shared<std::vector<float>>();
                  return [kept, compute = honest_node()](const KernelArgs& args) {
                    if (kept->empty()) {
                      compute(args);
                      kept->assign(node_output(args), node_output(args) + kNodeElements);
                    }
                    std::memcpy(node_output(args), kept->data(), kNodeElements * sizeof(float));
                  };
                }),
                ", expected ");
}

// Caches by address: assumes that its results there are still correct.
TEST(ContextAdversary, CachesByPointer) {
  expect_caught(run_with([](const Problem&) -> Launch {
                  auto seen = std::make_shared<const void*>(nullptr);
                  return [seen, compute = honest_node()](const KernelArgs& args) {
                    if (*seen == args.inputs[0]) return;
                    compute(args);
                    *seen = args.inputs[0];
                  };
                }),
                "a timed call left [");
}

// Computes only if its output is poisoned, as in a verification.
TEST(ContextAdversary, ComputesOnPoisonOnly) {
  const std::vector<Record> records = run_with([](const Problem&) -> Launch {
    return [compute = honest_node()](const KernelArgs& args) {
      if (std::isnan(node_output(args)[kNodeElements / 2])) compute(args);
    };
  });
  EXPECT_EQ(records[0].status, Status::failed);
  EXPECT_THAT(records[0].reason, HasSubstr("second (adversary): a timed call left ["));
  EXPECT_FALSE(records[0].is_timed());
  EXPECT_EQ(records[1].status, Status::passed) << records[1].reason;
}

// Writes every element, but from a cached result.
TEST(ContextAdversary, AnswersFromMemoryWhileItIsTimed) {
  const std::vector<Record> records = run_with([](const Problem&) -> Launch {
    auto kept = std::make_shared<std::vector<float>>(kNodeElements);
    return [kept, compute = honest_node(), calls = 0](const KernelArgs& args) mutable {
      if (++calls <= 4) {
        compute(args);
        kept->assign(node_output(args), node_output(args) + kNodeElements);
      } else {
        std::memcpy(node_output(args), kept->data(), kNodeElements * sizeof(float));
      }
    };
  });
  EXPECT_EQ(records[0].status, Status::failed) << name(records[0].status);
  EXPECT_FALSE(records[0].is_timed());
  EXPECT_EQ(records[1].status, Status::passed) << records[1].reason;
}

TEST(ContextAdversary, Throws) {
  const std::vector<Record> records = run_with([](const Problem&) -> Launch {
    return [](const KernelArgs&) { throw std::runtime_error("no such device"); };
  });
  EXPECT_EQ(records[0].status, Status::errored);
  EXPECT_EQ(records[0].reason, "no such device");
  EXPECT_EQ(records[1].status, Status::passed) << records[1].reason;
}

TEST(ContextAdversary, ThrowsWhenPrepared) {
  const std::vector<Record> records =
      run_with([](const Problem&) -> Launch { throw std::bad_alloc(); });
  EXPECT_EQ(records[0].status, Status::errored);
  EXPECT_EQ(records[1].status, Status::passed) << records[1].reason;
}

}  // namespace
}  // namespace opbench
