// Kernels that cheat. The run must detect each of them, so that none is reported as fast.
#include <gtest/gtest.h>

#include <cstring>
#include <memory>
#include <vector>

#include "harness/plan/case_graph.h"
#include "harness/plan/selected_kernels.h"
#include "harness/run/unit_runner.h"
#include "tests/evaluate.h"

namespace opbench {
namespace {

constexpr std::int64_t kElements = 10007;

Launch honest() {
  static const Problem problem = problem_of(parse_case_id("softplus[10007,fp32]"));
  return find_kernel("softplus", "softplus_v2").prepare(problem);
}

void* output(const KernelArgs& args) { return args.outputs[0]; }

// Makes a kernel of a function that prepares it.
Kernel adversary(Launch (*prepare)(const Problem&)) {
  return {.op = "softplus", .name = "adversary", .summary = "cheats", .prepare = prepare};
}

Record run(const Kernel& kernel, const char* id = "softplus[10007,fp32]") {
  PlannedCase planned{parse_case_id(id), {}, {}};
  planned.graph = build_graph(planned.spec);
  planned.variants = {select_kernels(planned.graph, kernel)};
  RunOptions options;
  options.seconds_per_case = 0.002;
  options.repetitions = 2;
  PhaseTimes times;
  return run_work_unit(planned, options, 1, {}, times).at(0);
}

void expect_caught(const Record& record, const std::string& reason) {
  EXPECT_EQ(record.status, Status::failed);
  EXPECT_NE(record.reason.find(reason), std::string::npos) << record.reason;
  EXPECT_FALSE(record.is_timed()) << "a wrong variant has no time";
  EXPECT_FALSE(record.is_best);
}

}  // namespace

TEST(Adversary, AnHonestKernelPasses) {
  const Record record = run(adversary([](const Problem&) -> Launch { return honest(); }));
  EXPECT_EQ(record.status, Status::passed) << record.reason;
  EXPECT_EQ(record.times->samples.size(), 2u);
}

TEST(Adversary, DoesNothing) {
  expect_caught(run(adversary([](const Problem&) -> Launch { return [](const KernelArgs&) {}; })),
                "NaN on one side only");
}

// Correct at the first call, then returns the same results for ever.
TEST(Adversary, ReturnsTheLastResult) {
  expect_caught(run(adversary([](const Problem&) -> Launch {
                  auto kept = std::make_shared<std::vector<float>>();
                  return [kept, compute = honest()](const KernelArgs& args) {
                    if (kept->empty()) {
                      compute(args);
                      const auto* y = static_cast<const float*>(output(args));
                      kept->assign(y, y + kElements);
                    }
                    std::memcpy(output(args), kept->data(), kElements * sizeof(float));
                  };
                })),
                ", expected ");
}

TEST(Adversary, ChangesItsInput) {
  expect_caught(run(adversary([](const Problem&) -> Launch {
                  return [compute = honest()](const KernelArgs& args) {
                    compute(args);
                    static_cast<float*>(const_cast<void*>(args.inputs[0]))[kElements / 2] += 1;
                  };
                })),
                "changed its input");
}

TEST(Adversary, WritesOneElementTooFar) {
  expect_caught(run(adversary([](const Problem&) -> Launch {
                  return [compute = honest()](const KernelArgs& args) {
                    compute(args);
                    static_cast<float*>(output(args))[kElements] = 0;
                  };
                })),
                "wrote outside the tensor 'result'");
}

TEST(Adversary, WritesOneElementBefore) {
  expect_caught(run(adversary([](const Problem&) -> Launch {
                  return [compute = honest()](const KernelArgs& args) {
                    compute(args);
                    static_cast<float*>(output(args))[-1] = 0;
                  };
                })),
                "wrote outside the tensor 'result'");
}

TEST(Adversary, SkipsTheTail) {
  expect_caught(run(adversary([](const Problem&) -> Launch {
                  return [compute = honest()](const KernelArgs& args) {
                    std::vector<float> whole(kElements);
                    void* elsewhere[] = {whole.data()};
                    compute({args.inputs, elsewhere});
                    std::memcpy(output(args), whole.data(), (kElements - 1) * sizeof(float));
                  };
                })),
                "at [10006]: NaN, expected ");
}

// Caches by address: assumes that its results there are still correct.
TEST(Adversary, CachesByPointer) {
  expect_caught(run(adversary([](const Problem&) -> Launch {
                  auto seen = std::make_shared<const void*>(nullptr);
                  return [seen, compute = honest()](const KernelArgs& args) {
                    if (*seen == args.inputs[0]) return;
                    compute(args);
                    *seen = args.inputs[0];
                  };
                })),
                "gives other bits when it runs again on the same values");
}

// Caches the results of the first data, and returns them after a number of calls. New data detect
// this.
TEST(Adversary, RemembersTheDataItWasVerifiedOn) {
  expect_caught(run(adversary([](const Problem&) -> Launch {
                  auto calls = std::make_shared<int>(0);
                  auto kept = std::make_shared<std::vector<float>>(kElements);
                  return [calls, kept, compute = honest()](const KernelArgs& args) {
                    if ((*calls)++ == 0) {
                      compute(args);
                      std::memcpy(kept->data(), output(args), kElements * sizeof(float));
                    } else {
                      std::memcpy(output(args), kept->data(), kElements * sizeof(float));
                    }
                  };
                })),
                "expected");
}

TEST(Adversary, Throws) {
  const Record record = run(adversary([](const Problem&) -> Launch {
    return [](const KernelArgs&) { throw std::runtime_error("no such device"); };
  }));
  EXPECT_EQ(record.status, Status::errored);
  EXPECT_EQ(record.reason, "no such device");
}

TEST(Adversary, ThrowsWhenPrepared) {
  const Record record = run(adversary([](const Problem&) -> Launch { throw std::bad_alloc(); }));
  EXPECT_EQ(record.status, Status::errored);
}

// A cheating variant does not affect the next one.
TEST(Adversary, DoesNotSpoilTheOthers) {
  PlannedCase planned{parse_case_id("softplus[10007,fp32]"), {}, {}};
  planned.graph = build_graph(planned.spec);
  const Kernel vandal = adversary([](const Problem&) -> Launch {
    return [](const KernelArgs& args) {
      std::memset(const_cast<void*>(args.inputs[0]), 0x55, kElements * sizeof(float));
      static_cast<float*>(args.outputs[0])[kElements] = 0;
    };
  });
  planned.variants = {select_kernels(planned.graph, vandal),
                      select_kernels(planned.graph, find_kernel("softplus", "softplus_v2"))};
  RunOptions options;
  options.seconds_per_case = 0.002;
  options.repetitions = 2;
  PhaseTimes times;
  const std::vector<Record> records = run_work_unit(planned, options, 2, {}, times);
  EXPECT_EQ(records[0].status, Status::failed);
  EXPECT_EQ(records[1].status, Status::passed) << records[1].reason;
  EXPECT_TRUE(records[1].is_best);
}

TEST(Mistrust, ConstantDataProvesLittle) {
  // Corner values would vary the output. A tensor of three elements gets none.
  const Record record = run(adversary([](const Problem& problem) -> Launch {
                              return find_kernel("softplus", "softplus_v2").prepare(problem);
                            }),
                            "softplus[3,fp32,data=constant(2)]");
  EXPECT_EQ(record.status, Status::mistrusted);
  EXPECT_NE(record.reason.find("constant 2.126928"), std::string::npos) << record.reason;
}

}  // namespace opbench
