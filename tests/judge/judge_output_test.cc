#include "judge/judge_output.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "harness/plan/case_graph.h"
#include "harness/plan/selected_kernels.h"
#include "harness/run/unit_runner.h"
#include "tests/evaluate.h"

namespace opbench {
namespace {

double factor = 1;  // by which the first output is wrong

Launch prepare_scaled(const Problem& problem) {
  const Launch right = find_kernel(problem.op->name, "native").prepare(problem);
  return [right, desc = problem.outputs[0]](const KernelArgs& args) {
    right(args);
    std::vector<double> y(static_cast<std::size_t>(desc.elements()));
    to_doubles(desc.dtype, args.outputs[0], desc.elements(), y.data());
    for (double& value : y) value *= factor;
    from_doubles(desc.dtype, y.data(), desc.elements(), args.outputs[0]);
  };
}

Record run_scaled(const std::string& id, double by) {
  factor = by;
  PlannedCase planned{parse_case_id(id), {}, {}};
  planned.graph = build_graph(planned.spec);
  const Kernel scaled{.op = planned.spec.op->name,
                      .name = "scaled",
                      .provider = Provider::framework,
                      .summary = "wrong by a factor",
                      .prepare = prepare_scaled};
  SelectedKernels selection =
      select_kernels(planned.graph, find_kernel(planned.spec.op->name, "native"));
  selection.kernels.at(0) = &scaled;
  planned.variants = {std::move(selection)};
  RunOptions options;
  options.seconds_per_case = 0.0005;
  options.repetitions = 1;
  PhaseTimes times;
  return run_work_unit(planned, options, 1, {}, times).at(0);
}

// Inputs are exact. An input error of a thirtieth would change the whole result, but it must not
// excuse a wrong result.
TEST(JudgeOutput, LargeMeansHideNothing) {
  for (const char* id : {"mse_loss[64x100,64x100,fp16,ND,data=normal(300,1)]",
                         "mse_loss[64x100,64x100,bf16,ND,data=normal(100,1)]",
                         "mse_loss[64x100,64x100,fp32,ND,data=normal(1000,1)]",
                         "log_softmax[64x100,fp16,ND,data=normal(1000,1)]",
                         "softmax[64x4,bf16,ND,data=normal(100,1)]",
                         "layer_norm[64x256,256,256,bf16,ND,data.self=normal(30,1)]",
                         "batch_norm[8x16x7x7,16,16,16,16,bf16,NCHW,data.self=normal(30,1)]",
                         "sub[64x100,64x100,fp16,ND,data=normal(1,0.001)]"}) {
    const Record right = run_scaled(id, 1);
    EXPECT_EQ(right.status, Status::passed) << id << ": " << right.reason;
    EXPECT_EQ(run_scaled(id, 1.2).status, Status::failed) << id;
    EXPECT_EQ(run_scaled(id, -1).status, Status::failed) << id;
  }
}

}  // namespace
}  // namespace opbench
