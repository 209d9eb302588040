// Tests the data that the table of operators reads from a record in addition to its tensors: words,
// complements, and masks among the results. Also tests the reasons why a row does not apply.
#include "tests/compare/judged_records.h"

namespace opbench {
namespace {

class JudgeOperators : public JudgedRecords {};

}  // namespace

// ATen passes a reduction as 0 (none), 1 (mean) or 2 (sum).
TEST_F(JudgeOperators, NumbersThatStandForWords) {
  for (const auto& [reduction, result] :
       {std::pair<std::int64_t, double>{1, 2.5}, {2, 10}, {2, 2.5}, {9, 1}}) {
    begin("mse_loss");
    input("self", {4}, {1, 2, 3, 4});
    input("target", {4}, {2, 4, 2, 2});
    writer_.write_input_scalar("reduction", reduction);
    output("result", {}, {result});
  }
  EXPECT_EQ(rulings(), (std::vector{Ruling::ok, Ruling::ok, Ruling::guilty, Ruling::unknown}));
}

// p is the share that is kept in _fused_dropout, and the share that is dropped in native_dropout.
TEST_F(JudgeOperators, DropoutsAreJudgedByTheMaskThatTheyLeft) {
  for (const double kept : {2.0, 1.0}) {
    begin("_fused_dropout");
    input("self", {4}, {1, 2, 3, 4});
    writer_.write_input_scalar("p", 0.5);
    output("result0", {4}, {kept, 0, 3 * kept, 4 * kept});
    output("result1", {4}, {1, 0, 1, 1}, DType::uint8);
  }
  begin("native_dropout");  // no mask is recorded
  input("input", {2}, {1, 2});
  output("result0", {2}, {0, 4});
  EXPECT_EQ(rulings(), (std::vector{Ruling::ok, Ruling::guilty, Ruling::random}));
}

// A rounding_mode is a word, which no dump contains. Weights change a loss.
TEST_F(JudgeOperators, WhatMayBeAnotherOperatorIsUnknown) {
  begin("div_Tensor_mode");
  input("self", {2}, {7, -7});
  input("other", {2}, {2, 2});
  output("result", {2}, {3, -4});
  begin("DivBackward2");
  input("grads/grads_0", {1}, {1});
  input("self", {1}, {7});
  input("other", {1}, {2});
  output("grad_inputs/grad_inputs_0", {1}, {0});
  begin("binary_cross_entropy_with_logits");
  input("self", {1}, {0});
  input("target", {1}, {1});
  input("pos_weight", {1}, {3});
  output("result", {}, {2.0794415});
  EXPECT_EQ(rulings(), std::vector(3, Ruling::unknown));
}

// Gradients of operators that move data: parts are joined, a copy passes its gradient on, a mean
// spreads its gradient.
TEST_F(JudgeOperators, BackwardNodesOfMovesAndMeans) {
  for (const double last : {4.0, 5.0}) {
    begin("SplitBackward");
    input("grads/grads_0", {1, 2}, {1, 2});
    input("grads/grads_1", {1, 2}, {3, 4});
    writer_.write_input_scalar("dim", std::int64_t{1});
    output("grad_inputs/grad_inputs_0", {1, 4}, {1, 2, 3, last});
    begin("CloneBackward");
    input("grads/grads_0", {2}, {3, 4});
    output("grad_inputs/grad_inputs_0", {2}, {3, last});
    begin("MeanBackward");
    input("grads/grads_0", {2, 1}, {2, 8});
    input("self", {2, 2}, {0, 0, 0, 0});
    writer_.write_input_list("dim", std::vector<std::int64_t>{1});
    writer_.write_input_scalar("keepdim", true);
    output("grad_inputs/grad_inputs_0", {2, 2}, {1, 1, 4, last});
    begin("MeanBackward");
    input("grads/grads_0", {}, {8});
    input("self", {2}, {0, 0});
    output("grad_inputs/grad_inputs_0", {2}, {4, last});
  }
  EXPECT_EQ(rulings(), (std::vector{Ruling::ok, Ruling::ok, Ruling::ok, Ruling::ok, Ruling::guilty,
                                    Ruling::guilty, Ruling::guilty, Ruling::guilty}));
}

// Whole numbers are exact and wrap; a number next to a tensor of them is one of them.
TEST_F(JudgeOperators, IntegersAreExact) {
  for (const double last : {-128.0, 127.0}) {
    begin("add_");
    input("self", {2}, {3, 127}, DType::int8);
    writer_.write_input_scalar("other", std::int64_t{1});
    writer_.write_input_scalar("alpha", std::int64_t{1});
    output("self", {2}, {4, last}, DType::int8);
  }
  begin("gt_Scalar");
  input("self", {2}, {3, 4}, DType::int64);
  writer_.write_input_scalar("other", 3.5);
  output("result", {2}, {0, 1}, DType::boolean);
  begin("mul_Tensor");  // of an integer and a fraction
  input("self", {2}, {3, 4}, DType::int32);
  input("other", {2}, {0.5, 0.25});
  output("result", {2}, {1.5, 1});
  EXPECT_EQ(rulings(), (std::vector{Ruling::ok, Ruling::guilty, Ruling::ok, Ruling::ok}));
}

// copy_ overwrites self with src, whatever self held.
TEST_F(JudgeOperators, ACopyInPlaceIsOfItsSource) {
  for (const double last : {4.0, 9.0}) {
    begin("copy_");
    input("self", {2}, {9, 9});
    input("src", {2}, {3, 4});
    output("self", {2}, {3, last});
  }
  EXPECT_EQ(rulings(), (std::vector{Ruling::ok, Ruling::guilty}));
}

// Any of several equal elements may be named. A smaller element must not be named.
TEST_F(JudgeOperators, TiesAreFree) {
  for (const double second : {2.0, 3.0, 1.0, 0.0}) {
    begin("topk");
    input("self", {4}, {7, 3, 5, 5});
    writer_.write_input_scalar("k", std::int64_t{2});
    output("values", {2}, {7, 5});
    output("indices", {2}, {0, second}, DType::int64);
  }
  EXPECT_EQ(rulings(), (std::vector{Ruling::ok, Ruling::ok, Ruling::guilty, Ruling::guilty}));
}

// Autograd saves the sizes of the averaged tensor, not the tensor. The gradient has these sizes.
TEST_F(JudgeOperators, GradientsOfMeansNeedNoTensorOfThatShape) {
  for (const double last : {4.0, 5.0}) {
    begin("MeanBackward1");
    input("grads/grads_0", {2}, {2, 8});
    writer_.write_input_list("self_sizes", std::vector<std::int64_t>{2, 2});
    writer_.write_input_list("dim", std::vector<std::int64_t>{1});
    writer_.write_input_scalar("keepdim", false);
    output("grad_inputs/grad_inputs_0", {2, 2}, {1, 1, 4, last});
    begin("MeanBackward0");
    input("grads/grads_0", {}, {8});
    writer_.write_input_list("self_sizes", std::vector<std::int64_t>{2});
    output("grad_inputs/grad_inputs_0", {2}, {4, last});
  }
  EXPECT_EQ(rulings(), (std::vector{Ruling::ok, Ruling::ok, Ruling::guilty, Ruling::guilty}));
}

// The bias is added to all rows, so its gradient is the sum of their gradients, for every way to
// record it.
TEST_F(JudgeOperators, TheBiasOfAProductHasTheSumOfGradients) {
  for (const double last : {6.0, 7.0}) {
    begin("AddmmBackward");
    input("grads/grads_0", {2, 2}, {1, 2, 3, 4});
    input("mat1", {2, 1}, {1, 1});
    input("mat2", {1, 2}, {1, 1});
    writer_.write_input_scalar("alpha", std::int64_t{1});
    writer_.write_input_scalar("beta", std::int64_t{1});
    output("grad_inputs/grad_inputs_0", {2}, {4, last});
    output("grad_inputs/grad_inputs_1", {2, 1}, {3, 7});
    output("grad_inputs/grad_inputs_2", {1, 2}, {4, 6});
  }
  EXPECT_EQ(rulings(), (std::vector{Ruling::ok, Ruling::guilty}));
}

// 1 and 3 have mean 2 and variance 1. With an eps of 3, 1/sqrt(variance + eps) is 1/2.
TEST_F(JudgeOperators, BatchNormsAreJudgedByWhatTheySave) {
  for (const double saved : {0.5, 1.0}) {
    begin("native_batch_norm");
    input("input", {2, 1}, {1, 3});
    for (const char* name : {"weight", "running_var"}) input(name, {1}, {1});
    for (const char* name : {"bias", "running_mean"}) input(name, {1}, {0});
    writer_.write_input_scalar("training", true);
    writer_.write_input_scalar("momentum", 0.1);
    writer_.write_input_scalar("eps", 3.0);
    output("result0", {2, 1}, {-0.5, 0.5});
    output("result1", {1}, {2});
    output("result2", {1}, {saved});
  }
  EXPECT_EQ(rulings(), (std::vector{Ruling::ok, Ruling::guilty}));
}

// result2 is the variance on an NPU, and 1/sqrt(variance + eps) on other devices.
TEST_F(JudgeOperators, GradientsOfBatchNormReadWhatTheDeviceSaved) {
  for (const auto& [device, saved] :
       {std::pair{DeviceType::npu, 3.0}, {DeviceType::cuda, 0.5}, {DeviceType::npu, 0.5}}) {
    begin(device == DeviceType::npu ? "NativeBatchNormBackward" : "CudnnBatchNormBackward", device);
    input("grads/grads_0", {2, 1}, {1, 2});
    input("input", {2, 1}, {3, -1});
    input("weight", {1}, {4});
    writer_.write_input_scalar("training", true);
    writer_.write_input_scalar(device == DeviceType::npu ? "eps" : "epsilon", 1.0);
    input("result1", {1}, {1});
    input("result2", {1}, {saved});
    output("grad_inputs/grad_inputs_0", {2, 1}, {0, 0});
    output("grad_inputs/grad_inputs_1", {1}, {-1});
    output("grad_inputs/grad_inputs_2", {1}, {3});
  }
  EXPECT_EQ(rulings(), (std::vector{Ruling::ok, Ruling::ok, Ruling::guilty}));
}

// The reference is in fp64, so an error of 1e-12 at 1 is found, and a factor is not rounded to
// fp32.
TEST_F(JudgeOperators, RecordsInFp64) {
  for (const double off : {0.0, 1e-12}) {
    begin("add_Tensor");
    input("self", {2}, {1, 2}, DType::fp64);
    input("other", {2}, {0.1, 3}, DType::fp64);
    writer_.write_input_scalar("alpha", 0.3);
    output("result", {2}, {1 + 0.3 * 0.1 + off, 2 + 0.3 * 3}, DType::fp64);
  }
  EXPECT_EQ(rulings(), (std::vector{Ruling::ok, Ruling::guilty}));
}

}  // namespace opbench
