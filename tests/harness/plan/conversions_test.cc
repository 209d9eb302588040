#include "harness/plan/conversions.h"

#include <gmock/gmock.h>

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class ConversionsTest : public testing::Test {
 protected:
  ConversionsTest() {
    node_.name = "conv";
    node_.origin = "net.yaml:7";
    node_.problem.op = &find_op("conv2d");
  }

  std::size_t tensor(DType dtype, Format format, Dims shape = {1, 32, 4, 4}) {
    return add_tensor(graph_, "x", describe(dtype, std::move(shape), format), GraphTensor::input);
  }
  // Converts `x` before the node, to the dtype and format of the second argument.
  std::size_t convert(std::size_t x, const TensorDesc& wanted, const std::string& cause) {
    return insertion_.before(node_, x,
                             paths_.convert(graph_.tensors[x].desc, wanted, node_, cause));
  }
  /// Inserted conversions: "trans_data to NCHW", "cast to fp16".
  std::vector<std::string> inserted() const {
    std::vector<std::string> tasks;
    for (const Node& node : graph_.nodes) {
      const TensorDesc& result = node.problem.outputs[0];
      const bool is_cast = node.problem.op->name == "cast";
      tasks.push_back(std::string(node.problem.op->name) + " to " +
                      std::string(is_cast ? name(result.dtype) : name(result.format)));
    }
    return tasks;
  }

  Graph graph_;
  std::vector<const Kernel*> kernels_;
  FrameworkRules rules_;
  Variants variants_;
  KernelChoice choice_{variants_, rules_};
  ConversionPaths paths_{choice_};
  ConversionInsertion insertion_{graph_, kernels_, rules_};
  Node node_;
};

}  // namespace

TEST_F(ConversionsTest, WhatIsAsWantedStays) {
  const std::size_t x = tensor(DType::fp16, Format::NC1HWC0);
  EXPECT_EQ(convert(x, graph_.tensors[x].desc, "cause"), x);
  EXPECT_THAT(inserted(), IsEmpty());
}

TEST_F(ConversionsTest, ATransDataHasAKernelANameAndACause) {
  const std::size_t x = tensor(DType::fp16, Format::NC1HWC0);
  const TensorDesc wanted = describe(DType::fp16, {1, 32, 4, 4}, Format::NCHW);
  const std::size_t y = convert(x, wanted, "relu: follows");
  EXPECT_EQ(graph_.tensors[y].desc, wanted);
  EXPECT_THAT(inserted(), ElementsAre("trans_data to NCHW"));
  EXPECT_EQ(graph_.nodes[0].name, "conv.trans_data0");
  EXPECT_EQ(graph_.nodes[0].cause, "relu: follows");
  EXPECT_EQ(graph_.nodes[0].origin, "net.yaml:7");
  ASSERT_EQ(kernels_.size(), 1u);
  EXPECT_EQ(kernels_[0]->op, "trans_data");
}

TEST_F(ConversionsTest, DtypeFirstThenFormat) {
  const std::size_t x = tensor(DType::fp32, Format::NCHW);
  convert(x, describe(DType::fp16, {1, 32, 4, 4}, Format::NC1HWC0), "cube");
  EXPECT_THAT(inserted(), ElementsAre("cast to fp16", "trans_data to NC1HWC0"));
  EXPECT_EQ(graph_.nodes[0].cause, "conv2d: the cube unit takes fp16 (allow_fp32_to_fp16)");
}

TEST_F(ConversionsTest, NodesThatShareGetOneConversion) {
  const std::size_t x = tensor(DType::fp16, Format::NC1HWC0);
  const TensorDesc wanted = describe(DType::fp16, {1, 32, 4, 4}, Format::NCHW);
  node_.shares_conversions = 1;
  const std::size_t first = convert(x, wanted, "cause");
  EXPECT_NE(convert(x, wanted, "cause"), first) << "not without the rule";
  rules_.grad_cast_once = true;
  const std::size_t kept = convert(x, wanted, "cause");
  EXPECT_EQ(convert(x, wanted, "cause"), kept);
  node_.shares_conversions = 2;
  EXPECT_NE(convert(x, wanted, "cause"), kept) << "other nodes do not";
}

}  // namespace opbench
