#include <gmock/gmock.h>

#include <cmath>

#include "tensor/error.h"
#include "tests/conforms.h"
#include "tests/ops/finite_difference.h"

namespace opbench {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

Given vector(const std::vector<double>& values) {
  return {DType::fp32, {std::int64_t(values.size())}, values};
}

}  // namespace

// Channel 0 holds 1, 3 (mean 2, variance 1), channel 1 holds 0, 4 (mean 2, variance 4); eps = 0.
TEST(BatchNorm, HandComputed) {
  const std::vector<Given> inputs = {{DType::fp32, {2, 2}, {1, 0, 3, 4}},
                                     vector({10, 1}),
                                     vector({0, 5}),
                                     vector({0, 2}),
                                     vector({1, 1})};
  const Values y = reference_of_tensors("batch_norm", inputs, {{"eps", "0"}, {"momentum", "0.5"}});
  ASSERT_EQ(y.size(), 5u);
  EXPECT_THAT(y[0], ElementsAre(-10, 4, 10, 6));
  // momentum = 0.5 averages the running and the batch statistics. The variance over n - 1 = 1 is 2
  // and 8.
  EXPECT_THAT(y[1], ElementsAre(1, 2));
  EXPECT_THAT(y[2], ElementsAre(1.5, 4.5));
  EXPECT_THAT(y[3], ElementsAre(2, 2));
  EXPECT_THAT(y[4], ElementsAre(1, 0.5));
}

TEST(BatchNorm, InferenceTakesTheRunningStatistics) {
  const std::vector<Given> inputs = {{DType::fp32, {1, 2, 1}, {3, 8}},
                                     vector({2, 1}),
                                     vector({1, 0}),
                                     vector({1, 4}),
                                     vector({4, 16})};
  const Values y =
      reference_of_tensors("batch_norm", inputs, {{"training", "false"}, {"eps", "0"}});
  ASSERT_EQ(y.size(), 1u);
  EXPECT_THAT(y[0], ElementsAre(3, 1));
}

TEST(BatchNorm, GradientsAgreeWithFiniteDifferences) {
  expect_gradients({"batch_norm",
                    {spread({2, 3, 2, 2}), spread({3}, 1), spread({3}, 2), vector({0, 1, 2}),
                     vector({1, 2, 3})}});
  expect_gradients(
      {"batch_norm",
       {spread({5, 2}), spread({2}, 1), spread({2}, 2), vector({0, 1}), vector({1, 2})}});
}

// The deviations with eps are 2 and 4.
TEST(BatchNorm, GradientOfTheSavedVariance) {
  std::vector<Given> inputs = {{DType::fp32, {2, 2, 2}, {1, -1, 2, 0, 3, 1, 1, 4}},
                               {DType::fp32, {2, 2, 2}, {1, 2, 3, 4, 5, 0, -1, 2}},
                               vector({2, 0.5}),
                               vector({1, 2}),
                               vector({3, 15})};
  const Values of_variance =
      reference_of_tensors("batch_norm_variance_grad", inputs, {{"eps", "1"}});
  inputs.back() = vector({0.5, 0.25});
  EXPECT_EQ(of_variance, reference_of_tensors("batch_norm_grad", inputs, {}));
}

// The running statistics are constants. Source: torch 1.13, batch_norm(training=False), backward.
// The deviations with eps are 2 and 4.
TEST(BatchNorm, InferenceHasAGradient) {
  const Values gradients =
      reference_of_tensors("batch_norm_infer_grad",
                           {{DType::fp32, {2, 2, 2}, {1, -1, 2, 0, 3, 1, 1, 4}},
                            {DType::fp32, {2, 2, 2}, {1, 2, 3, 4, 5, 0, -1, 2}},
                            vector({2, 0.5}),
                            vector({1, 2}),
                            vector({3, 15})},
                           {{"eps", "1"}});
  EXPECT_THAT(gradients[0], ElementsAre(1, -1, 0.25, 0, 3, 1, 0.125, 0.5));
  EXPECT_THAT(gradients[1], ElementsAre(5, -0.25));
  EXPECT_THAT(gradients[2], ElementsAre(4, 7));
}

// The running statistics are left out, because torch gives them no gradient.
TEST(BatchNorm, InferenceGradientAgreesWithFiniteDifferences) {
  const AttrTexts inference = {{"training", "false"}, {"eps", "0.5"}};
  expect_gradients(
      {"batch_norm",
       {spread({2, 3, 2, 2}), spread({3}, 1), spread({3}, 2), vector({0, 1, 2}), vector({1, 2, 3})},
       inference});
  // A channel of one element has no variance. Inference does not compute it.
  expect_gradients(
      {"batch_norm",
       {spread({1, 2}), spread({2}, 1), spread({2}, 2), vector({0, 1}), vector({1, 2})},
       inference});
}

// Mean 1000, deviation 1: E[x^2] - E[x]^2 in fp32 loses the variance, and two passes keep it. The
// device computes it like this, so the loss is not a fault.
TEST(BatchNorm, SinglePassVarianceCancels) {
  const Op& op = find_op("batch_norm");
  const Problem problem =
      problem_with(op, {{1, 1, 1, 2}, {1}, {1}, {1}, {1}}, {}, DType::fp32, Format::NC1HWC0);
  std::vector<Tensor> inputs, outputs;
  for (const TensorDesc& desc : problem.inputs) inputs.emplace_back(desc);
  for (const TensorDesc& desc : problem.outputs) outputs.emplace_back(desc);
  const float values[] = {4095, 4097};  // variance 1
  write_elements(problem.inputs[0], inputs[0].data(), {0, 2}, values);
  for (std::size_t i = 1; i < 5; ++i) *inputs[i].as<float>() = 1;
  std::vector<const Tensor*> in;
  std::vector<Tensor*> out;
  for (Tensor& tensor : inputs) in.push_back(&tensor);
  for (Tensor& tensor : outputs) out.push_back(&tensor);
  run_kernel(find_kernel("batch_norm", "bn_training_update"), problem, in, out);
  // 4095^2 + 4097^2 = 33554434 rounds to 33554432 = 2 * 4096^2. The variance becomes 0, and only
  // eps remains.
  EXPECT_NEAR(*outputs[4].as<float>(), 1 / std::sqrt(1e-5), 0.1);
  EXPECT_NEAR(reference_of_tensors("batch_norm", {{DType::fp32, {1, 1, 1, 2}, {4095, 4097}},
                                                  vector({1}),
                                                  vector({1}),
                                                  vector({1}),
                                                  vector({1})})[4][0],
              1, 1e-4);
}

TEST(BatchNorm, NamesWhatItRefuses) {
  const Op& op = find_op("batch_norm");
  const auto refused = [&](const std::vector<Dims>& shapes, const char* text) {
    EXPECT_THAT([&] { problem_with(op, shapes, {}, DType::fp32); },
                ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused({{4}, {4}, {4}, {4}, {4}}, "batch_norm: 'self' has shape 4; allowed: [N, C, ...]");
  refused({{2, 4}, {4}, {4}, {3}, {4}}, "'running_mean' has shape 3; allowed: 4");
  refused({{1, 4}, {4}, {4}, {4}, {4}},
          "has 1 elements in a channel; the variance of a batch needs");
  EXPECT_THAT(
      [&] {
        attrs_of(op, {{"momentum", "2"}});
      },
      ThrowsMessage<Error>(HasSubstr("it must be from 0 to 1")));
  EXPECT_THAT(
      [] {
        problem_with(find_op("batch_norm_infer_grad"), {{2, 4}, {2, 4}, {4}, {4}, {3}}, {},
                     DType::fp32);
      },
      ThrowsMessage<Error>(HasSubstr("'running_var' has shape 3; allowed: 4")));
}

TEST(BatchNorm, DeviceVariantsAreForTheirMode) {
  const Op& op = find_op("batch_norm");
  const std::vector<Dims> shapes = {{2, 4, 3, 3}, {4}, {4}, {4}, {4}};
  const Problem training = problem_with(op, shapes, {}, DType::fp16, Format::NC1HWC0);
  const Problem plain = problem_with(op, shapes, {}, DType::fp16);
  EXPECT_EQ(refusal(find_kernel("batch_norm", "bn_training_update"), training), "");
  EXPECT_THAT(refusal(find_kernel("batch_norm", "bn_infer"), training),
              HasSubstr("BNInfer is for training=false"));
  EXPECT_THAT(refusal(find_kernel("batch_norm", "bn_training_update"), plain),
              HasSubstr("takes NC1HWC0, found NCHW"));
}

// Vectors of channels may also be stored in blocks of 16, in any format of x.
TEST(BatchNorm, VectorsMayBePlainOrBlocked) {
  for (const char* name :
       {"batch_norm", "batch_norm_grad", "batch_norm_variance_grad", "batch_norm_infer_grad"}) {
    const Op& op = find_op(name);
    const std::vector<Dims> shapes = shapes_like(op, {2, 48, 5, 3}, attrs_of(op, {}));
    for (const DType dtype : {DType::fp32, DType::fp16}) {
      for (const Format format : {Format::NCHW, Format::NC1HWC0}) {
        for (const Format vectors : {Format::ND, Format::NC1HWC0}) {
          Problem problem = problem_with(op, shapes, {}, dtype, format);
          for (TensorDesc& input : problem.inputs) {
            if (input.shape.size() == 1) input = describe(DType::fp32, input.shape, vectors);
          }
          problem = make_problem(op, problem.inputs, problem.attrs);
          EXPECT_EQ(problem.outputs.back().format, vectors);
          int held = 0;
          for (const Kernel* kernel : kernels_of(name)) {
            held += expect_conforms(*kernel, problem, 2) ? 1 : 0;
          }
          EXPECT_GT(held, 0);
        }
      }
    }
  }
}

}  // namespace opbench
