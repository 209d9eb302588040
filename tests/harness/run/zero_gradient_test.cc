// A gradient kernel that writes zeros must fail, for every operator with a gradient. The backward
// pass starts from values that show the fault.
#include <gtest/gtest.h>

#include <cstring>
#include <map>
#include <string>
#include <vector>

#include "harness/plan/case_graph.h"
#include "harness/plan/selected_kernels.h"
#include "harness/run/unit_runner.h"
#include "tensor/error.h"
#include "tests/evaluate.h"

namespace opbench {
namespace {

Launch prepare_zeros(const Problem& problem) {
  std::vector<std::size_t> bytes;
  for (const TensorDesc& output : problem.outputs) bytes.push_back(output.bytes());
  return [bytes](const KernelArgs& args) {
    for (std::size_t i = 0; i < bytes.size(); ++i) std::memset(args.outputs[i], 0, bytes[i]);
  };
}

// The case that --shapes makes of the first shape that the operator takes.
PlannedCase planned_backward(const Op& op) {
  static const std::map<std::string_view, AttrTexts> kAttrs = {
      {"reshape", {{"shape", "[64,144]"}}}, {"cast", {{"to", "fp32"}}}, {"muls", {{"value", "2"}}}};
  Case c;
  c.op = &op;
  c.backward = true;
  const auto attrs = kAttrs.find(op.name);
  c.attrs = attrs_of(op, attrs == kAttrs.end() ? AttrTexts{} : attrs->second);
  std::string reason;
  for (const Dims& shape : {Dims{4, 16, 12, 12}, Dims{32, 24}, Dims{640}}) {
    try {
      c.inputs.clear();
      for (const Dims& input : shapes_like(op, shape, c.attrs)) c.inputs.push_back({input, {}, {}});
      c.dtype = op.dtypes.front();
      if (std::find(op.dtypes.begin(), op.dtypes.end(), DType::fp32) != op.dtypes.end()) {
        c.dtype = DType::fp32;
      }
      c.format = Format::ND;
      PlannedCase planned{c, {}, {}};
      planned.graph = build_graph(c);
      return planned;
    } catch (const Error& error) {
      reason = error.what();
    }
  }
  throw Error(std::string(op.name) + " takes no example: " + reason);
}

// The choice of variants does not matter: the reference computes all nodes that are not replaced.
Record run_planted(PlannedCase planned, std::size_t node, const Kernel& zeros) {
  SelectedKernels selection =
      select_kernels(planned.graph, find_kernel(planned.spec.op->name, "native"));
  EXPECT_EQ(selection.refusal, "");
  selection.kernels.at(node) = &zeros;
  planned.variants = {std::move(selection)};
  RunOptions options;
  options.seconds_per_case = 0.001;
  options.repetitions = 1;
  PhaseTimes times;
  return run_work_unit(std::move(planned), options, 1, {}, times).at(0);
}

}  // namespace

TEST(ZeroGradient, IsCaughtForEveryOperator) {
  int planted = 0;
  for (const Op* op : RegisteredOp::all()) {
    if (op->gradient == nullptr) continue;
    const PlannedCase planned = planned_backward(*op);
    for (std::size_t i = 1; i < planned.graph.nodes.size(); ++i) {
      const Node& node = planned.graph.nodes[i];
      if (!node.under_test) continue;
      const Kernel zeros{.op = node.problem.op->name,
                         .name = "zeros",
                         .summary = "writes zeros",
                         .prepare = prepare_zeros};
      const Record record = run_planted(planned, i, zeros);
      EXPECT_EQ(record.status, Status::failed) << op->name << ", " << node.problem.op->name;
      ++planted;
    }
  }
  EXPECT_GT(planted, 20);
}

}  // namespace opbench
