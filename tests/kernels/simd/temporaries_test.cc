// Tests the memory that kernels state in addition to inputs and outputs.
#include <gmock/gmock.h>

#include "harness/plan/case_graph.h"
#include "harness/plan/selected_kernels.h"
#include "harness/run/unit_runner.h"
#include "tensor/parallel.h"
#include "tests/evaluate.h"

namespace opbench {
namespace {

std::size_t temporaries(const char* id, const char* variant) {
  const Problem problem = problem_of(parse_case_id(id));
  std::size_t bytes = 0;
  with_threads(2,
               [&] { bytes = temporary_bytes(find_kernel(problem.op->name, variant), problem); });
  return bytes;
}

}  // namespace

TEST(Temporaries, AreCountedWhereTheyAreBig) {
  EXPECT_EQ(temporaries("axpy[1000,1000,fp32]", "native"), 0u);
  EXPECT_EQ(temporaries("axpy[1000,1000,fp32]", "axpy"), 0u);
  EXPECT_EQ(temporaries("sgd[1000,1000,1000,fp16]", "native"), 2u * 2000);
  EXPECT_EQ(temporaries("sgd[1000,1000,1000,fp16,sizes=[300,600,100]]", "native"), 2u * 1200);
  EXPECT_EQ(temporaries("pairwise_iou[10x4,20x4,fp16]", "native"), 4u * (5 * 30 + 2 * 200));
  EXPECT_EQ(temporaries("cat_shuffle[2x4x3x3,2x4x3x3,fp32]", "native"), 2u * 8 * 9 * 4);
  EXPECT_EQ(temporaries("cat_shuffle[2x4x3x3,2x4x3x3,fp32]", "full"), 2u * 8 * 9 * 4);
  EXPECT_EQ(temporaries("cat_shuffle_split[2x4x3x3,2x4x3x3,fp32]", "native"), 2u * 2 * 8 * 9 * 4);
  EXPECT_EQ(temporaries("cat_shuffle_split[2x4x3x3,2x4x3x3,fp32]", "half"), 2u * 8 * 9 * 4);
}

// Every thread keeps a line: elements, places, and two words each for radix sort.
TEST(Temporaries, OfSortGrowWithTheThreadsThatHaveLines) {
  EXPECT_EQ(temporaries("sort[5x100,fp32]", "native"), 2u * 100 * (4 + 8 + 16));
  EXPECT_EQ(temporaries("sort[100,fp32]", "native"), 1u * 100 * (4 + 8 + 16));
  EXPECT_EQ(temporaries("sort[5x100,fp32]", "sort"), 2u * 100 * (4 + 8 + 16));
}

TEST(Temporaries, OfAGraphAreThoseOfItsNodes) {
  const Graph graph = build_graph(parse_case_id("cat_shuffle[2x4x3x3,2x4x3x3,fp32,backward]"));
  const SelectedKernels selection = select_kernels(graph, find_kernel("cat_shuffle", "native"));
  EXPECT_EQ(temporary_bytes(graph, selection), 2u * 2 * 8 * 9 * 4) << "forward and gradient";
}

// The tensors would fit, the temporaries do not. The case must be refused before it is prepared.
TEST(Temporaries, ACaseThatTheyMakeTooLargeIsRefused) {
  const Kernel greedy{
      .op = "relu",
      .name = "greedy",
      .summary = "",
      .prepare = [](const Problem&) -> Launch {
        ADD_FAILURE() << "prepared";
        return [](const KernelArgs&) {};
      },
      .temporary_bytes = [](const Problem&) { return std::size_t{1} << 50; },
  };
  PlannedCase planned{parse_case_id("relu[64,fp32]"), {}, {}};
  planned.graph = build_graph(planned.spec);
  planned.variants = {select_kernels(planned.graph, greedy)};
  PhaseTimes times;
  const Record record = run_work_unit(planned, RunOptions{}, 1, {}, times).at(0);
  EXPECT_EQ(record.status, Status::errored);
  EXPECT_THAT(record.reason, testing::HasSubstr("needs 1 PiB of memory"));
}

}  // namespace opbench
