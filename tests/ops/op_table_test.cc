#include "ops/op_table.h"

#include <gmock/gmock.h>

#include "tensor/error.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<std::string> operators_of(const OpTable& table, std::string_view name) {
  std::vector<std::string> ops;
  for (const OpRow* row : table.find(name)) {
    for (const OpUse& use : row->uses) ops.emplace_back(use.op->name);
    if (row->drawn != Drawn::not_at_all) ops.push_back("random");
  }
  return ops;
}

}  // namespace

// Names in the spellings of Ascend's dumper, ATen's schema, autograd, CANN and ONNX.
TEST(OpTable, KnowsTheNamesOfDumps) {
  const OpTable& table = OpTable::builtin();
  EXPECT_THAT(operators_of(table, "softplus"), ElementsAre("softplus"));
  EXPECT_THAT(operators_of(table, "aten::softplus"), ElementsAre("softplus"));
  EXPECT_THAT(operators_of(table, "SoftplusV2"), ElementsAre("softplus"));
  EXPECT_THAT(operators_of(table, "SoftplusBackward"), ElementsAre("softplus_grad"));
  EXPECT_THAT(operators_of(table, "SoftplusBackward0"), ElementsAre("softplus_grad"));
  EXPECT_THAT(operators_of(table, "ReluBackward1"), ElementsAre("relu_grad"));
  EXPECT_THAT(operators_of(table, "relu_"), ElementsAre("relu"));
  EXPECT_THAT(operators_of(table, "add__Tensor"), ElementsAre("axpy", "add", "adds"));
  EXPECT_THAT(
      operators_of(table, "NpuConvolutionBackward"),
      ElementsAre("conv2d_grad_input", "conv2d_grad_weight", "conv1d_grad_input",
                  "conv1d_grad_weight", "conv3d_grad_input", "conv3d_grad_weight", "bias_grad"));
  EXPECT_THAT(operators_of(table, "CudnnConvolutionBackward"),
              operators_of(table, "NpuConvolutionBackward"));
  EXPECT_THAT(operators_of(table, "native_dropout"), ElementsAre("dropout", "random"));
  EXPECT_THAT(operators_of(table, "npu_dropout"), ElementsAre("random"));
  EXPECT_THAT(operators_of(table, "no_such_thing"), ElementsAre());
}

TEST(OpTable, SpellingsBecomePlainer) {
  EXPECT_THAT(spellings("aten::add_.Tensor"),
              ElementsAre("aten::add_.Tensor", "add__Tensor", "add_Tensor", "add"));
  EXPECT_THAT(spellings("ReluBackward0"), ElementsAre("ReluBackward0", "ReluBackward"));
  EXPECT_THAT(spellings("mean_dim_IntList"), ElementsAre("mean_dim_IntList", "mean_dim"));
  EXPECT_THAT(spellings("conv2d"), ElementsAre("conv2d"));
  EXPECT_THAT(spellings(""), ElementsAre());
}

TEST(OpTable, RowsFitTheirOperators) {
  for (const OpRow& row : OpTable::builtin().rows()) {
    for (const OpUse& use : row.uses) {
      const std::size_t most = use.op->inputs.size();
      EXPECT_GE(use.inputs.size() + use.op->optional_inputs, most) << row.names.front();
      EXPECT_LE(use.inputs.size(), most) << row.names.front();
      EXPECT_LE(use.outputs.size(), use.op->outputs.size()) << row.names.front();
    }
    EXPECT_EQ(row.drawn != Drawn::not_at_all, row.uses.empty()) << row.names.front();
  }
}

TEST(OpTable, RowsOfAFileComeFirst) {
  const OpTable table = OpTable::parse(
      "ops: {mine: theirs}\n"
      "operators: [{names: softplus, op: relu, inputs: self, outputs: result}]\n",
      "mine.yaml");
  EXPECT_THAT(operators_of(table, "softplus"), ElementsAre("relu", "softplus"));
}

TEST(OpTable, ErrorsNameTheLine) {
  const auto error = [](const std::string& row, const std::string& message) {
    EXPECT_THAT([&] { OpTable::parse("operators:\n  - " + row, "m.yaml"); },
                ThrowsMessage<Error>(HasSubstr("m.yaml:2: " + message)))
        << row;
  };
  error("{names: x, op: sofplus, inputs: a, outputs: b}", "unknown operator 'sofplus'");
  error("{op: relu, inputs: a, outputs: b}", "a row needs 'names'");
  error("{names: x, inputs: a, op: relu, outputs: b}",
        "'inputs' is before 'op', which must come first");
  error("{names: x, op: relu, outputs: b}", "'inputs' is missing");
  error("{names: x}", "'op' is missing");
  error("{names: x, op: relu, inputs: a, outputs: b, attrs: {dim: dim}}",
        "relu has no attribute 'dim'");
  error("{names: x, op: relu, inputs: a, outputs: b, colour: red}", "");
}

}  // namespace opbench
