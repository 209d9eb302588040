// Tests the operators of PyTorch's training steps that are recomputed, with a correct and a wrong
// record of each.
#include <cmath>

#include "tests/compare/judged_records.h"

namespace opbench {
namespace {

class JudgeTrainingSteps : public JudgedRecords {};

}  // namespace

// Numbers stand for tensors of one element. A comparison rounds them to the tensor's dtype; other
// operators do not round them.
TEST_F(JudgeTrainingSteps, NumbersAsOperands) {
  for (const double wrong : {0.0, 1.0}) {
    begin("eq_Scalar");
    input("self", {2}, {0.1, 2});
    writer_.write_input_scalar("other", 0.1);
    output("result", {2}, {1, wrong}, DType::boolean);
    begin("rsub_Scalar");
    input("self", {2}, {3, 4});
    number("other", 1);
    number("alpha", 1);
    output("result", {2}, {-2, -3 + wrong});
    begin("masked_fill_Scalar");
    input("self", {2}, {3, 4});
    input("mask", {2}, {1, 0}, DType::boolean);
    writer_.write_input_scalar("value", -HUGE_VAL);
    output("result", {2}, {-HUGE_VAL, 4 + wrong});
    begin("div__Scalar");
    input("self", {1}, {1}, DType::fp64);
    writer_.write_input_scalar("other", 0.3);
    output("self", {1}, {1 / 0.3 + 1e-12 * wrong}, DType::fp64);
  }
  expect_halves();
}

// Counters and counts of masks are exact.
TEST_F(JudgeTrainingSteps, WholeNumbers) {
  for (const double wrong : {0.0, 1.0}) {
    begin("add__Tensor");
    input("self", {}, {41}, DType::int64);
    input("other", {}, {1}, DType::int64);
    number("alpha", 1);
    output("self", {}, {42 + wrong}, DType::int64);
    begin("sum");
    input("self", {3}, {1, 0, 1}, DType::boolean);
    output("result", {}, {2 + wrong}, DType::int64);
  }
  expect_halves();
}

// The sum of two true values is true as bool and two as a number.
TEST_F(JudgeTrainingSteps, SumsOfMasksAreUnknown) {
  begin("add_Tensor");
  input("self", {1}, {1}, DType::boolean);
  input("other", {1}, {1}, DType::boolean);
  output("result", {1}, {1}, DType::boolean);
  EXPECT_EQ(rulings(), std::vector{Ruling::unknown});
}

TEST_F(JudgeTrainingSteps, PartsOfATensor) {
  for (const double wrong : {0.0, 1.0}) {
    begin("unsafe_split_Tensor");
    input("self", {1, 3}, {1, 2, 3});
    number("split_size", 2);
    number("dim", -1);
    output("result/result_0", {1, 2}, {1, 2});
    output("result/result_1", {1, 1}, {3 + wrong});
    begin("CatBackward0");
    input(kGrads, {3}, {1, 2, 3});
    number("dim", 0);
    output(kResult, {1}, {1});
    output("grad_inputs/grad_inputs_1", {2}, {2, 3 + wrong});
    begin("StackBackward0");
    input(kGrads, {2, 2}, {1, 2, 3, 4});
    number("dim", 1);
    output(kResult, {2}, {1, 3});
    output("grad_inputs/grad_inputs_1", {2}, {2, 4 + wrong});
    begin("UnbindBackward0");
    input(kGrads, {2}, {1, 3});
    input("grads/grads_1", {2}, {2, 4});
    number("dim", 1);
    output(kResult, {2, 2}, {1, 2, 3, 4 + wrong});
    begin("UnsafeSplitBackward0");
    input(kGrads, {1}, {1});
    input("grads/grads_1", {2}, {2, 3});
    number("dim", 0);
    output(kResult, {3}, {1, 2, 3 + wrong});
  }
  expect_halves();
}

// The gradient of the part is passed on, the rest is zero. The end of a slice may be any large
// number.
TEST_F(JudgeTrainingSteps, GradientsOfSlices) {
  for (const double wrong : {0.0, 1.0}) {
    begin("SliceBackward0");
    input(kGrads, {2, 1}, {5, 6});
    number("dim", 1);
    number("start", -2);
    number("end", 2);
    number("step", 1);
    output(kResult, {2, 3}, {0, 5, 0, 0, 6, wrong});
    begin("SelectBackward0");
    input(kGrads, {2}, {5, 6});
    number("dim", 1);
    number("index", 2);
    output(kResult, {2, 3}, {0, 0, 5, wrong, 0, 6});
  }
  expect_halves();
}

TEST_F(JudgeTrainingSteps, SumsMeansAndTheirGradients) {
  for (const double wrong : {0.0, 1.0}) {
    begin("sum_dim_IntList");
    input("self", {2, 2, 2}, {1, 2, 3, 4, 5, 6, 7, 8});
    list("dim", {0, -1});
    writer_.write_input_scalar("keepdim", false);
    output("result", {2}, {14, 22 + wrong});
    begin("ExpandBackward0");
    input(kGrads, {2, 2}, {1, 2, 3, 4});
    list("self_sizes", {2, 1});
    output(kResult, {2, 1}, {3, 7 + wrong});
    begin("SumBackward0");
    input(kGrads, {}, {3});
    output(kResult, {2}, {3, 3 + wrong});
    begin("MeanBackward0");
    input(kGrads, {}, {3});
    list("self_sizes", {2});
    output(kResult, {2}, {1.5, 1.5 + wrong});
    begin("MeanBackward1");
    input(kGrads, {2, 1}, {2, 4});
    list("dim", {1});
    writer_.write_input_scalar("keepdim", true);
    output(kResult, {2, 2}, {1, 1, 2, 2 + wrong});
  }
  expect_halves();
}

// An index names rows, or one index for each axis names elements.
TEST_F(JudgeTrainingSteps, RowsByIndex) {
  for (const double wrong : {0.0, 1.0}) {
    begin("index_Tensor");
    input("self", {3}, {1, 2, 3});
    input("indices/indices_0", {2}, {-1, 0}, DType::int64);
    output("result", {2}, {3, 1 + wrong});
    begin("index_Tensor");
    input("self", {2, 2}, {1, 2, 3, 4});
    input("indices/indices_0", {1}, {1}, DType::int64);
    input("indices/indices_1", {1}, {0}, DType::int64);
    output("result", {1}, {3 + wrong});
    begin("IndexBackward0");
    input(kGrads, {1, 1}, {3});
    input("indices/indices_1", {1}, {1}, DType::int64);
    output(kResult, {1, 2}, {0, 3 + wrong});
  }
  expect_halves();
}

TEST_F(JudgeTrainingSteps, GradientsOfChoices) {
  for (const double wrong : {0.0, 1.0}) {
    begin("MaskedFillBackward0");
    input(kGrads, {2}, {5, 6});
    input("mask", {2}, {1, 0}, DType::boolean);
    output(kResult, {2}, {wrong, 6});
    begin("WhereBackward0");
    input(kGrads, {2}, {5, 6});
    input("condition", {2}, {1, 0}, DType::boolean);
    output("grad_inputs/grad_inputs_1", {2}, {wrong, 6});
    begin("RsubBackward1");
    input(kGrads, {2}, {5, 6});
    number("alpha", 1);
    output(kResult, {2}, {-5, -6 + wrong});
    begin("EmbeddingBackward0");
    input(kGrads, {2, 1}, {5, 6});
    input("indices", {2}, {2, 2}, DType::int64);
    number("padding_idx", -1);
    output(kResult, {3, 1}, {0, 0, 11 + wrong});
  }
  expect_halves();
}

// Gradients are clipped by norms. Detectors select elements by a mask and put them back.
TEST_F(JudgeTrainingSteps, NormsMasksAndSteps) {
  for (const double wrong : {0.0, 1.0}) {
    begin("norm_ScalarOpt_dim");
    input("self", {2, 1}, {3, 4});
    number("p", 2);
    output("result", {}, {5 + wrong});
    begin("index_Tensor");
    input("self", {2, 2}, {1, 2, 3, 4});
    input("indices/indices_0", {2}, {0, 1}, DType::boolean);
    output("result", {1, 2}, {3, 4 + wrong});
    begin("IndexBackward0");
    input(kGrads, {1, 2}, {3, 4});
    input("indices/indices_0", {2}, {0, 1}, DType::boolean);
    output(kResult, {2, 2}, {0, 0, 3, 4 + wrong});
    begin("SliceBackward0");
    input(kGrads, {2}, {5, 6});
    number("dim", 0);
    number("start", 1);
    number("step", 2);
    output(kResult, {5}, {0, 5, 0, 6, wrong});
    begin("ConstantPadNdBackward0");
    input(kGrads, {3}, {5, 6, 7});
    list("pad", {1, 0});
    output(kResult, {2}, {6, 7 + wrong});
    begin("max");
    input("self", {3}, {1, 9, 2}, DType::int64);
    output("result", {}, {9 + wrong}, DType::int64);
    begin("cos");
    input("self", {2}, {0, 0});
    output("result", {2}, {1, 1 + wrong});
    begin("triu");
    input("self", {2, 2}, {1, 2, 3, 4});
    number("diagonal", 0);
    output("result", {2, 2}, {1, 2, wrong, 4});
    begin("convolution");
    input("input", {1, 1, 1, 1}, {2});
    input("weight", {1, 1, 1, 2}, {3, 4});
    input("bias", {1}, {1});
    number("transposed", 1);
    output("result", {1, 1, 1, 2}, {7, 9 + wrong});
  }
  expect_halves();
}

// The variants lack this dtype; the reference takes fp64.
TEST_F(JudgeTrainingSteps, ChosenValuesInFp64) {
  for (const double wrong : {0.0, 1.0}) {
    begin("max_pool2d_with_indices");
    input("self", {1, 1, 2, 2}, {0.1, 2, 3, 4}, DType::fp64);
    list("kernel_size", {2, 2});
    list("stride", {2, 2});
    output("result0", {1, 1, 1, 1}, {4 - wrong}, DType::fp64);
    output("result1", {1, 1, 1, 1}, {3}, DType::int64);
    begin("where_self");
    input("condition", {2}, {1, 0}, DType::boolean);
    input("self", {2}, {0.1, 2}, DType::fp64);
    input("other", {2}, {3, 4}, DType::fp64);
    output("result", {2}, {0.1, 4 - wrong}, DType::fp64);
  }
  expect_halves();
}

}  // namespace opbench
