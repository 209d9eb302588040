#include "compare/jumps.h"

#include <gtest/gtest.h>

#include "compare/analysis.h"
#include "compare/operator_error.h"
#include "tests/compare/comparison_support.h"

namespace opbench {
namespace {

using compare_tests::CallValues;
using compare_tests::compare;
using compare_tests::HandMade;

// Ten ones and what departs from them by `error` on average, in sum.
const std::vector<float> kTrue(10, 1.0F);
std::vector<float> off(float error) {
  std::vector<float> values = kTrue;
  for (std::size_t i = 0; i < values.size(); ++i) values[i] += (i % 2 == 0 ? 2 : 0) * error;
  return values;
}

CallValues call(const std::string& op, int seq, float input_error, float output_error) {
  return {op,
          std::to_string(seq),
          {{"input/x", off(input_error), kTrue}, {"output/y", off(output_error), kTrue}}};
}

// Errors grow by a tenth from layer to layer.
std::vector<CallValues> layers(const std::string& op, int count) {
  std::vector<CallValues> calls;
  float error = 1e-3F;
  for (int i = 0; i < count; ++i) {
    calls.push_back(call(op, i, error, error * 1.1F));
    error *= 1.1F;
  }
  return calls;
}

TEST(Jumps, ErrorsThatGrowEvenlyHaveNone) {
  const HandMade sample = compare(layers("Relu", 20));
  EXPECT_FALSE(first_jump(sample.comparison).has_value());
  EXPECT_EQ(exit_code(sample.comparison, FailOn::any), kVerdictFailed);
  EXPECT_EQ(exit_code(sample.comparison, FailOn::jump), kAllWell);
}

TEST(Jumps, TheFirstThatLeavesItsInputsAndNeighboursIsNamed) {
  std::vector<CallValues> calls = layers("Relu", 8);
  calls.push_back(call("Conv2d", 8, 2e-3F, 0.1F));    // 50 times its inputs
  calls.push_back(call("BatchNorm", 9, 0.1F, 0.9F));  // makes the most of it
  const HandMade sample = compare(calls);
  const auto found = first_jump(sample.comparison);
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(sample.comparison.operators[*found].op(), "Conv2d");
  EXPECT_NEAR(*sample.comparison.operators[*found].usual_error, 2e-3, 1e-6);
  EXPECT_NEAR(*sample.comparison.operators[*found].jump, 50 / 1.1, 0.5);
  EXPECT_EQ(exit_code(sample.comparison, FailOn::jump), kVerdictFailed);
}

TEST(Jumps, OfAKindThatAlwaysAmplifiesNoneStandsOut) {
  std::vector<CallValues> calls = layers("Relu", 4);
  for (int i = 0; i < 5; ++i) calls.push_back(call("NormBackward", 4 + i, 2e-3F, 2e-2F));
  const HandMade sample = compare(calls);
  // The first is 10 times its inputs, and so are the others.
  EXPECT_FALSE(first_jump(sample.comparison).has_value());
}

TEST(Jumps, OperatorsThatDrawRandomNumbersHaveNone) {
  std::vector<CallValues> calls = layers("Relu", 4);
  calls.push_back(call("native_dropout", 4, 2e-3F, 0.9F));
  const HandMade sample = compare(calls);
  EXPECT_FALSE(first_jump(sample.comparison).has_value());
  EXPECT_NE(first_departure(sample.comparison), 4U);
}

// 2^14 terms, added up in another order: relative to the sum 3e-6 of it are rounding.
TEST(Jumps, ManyTermsRoundMore) {
  const std::vector<float> terms(std::size_t{1} << 14, 1.0F);
  const auto sums = [&](float error) {
    return compare(
        {{"pool",
          "1",
          {{"input/self", terms, terms}, {"output/result", {1 + error, 1 - error}, {1, 1}}}}});
  };
  EXPECT_FALSE(first_jump(sums(1e-5F).comparison).has_value());
  EXPECT_EQ(first_jump(sums(1e-4F).comparison), 0U);
}

// A sort of values that are a little off puts others in their place; of the same values it may not.
TEST(Jumps, PlacesFollowFromTheLeastDifference) {
  const auto sorted = [](const std::vector<float>& actual) {
    HandMade sample = compare(
        {{"sort",
          "1",
          {{"input/self", actual, {1, 2, 3, 4}}, {"output/result", {4, 1, 2, 3}, {1, 2, 3, 4}}}}});
    return sample;
  };
  HandMade off_by_little = sorted({1.001F, 2, 3, 4});
  EXPECT_EQ(first_jump(off_by_little.comparison), 0U) << "as numbers";
  off_by_little.actual[0].entries[1].desc.dtype = DType::int64;
  off_by_little.expected[0].entries[1].desc.dtype = DType::int64;
  analyse(off_by_little.comparison);
  EXPECT_FALSE(first_jump(off_by_little.comparison).has_value()) << "as places";
  HandMade same = sorted({1, 2, 3, 4});
  same.actual[0].entries[1].desc.dtype = DType::int64;
  same.expected[0].entries[1].desc.dtype = DType::int64;
  analyse(same.comparison);
  EXPECT_EQ(first_jump(same.comparison), 0U);
}

// Logits that are 1e-5 of themselves off make shares that are off by as much as the logits are.
TEST(Jumps, ExponentialsFollowTheSizeOfTheirInputs) {
  const auto pair = [](const std::string& op, float share_error) {
    return compare({{op,
                     "1",
                     {{"input/self", {20.0002F, -20.0002F}, {20, -20}},
                      {"output/result", {1 + share_error, 1}, {1, 1}}}}});
  };
  EXPECT_FALSE(first_jump(pair("softmax", 4e-4F).comparison).has_value());
  EXPECT_FALSE(first_jump(pair("Exp", 4e-4F).comparison).has_value());
  EXPECT_EQ(first_jump(pair("softmax", 4e-3F).comparison), 0U);
  EXPECT_EQ(first_jump(pair("relu", 4e-4F).comparison), 0U);
  EXPECT_EQ(first_jump(pair("expand", 4e-4F).comparison), 0U);
}

// Numbers of 2^-24 to 2^-22 in fp16, a unit off now and then.
TEST(Jumps, SubnormalNumbersAreRoundedMore) {
  std::vector<float> right(64, 0x1p-22F), other = right;
  for (std::size_t i = 0; i < other.size(); i += 8) other[i] += 0x1p-24F;
  HandMade sample =
      compare({{"Mul", "1", {{"input/self", right, right}, {"output/result", other, right}}}});
  EXPECT_EQ(first_jump(sample.comparison), 0U) << "in fp32";
  for (auto* records : {&sample.actual, &sample.expected}) {
    (*records)[0].entries[1].desc.dtype = DType::fp16;
  }
  analyse(sample.comparison);
  EXPECT_FALSE(first_jump(sample.comparison).has_value());
}

// With a mask that both dumps have, the gradient of a dropout is determined.
TEST(Jumps, DropoutOfTheSameMaskDrawsNothing) {
  const auto with_mask = [](const std::vector<float>& mask) {
    HandMade sample = compare({{"NativeDropoutBackward0",
                                "1",
                                {{"input/grads/grads_0", kTrue, kTrue},
                                 {"input/result1", mask, kTrue},
                                 {"output/grad_inputs/grad_inputs_0", off(0.5F), kTrue}}}});
    for (auto* records : {&sample.actual, &sample.expected}) {
      for (DumpEntry& entry : (*records)[0].entries) {
        if (entry.name == "result1") entry.desc.dtype = DType::boolean;
      }
    }
    analyse(sample.comparison);
    return sample;
  };
  const HandMade same = with_mask(kTrue);
  EXPECT_EQ(first_jump(same.comparison), 0U);
  EXPECT_EQ(first_departure(same.comparison), 0U);
  const HandMade another = with_mask(off(0.5F));
  EXPECT_FALSE(first_jump(another.comparison).has_value());
  EXPECT_FALSE(first_departure(another.comparison).has_value());
}

// Scores under a mask of -1e9, which the operator forgets where it lets them through.
TEST(Jumps, AMaskHidesNothing) {
  std::vector<float> scores(64), masked(64), wrong(64);
  for (std::size_t i = 0; i < masked.size(); ++i) {
    scores[i] = static_cast<float>(i % 7) - 3.1F;
    masked[i] = i % 2 == 0 ? -1e9F : scores[i];
    wrong[i] = i % 2 == 0 ? -1e9F : 0;
  }
  const HandMade sample =
      compare({{"add", "1", {{"input/self", scores, scores}, {"output/result", wrong, masked}}}});
  EXPECT_EQ(first_jump(sample.comparison), 0U);
  EXPECT_EQ(sample.comparison.operators[0].origin, Origin::introduced);
}

// As the least number of fp32, beside which all else is lost in a sum; large numbers alone are
// none.
TEST(Jumps, AMaskIsFarBeyondAllOthers) {
  std::vector<float> scores(64), masked(64), wrong(64), large(64), off_large(64);
  for (std::size_t i = 0; i < masked.size(); ++i) {
    scores[i] = static_cast<float>(i % 7) + 1;
    masked[i] = i % 2 == 0 ? -3.4028235e38F : scores[i];
    wrong[i] = i % 2 == 0 ? masked[i] : 1.5F * scores[i];
    large[i] = off_large[i] = 1e4F + 100 * static_cast<float>(i);
  }
  off_large[5] *= 1 + 3e-5F;
  const HandMade fill = compare(
      {{"masked_fill", "1", {{"input/self", scores, scores}, {"output/result", wrong, masked}}}});
  EXPECT_EQ(first_jump(fill.comparison), 0U);
  const HandMade scaled = compare(
      {{"mul", "1", {{"input/self", scores, scores}, {"output/result", off_large, large}}}});
  EXPECT_FALSE(first_jump(scaled.comparison).has_value());
}

// What is rounding alone moves by the learning rate.
TEST(Jumps, AdaptiveOptimizersHaveNoneUnlessTheirInputsAreEqual) {
  const auto adam = [](const std::vector<float>& gradient) {
    return compare({{"npu_apply_adam",
                     "1",
                     {{"input/grad", gradient, kTrue}, {"output/var", off(1e-3F), kTrue}}}});
  };
  EXPECT_FALSE(first_jump(adam(off(1e-6F)).comparison).has_value());
  EXPECT_EQ(first_jump(adam(kTrue).comparison), 0U);
}

// The numbers of a shape are no mask.
TEST(Jumps, WhatIsDrawnFromAShapeIsRandom) {
  HandMade sample = compare(
      {{"RandomUniform", "1", {{"input/shape", {2, 5}, {2, 5}}, {"output/y", off(0.5F), kTrue}}}});
  for (auto* records : {&sample.actual, &sample.expected}) {
    (*records)[0].entries[0].desc.dtype = DType::int64;
  }
  analyse(sample.comparison);
  EXPECT_FALSE(first_jump(sample.comparison).has_value());
  // A mask of floats, of the gradient that is passed on.
  const HandMade gradient = compare({{"NativeDropoutBackward0",
                                      "1",
                                      {{"input/grads/grads_0", kTrue, kTrue},
                                       {"input/mask", kTrue, kTrue},
                                       {"output/grad_inputs/grad_inputs_0", off(0.5F), kTrue}}}});
  EXPECT_EQ(first_jump(gradient.comparison), 0U);
}

// One product is wrong, and those behind it are as far off as their inputs.
TEST(Jumps, InheritedErrorsAreNoSignOfFp16Operands) {
  std::vector<CallValues> calls = {call("mm", 0, 1e-7F, 2e-7F), call("mm", 1, 1e-7F, 3e-7F),
                                   call("mm", 2, 2e-7F, 3e-4F)};
  for (int i = 3; i < 8; ++i) calls.push_back(call("MmBackward", i, 3e-4F, 4e-4F));
  const HandMade sample = compare(calls);
  EXPECT_FALSE(has_fp16_operands(sample.comparison));
  EXPECT_EQ(first_jump(sample.comparison), 2U);
}

TEST(Jumps, OperatorsAreKnownByWordsOfTheirNames) {
  for (const char* op :
       {"Dropout2d", "NativeDropoutBackward0", "rand_like", "RandomNormal2d", "normal_", "Normal",
        "TruncatedNormal", "log_normal_", "uniform", "poisson", "exponential_", "geometric_",
        "cauchy_", "rrelu", "gumbel_softmax", "randperm", "StatelessRandomUniformV2"}) {
    EXPECT_TRUE(is_random(op)) << op;
  }
  for (const char* op : {"AddmmBackward", "operand", "brand", "grand_mul", "normalize",
                         "DropOutDoMask", "poisson_nll_loss", "layer_norm"}) {
    EXPECT_FALSE(is_random(op)) << op;
  }
  for (const char* op :
       {"conv2d", "NpuConvolutionBackward", "mm", "MmBackward", "AddmmBackward", "bmm", "GEMM",
        "Dense", "FullyConnection", "InnerProduct", "addmv", "mv", "dot", "tensordot", "DynamicRNN",
        "DynamicRNNV2", "lstm", "DynamicGRUV2", "BatchMatMulV2"}) {
    EXPECT_TRUE(is_product(op)) << op;
  }
  for (const char* op :
       {"upsample_bilinear2d", "upsample_linear1d", "Convert", "convert_element_type",
        "embedding_dense_backward", "to_dense", "mvn", "relu"}) {
    EXPECT_FALSE(is_product(op)) << op;
  }
}

// An error that comes in at few elements and is spread over all by sums is no growth: among such
// operators a real mistake stands out.
TEST(Jumps, ErrorsThatAreSpreadDoNotMakeAKindAnAmplifier) {
  std::vector<float> right(1024, 1.0F), sparse = right;
  for (std::size_t i = 0; i < right.size(); i += 64)
    sparse[i] = 1.5F;  // 1/128 of the sum, rms 1/16
  std::vector<float> spread(1024, 1.0F), wrong(1024, 0.5F);
  for (std::size_t i = 0; i < spread.size(); ++i) spread[i] += i % 2 == 0 ? 0.05F : -0.05F;
  std::vector<CallValues> calls;
  for (int i = 0; i < 6; ++i) {
    calls.push_back(
        {"ConvolutionBackward",
         std::to_string(i),
         {{"input/grad", sparse, right}, {"output/dx", i == 5 ? wrong : spread, right}}});
  }
  const HandMade sample = compare(calls);
  EXPECT_EQ(first_jump(sample.comparison), 5U);
}

TEST(Jumps, Fp16OperandsAreRecognised) {
  std::vector<CallValues> calls;
  for (int i = 0; i < 3; ++i) calls.push_back(call("conv2d", i, 0, 3e-4F));
  const HandMade cube = compare(calls);
  EXPECT_TRUE(has_fp16_operands(cube.comparison));
  EXPECT_FALSE(first_jump(cube.comparison).has_value());
  const HandMade fp32 = compare({call("conv2d", 0, 0, 2e-7F), call("conv2d", 1, 2e-7F, 4e-7F)});
  EXPECT_FALSE(has_fp16_operands(fp32.comparison));
  // Terms of one sign average their rounding out: one such product among others changes nothing.
  calls.push_back(call("matmul", 3, 0, 5e-6F));
  EXPECT_TRUE(has_fp16_operands(compare(calls).comparison));
  // Gradients that are subnormal in fp16 are off by more.
  for (int i = 4; i < 9; ++i) calls.push_back(call("ConvolutionBackward", i, 0, 2e-2F));
  EXPECT_TRUE(has_fp16_operands(compare(calls).comparison));
  // A mistake in one of several products is no property of the pair.
  EXPECT_FALSE(has_fp16_operands(compare({call("conv2d", 0, 0, 2e-7F), call("conv2d", 1, 0, 3e-4F),
                                          call("conv2d", 2, 0, 2e-7F)})
                                     .comparison));
}

// The tail of a gradient is missing: by the sum as little as rounded operands, but all the rest is
// right.
TEST(Jumps, AProductThatIsOffInFewElementsHasNoFp16Operands) {
  std::vector<float> right(32768);
  for (std::size_t i = 0; i < right.size(); ++i) right[i] = i % 2 == 0 ? 1.0F : -1.5F;
  std::vector<float> wrong = right;
  std::fill(wrong.end() - 16, wrong.end(), 0.0F);
  std::vector<CallValues> calls;
  for (int i = 0; i < 6; ++i) calls.push_back(call("conv2d", i, 0, 0));
  calls.push_back({"ConvolutionBackward",
                   "6",
                   {{"input/grad", right, right}, {"output/grad_inputs_0", wrong, right}}});
  const HandMade sample = compare(calls);
  EXPECT_FALSE(has_fp16_operands(sample.comparison));
  EXPECT_EQ(first_jump(sample.comparison), 6U);
}

// A bias in front of a batch norm: its gradient is 0 but for rounding.
TEST(Jumps, SumsThatCancelAreNoErrors) {
  std::vector<float> gradient(1000);
  for (std::size_t i = 0; i < 1000; ++i) gradient[i] = i % 2 == 0 ? 1.0F : -1.0F;
  const HandMade sample =
      compare({{"ConvolutionBackward",
                "1",
                {{"input/grad", gradient, gradient}, {"output/bias", {1e-6F}, {-2e-6F}}}}});
  // 3e-6 of sqrt(1000).
  const OperatorResult& op = sample.comparison.operators[0];
  EXPECT_NEAR(sum_error(op, Side::output).value(), 3e-6 / 31.6, 1e-9);
}

// The mean of a batch that is 0 but for rounding, beside what it is the mean of.
TEST(Jumps, MeansThatCancelAreNoErrors) {
  std::vector<float> x(1000);
  for (std::size_t i = 0; i < 1000; ++i) x[i] = i % 2 == 0 ? 2.0F : -2.0F;
  const HandMade sample = compare(
      {{"native_batch_norm", "1", {{"input/input", x, x}, {"output/result1", {1e-7F}, {-1e-7F}}}}});
  EXPECT_NEAR(sum_error(sample.comparison.operators[0], Side::output).value(), 1e-7, 1e-9);
}

// An input of 1e-9 on one side and of 0 on the other lets a gradient of 1 through or stops it.
TEST(Jumps, OneElementOnTheOtherSideOfAKinkIsNoError) {
  const auto output_error = [](const char* op, std::size_t flipped) {
    std::vector<float> expected(1000, 1.0F), actual = expected;
    for (std::size_t i = 0; i < flipped; ++i) actual[i] = 0;
    const HandMade sample = compare(
        {{op, "1", {{"input/grads", expected, expected}, {"output/grad", actual, expected}}}});
    return sum_error(sample.comparison.operators[0], Side::output).value();
  };
  EXPECT_EQ(output_error("ReluBackward0", 1), 0);
  EXPECT_EQ(output_error("ReluBackward0", 2), 2e-3);
  EXPECT_EQ(output_error("MulBackward0", 1), 1e-3);
}

// As many as its inputs' error can push over, which is two where they agree.
TEST(Jumps, MoreThanInputsCanPushOverAKinkAreAnError) {
  const auto output_error = [](float input_error, std::size_t flipped) {
    std::vector<float> expected(10000, 1.0F), actual = expected, input = expected;
    for (float& value : input) value += input_error;
    for (std::size_t i = 0; i < flipped; ++i) actual[i] = 0;
    const HandMade sample =
        compare({{"ReluBackward0",
                  "1",
                  {{"input/grads", input, expected}, {"output/grad", actual, expected}}}});
    return sum_error(sample.comparison.operators[0], Side::output).value();
  };
  EXPECT_EQ(output_error(0, 2), 0);
  EXPECT_NEAR(output_error(0, 3), 3e-4, 1e-12);
  EXPECT_EQ(output_error(1.3e-4F, 5), 0);  // 4 x 1.3e-4 x 10000
  EXPECT_NEAR(output_error(1.3e-4F, 6), 6e-4, 1e-12);
}

// One element of a gradient that is off by 1 is one row of a gradient of weights that is: the sum
// of the errors grows tenfold, their root mean square by less than two.
TEST(Jumps, AnErrorThatIsOnlySpreadIsNone) {
  std::vector<CallValues> calls = layers("Relu", 8);
  const auto backward = [](float in, float out) {
    std::vector<float> from(1000, 1.0F), to(1000, 1.0F);
    from[0] += in;
    for (std::size_t i = 0; i < 100; ++i) to[i] += out;
    const std::vector<float> expected(1000, 1.0F);
    return CallValues{"ConvolutionBackward0",
                      "8",
                      {{"input/grad", from, expected}, {"output/weight", to, expected}}};
  };
  // Sums: 1e-2 in, 0.1 out; root mean squares: 0.316 in, 0.316 out.
  calls.push_back(backward(10, 1));
  EXPECT_FALSE(first_jump(compare(calls).comparison).has_value());
  // Three times as much is its own.
  calls.back() = backward(10, 3);
  EXPECT_TRUE(first_jump(compare(calls).comparison).has_value());
}

TEST(Fp16Cube, HoldsOutputsToTheirInputs) {
  const HandMade healthy = compare(
      {call("conv2d", 0, 0, 3e-3F), call("relu", 1, 3e-3F, 2e-2F), call("relu", 2, 2e-2F, 2e-2F)},
      "fp16-cube");
  EXPECT_EQ(count(healthy.comparison).failed, 0);
  const HandMade wrong =
      compare({call("conv2d", 0, 0, 5e-3F), call("relu", 1, 5e-3F, 5e-2F)}, "fp16-cube");
  EXPECT_EQ(count(wrong.comparison).failed, 2);
  EXPECT_EQ(wrong.comparison.operators[1].tensors[1].judgement.reason,
            "off by 0.05 of its size, at most 0.04 allowed: its inputs are off by 0.005; worst at "
            "[0]: 1.10000002, expected 1");
  // One operator that is no product is held to fp32.
  const HandMade relu = compare({call("relu", 0, 0, 2e-3F)}, "fp16-cube");
  EXPECT_EQ(count(relu.comparison).failed, 1);
}

// A weight that nothing in the dumps made, in the fp16 cube's errors of the operators before.
TEST(Fp16Cube, InputsAreHeldToWhatWasBeforeThem) {
  const auto with_weight = [](float error) {
    CallValues product = call("mm", 1, 3e-4F, 3e-4F);
    product.tensors.insert(product.tensors.begin(), {"input/weight", off(error), kTrue});
    return compare({call("mm", 0, 0, 3e-4F), product}, "fp16-cube");
  };
  EXPECT_EQ(count(with_weight(1e-3F).comparison).failed, 0);
  const HandMade wrong = with_weight(0.5F);
  EXPECT_EQ(count(wrong.comparison).failed, 1);
  EXPECT_EQ(wrong.comparison.operators[1].tensors[0].judgement.reason,
            "off by 0.5 of its size, at most 0.0312 allowed: no output before it is off by more "
            "than 0.0003; worst at [0]: 2, expected 1");
}

// By a rule for some operators, whatever the others are held to.
TEST(Fp16Cube, OfSomeOperatorsAlone) {
  HandMade sample = compare({call("mm", 0, 0, 0.5F)});
  for (TensorResult& tensor : sample.comparison.operators[0].tensors) {
    tensor.standard = compare_tests::standard("fp16-cube");
    tensor.judgement = {Verdict::passed, {}};
  }
  analyse(sample.comparison);
  EXPECT_EQ(count(sample.comparison).failed, 1);
}

// Which element is the largest follows from the least difference.
TEST(Fp16Cube, PlacesOfValuesThatAreOffAreMistrusted) {
  HandMade sample = compare({{"max",
                              "1",
                              {{"input/self", off(1e-4F), kTrue},
                               {"output/values", {1, 1}, {1, 1}},
                               {"output/indices", {1, 2}, {1, 3}}}}},
                            "fp16-cube");
  OperatorResult& op = sample.comparison.operators[0];
  for (auto* records : {&sample.actual, &sample.expected}) {
    for (DumpEntry& entry : (*records)[0].entries) {
      if (entry.name == "indices") entry.desc.dtype = DType::int64;
    }
  }
  for (TensorResult& tensor : op.tensors) {
    if (tensor.entry().name == "indices") tensor.judgement = {Verdict::failed, "1 of 2 differ"};
  }
  analyse(sample.comparison);
  EXPECT_EQ(count(sample.comparison).failed, 0);
  EXPECT_EQ(op.tensors[2].judgement.reason, "1 of 2 whole numbers differ, of inputs that are off");
}

TEST(Analysis, NothingIsRepairedThatIsFurtherOff) {
  // The input fails by its worst element alone; the output is off by more, everywhere.
  std::vector<float> input = kTrue, output = kTrue;
  input[3] = 1.02F;
  for (float& value : output) value += 0.0005F;
  const HandMade less =
      compare({{"A", "1", {{"input/x", input, kTrue}, {"output/y", kTrue, kTrue}}}});
  EXPECT_EQ(less.comparison.operators[0].origin, Origin::repaired);
  std::vector<float> slightly = kTrue;
  slightly[0] = 1.0011F;  // fails, and is off by less than the output
  std::vector<float> much(10, 1.0009F);
  const HandMade more =
      compare({{"A", "1", {{"input/x", slightly, kTrue}, {"output/y", much, kTrue}}}});
  EXPECT_EQ(more.comparison.operators[0].origin, Origin::inherited);
}

}  // namespace
}  // namespace opbench
