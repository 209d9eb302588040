// What the table of operators reads of a record beside its tensors: words, complements, masks among
// the results, and what makes a row unfit.
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

// _fused_dropout is told the share that stays, native_dropout the one that goes.
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

// A rounding_mode is a word, which no dump holds; weights change a loss.
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

// Gradients of what moves data: pieces are joined, a copy hands on, a mean spreads its gradient.
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

// copy_ writes src over whatever self held before.
TEST_F(JudgeOperators, ACopyInPlaceIsOfItsSource) {
  for (const double last : {4.0, 9.0}) {
    begin("copy_");
    input("self", {2}, {9, 9});
    input("src", {2}, {3, 4});
    output("self", {2}, {3, last});
  }
  EXPECT_EQ(rulings(), (std::vector{Ruling::ok, Ruling::guilty}));
}

// Which of equal elements is named is nobody's fault; an element that is none of the greatest is.
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

// Autograd saves the sizes of what was averaged, not the tensor: the gradient itself has them.
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

// The bias of a row is added to all rows: its gradient is their sum, however it is recorded.
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

// Of 1 and 3: mean 2, variance 1; with eps of 3, 1/sqrt(variance + eps) is a half.
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

// An NPU has saved the variance, others 1/sqrt(variance + eps), in the same place.
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

// The reference is in fp64: 1e-12 of 1 is seen there, and a factor that is none of fp32 is kept.
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
