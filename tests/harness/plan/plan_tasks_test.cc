// Names of tasks: those of CANN's operator library, so that reports can be compared with a
// profiler's.
#include "harness/plan/plan_tasks.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ops/op.h"
#include "tests/harness/context_support.h"

namespace opbench {
namespace {

using testing::MatchesRegex;

/// Type of the task of a node of `op` that `kernel` computes.
std::string type_of(std::string_view op, const Kernel& kernel) {
  Node node;
  node.problem.op = &find_op(std::string(op));
  return task_type(node, kernel);
}

/// Like `type_of`, for a device kernel called `name`.
std::string device_type(std::string_view op, std::string_view name) {
  Kernel kernel{
      .op = op, .name = name, .provider = Provider::npu, .summary = "", .prepare = nullptr};
  return type_of(op, kernel);
}

std::string registered_type(std::string_view op, std::string_view name) {
  for (const Kernel* kernel : kernels_of(op)) {
    if (kernel->name == name) return type_of(op, *kernel);
  }
  throw std::out_of_range(std::string(op) + " has no kernel " + std::string(name));
}

TEST(TaskNames, DeviceKernelsAreCamelCase) {
  std::size_t kernels = 0;
  for (const Kernel* kernel : RegisteredKernel::all()) {
    if (kernel->provider != Provider::npu) continue;
    ++kernels;
    const std::string type = type_of(kernel->op, *kernel);
    EXPECT_THAT(type, MatchesRegex("[A-Z][A-Za-z0-9]*")) << kernel->key();
  }
  EXPECT_GT(kernels, 30u);
}

TEST(TaskNames, AreWhatCannSpells) {
  EXPECT_EQ(registered_type("conv2d", "conv2d"), "Conv2D");
  EXPECT_EQ(registered_type("conv2d", "depthwise_conv2d"), "DepthwiseConv2D");
  EXPECT_EQ(registered_type("index_select", "gather_v2"), "GatherV2");
  EXPECT_EQ(registered_type("index_select", "gather_v3"), "GatherV3");
  EXPECT_EQ(registered_type("trans_data", "trans_data"), "TransData");
  EXPECT_EQ(registered_type("concat", "concat_d"), "ConcatD");
  EXPECT_EQ(registered_type("matmul", "mat_mul_v2"), "MatMulV2");
  EXPECT_EQ(registered_type("index_add", "index_add"), "InplaceIndexAdd");
  EXPECT_EQ(registered_type("softplus", "softplus_v2"), "SoftplusV2");
  EXPECT_EQ(registered_type("batch_norm", "bn_training_update"), "BNTrainingUpdate");
  EXPECT_EQ(registered_type("batch_norm_grad", "bn_training_update_grad"), "BNTrainingUpdateGrad");
  EXPECT_EQ(registered_type("cross_entropy_grad", "nll_loss_grad"), "NLLLossGrad");
}

// A framework's copy of a view has no operator of its own. A device kernel of the same node has
// one.
TEST(TaskNames, CopiesOfViewsAreContiguous) {
  Kernel framework{.op = "",
                   .name = "native",
                   .provider = Provider::framework,
                   .summary = "",
                   .prepare = nullptr};
  for (const std::string op : {"contiguous", "channel_shuffle", "split"}) {
    EXPECT_EQ(type_of(op, framework), "contiguous") << op;
  }
  EXPECT_EQ(registered_type("contiguous", "gather_v2"), "GatherV2");
  EXPECT_EQ(registered_type("contiguous", "as_strided"), "AsStrided");
  EXPECT_EQ(device_type("split", "split_d"), "SplitD");
  EXPECT_EQ(type_of("relu", framework), "Relu");
  EXPECT_EQ(type_of("batch_norm", framework), "BatchNorm");
}

// Both are copies, which a rewrite would avoid.
TEST(TaskNames, CopiesAreKnownWhateverTheyAreCalled) {
  const auto is_copy_by = [](const char* op, Provider provider) {
    Node node;
    node.problem.op = &find_op(op);
    return is_copy(
        node, {.op = op, .name = "k", .provider = provider, .summary = "", .prepare = nullptr});
  };
  EXPECT_TRUE(is_copy_by("contiguous", Provider::framework));
  EXPECT_TRUE(is_copy_by("contiguous", Provider::npu));
  EXPECT_TRUE(is_copy_by("split", Provider::framework));
  EXPECT_FALSE(is_copy_by("split", Provider::npu));
  EXPECT_FALSE(is_copy_by("relu", Provider::framework));
}

// A kernel that is named after the chip stands for the operator itself.
TEST(TaskNames, ChipVariantIsTheOperator) {
  EXPECT_EQ(registered_type("cast", "npu_910a"), "Cast");
}

}  // namespace

TEST(PlanCost, TransDataComeFirstThenCastsCopiesAndBytes) {
  const PlanCost least{1, 2, 3, 4, 0};
  EXPECT_LT(least, (PlanCost{2, 0, 0, 0, 0}));
  EXPECT_LT(least, (PlanCost{1, 3, 0, 0, 0}));
  EXPECT_LT(least, (PlanCost{1, 2, 4, 0, 0}));
  EXPECT_LT(least, (PlanCost{1, 2, 3, 5, 0}));
  EXPECT_EQ(least, (PlanCost{1, 2, 3, 4, 9})) << "bytes of TransData are in the bytes";
}

// Relu reads and writes 256 fp16 numbers once, and so does TransData before it.
TEST(PlanCost, AddsUpTasks) {
  ContextBuilder builder("pool");
  builder.input("x", {1, 16, 4, 4})
      .node("relu", {"x"}, {"y"})
      .node("max_pool2d", {"y"}, {"z"})
      .output("z");
  const PlannedStep step = builder.plan(builder.step(), DType::fp16);
  const PlanCost cost = plan_cost(step.graph, step.selection);
  EXPECT_EQ(cost.trans_data, 2) << "to NC1HWC0 for the pool, and its output back";
  EXPECT_EQ(cost.casts, 0);
  EXPECT_EQ(cost.trans_data_bytes, 2 * 512 + 2 * 128);
  EXPECT_GE(cost.bytes, cost.trans_data_bytes + 2 * 512);
}

}  // namespace opbench
