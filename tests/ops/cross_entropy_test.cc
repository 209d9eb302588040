#include <gmock/gmock.h>

#include <cmath>

#include "tensor/error.h"
#include "tests/ops/finite_difference.h"

namespace opbench {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// Two equal logits give ln 2 for either target.
TEST(CrossEntropy, HandComputed) {
  for (const DType index : {DType::int64, DType::int32}) {
    EXPECT_THAT(reference_of_tensors("cross_entropy", {{DType::fp32, {2, 2}, {0, 0, 5, 5}},
                                                       {index, {2}, {0, 1}}})[0],
                ElementsAre(DoubleNear(std::log(2.0), 1e-15)));
  }
  // The losses of the rows are 0 and 1000. The 0 is exact, because exp(-1000) is 0.
  EXPECT_THAT(reference_of_tensors("cross_entropy", {{DType::fp32, {2, 2}, {1000, 0, 1000, 0}},
                                                     {DType::int64, {2}, {0, 1}}})[0],
              ElementsAre(500));
}

// The shares are 1/2: (1/2 - 1)/2 at the target, 1/2/2 elsewhere.
TEST(CrossEntropyGrad, HandComputed) {
  EXPECT_THAT(reference_of_tensors("cross_entropy_grad", {{DType::fp32, {}, {4}},
                                                          {DType::fp32, {2, 2}, {3, 3, 7, 7}},
                                                          {DType::int64, {2}, {0, 1}}})[0],
              ElementsAre(DoubleNear(-1, 1e-12), DoubleNear(1, 1e-12), DoubleNear(1, 1e-12),
                          DoubleNear(-1, 1e-12)));
}

namespace {

/// Source: torch 1.13, cross_entropy in fp64: the loss, and its gradient for a dy of 2.
struct Golden {
  AttrTexts attrs;
  bool is_weighted;
  double ignored;  ///< the target of row 2
  double loss;
  std::vector<double> gradient;
};

const std::vector<Golden>& golden_values() {
  static const std::vector<Golden> all = {
      {{},
       false,
       -100,
       1.8167929586409626,
       {0.154149265081, 0.419021146141, -0.573170411223, -0.635591584948, 0.011431883697,
        0.624159701251, 0, 0, 0, 0.20688518609, -0.228690724277, 0.021805538187}},
      {{},
       true,
       -100,
       1.3299368760389148,
       {0.173417923217, 0.471398789409, -0.644816712625, -0.238346844356, 0.004286956386,
        0.234059887969, 0, 0, 0, 0.310327779135, -0.343036086416, 0.032708307281}},
      {{{"label_smoothing", "0.25"}},
       false,
       -100,
       1.8098485141965182,
       {0.098593709526, 0.363465590586, -0.462059300111, -0.524480473837, -0.044123671859,
        0.568604145695, 0, 0, 0, 0.151329630534, -0.117579613166, -0.033750017368}},
      {{{"label_smoothing", "0.25"}},
       true,
       -100,
       1.43342173002276,
       {0.147767425349, 0.374971045259, -0.522738470608, -0.19182469617, -0.077260145119,
        0.26908484129, 0, 0, 0, 0.26363379754, -0.231116412548, -0.032517384993}},
      // Row 3 is ignored, because its target is 1.
      {{{"ignore_index", "1"}},
       false,
       0,
       1.9640824973078752,
       {0.154149265081, 0.419021146141, -0.573170411223, -0.635591584948, 0.011431883697,
        0.624159701251, -0.385120801166, 0.281545865501, 0.103574935665, 0, 0, 0}},
      {{{"ignore_index", "1"}, {"label_smoothing", "0.25"}},
       true,
       0,
       2.117114091277411,
       {0.236427880559, 0.599953672414, -0.836381552973, -0.306919513872, -0.123616232191,
        0.430535746063, -0.094019347657, 0.105980652343, -0.011961304685, 0, 0, 0}}};
  return all;
}

std::vector<Given> loss_inputs(const Golden& golden) {
  std::vector<Given> inputs = {{DType::fp32, {4, 3}, {1, 2, 0.5, 0, -1, 3, 2, 2, 1, 0.25, 1, -2}},
                               {DType::int64, {4}, {2, 0, golden.ignored, 1}}};
  if (golden.is_weighted) inputs.push_back({DType::fp32, {3}, {0.5, 2, 1.5}});
  return inputs;
}

}  // namespace

TEST(CrossEntropy, WeightsSmoothingAndIgnoredRowsAsTorch) {
  for (const Golden& golden : golden_values()) {
    std::vector<Given> inputs = loss_inputs(golden);
    EXPECT_NEAR(reference_of_tensors("cross_entropy", inputs, golden.attrs)[0][0], golden.loss,
                1e-14);
    EXPECT_NEAR(kernel_on_tensors("cross_entropy", "native", inputs, golden.attrs)[0][0],
                golden.loss, 1e-6);
    inputs.insert(inputs.begin(), {DType::fp32, {}, {2}});
    const auto of_reference = reference_of_tensors("cross_entropy_grad", inputs, golden.attrs)[0];
    const auto of_native =
        kernel_on_tensors("cross_entropy_grad", "native", inputs, golden.attrs)[0];
    for (std::size_t i = 0; i < golden.gradient.size(); ++i) {
      EXPECT_NEAR(of_reference[i], golden.gradient[i], 1e-12) << i;
      EXPECT_NEAR(of_native[i], golden.gradient[i], 1e-6) << i;
    }
  }
}

// torch returns NaN for the mean of no rows; its gradients are 0.
TEST(CrossEntropy, AllRowsMayBeIgnored) {
  const Given x{DType::fp32, {2, 2}, {1, 2, 3, 4}}, target{DType::int64, {2}, {7, 7}};
  const AttrTexts attrs = {{"ignore_index", "7"}};
  for (const char* variant : {"native", "log_softmax_v2"}) {
    EXPECT_TRUE(std::isnan(kernel_on_tensors("cross_entropy", variant, {x, target}, attrs)[0][0]));
  }
  for (const char* variant : {"native", "nll_loss_grad"}) {
    EXPECT_THAT(kernel_on_tensors("cross_entropy_grad", variant,
                                  {{DType::fp32, {}, {1}}, x, target}, attrs)[0],
                ElementsAre(0, 0, 0, 0));
  }
}

TEST(CrossEntropy, OnlyNativeSmoothsLabels) {
  const Problem problem = problem_with(find_op("cross_entropy"), {{4, 3}, {4}},
                                       {{"label_smoothing", "0.1"}}, DType::fp32, Format::ND);
  EXPECT_EQ(refusal(find_kernel("cross_entropy", "log_softmax_v2"), problem),
            "NLLLoss has no label smoothing");
  EXPECT_EQ(refusal(find_kernel("cross_entropy", "native"), problem), "");
}

TEST(CrossEntropy, GradientsAgreeWithFiniteDifferences) {
  const Given target{DType::int64, {4}, {0, 4, 2, 2}};
  const Given weight{DType::fp32, {5}, {0.5, 1.5, 1, 2, 0.25}};
  expect_gradients({"cross_entropy", {spread({4, 5}), target}});
  expect_gradients({"cross_entropy", {spread({4, 5}), target, weight}});
  expect_gradients({"cross_entropy", {spread({4, 5}), target}, {{"ignore_index", "2"}}});
  expect_gradients({"cross_entropy",
                    {spread({4, 5}), target, weight},
                    {{"ignore_index", "4"}, {"label_smoothing", "0.25"}}});
}

TEST(CrossEntropy, VariantsTakeEitherIndex) {
  for (const char* variant : {"native", "log_softmax_v2"}) {
    for (const DType index : {DType::int64, DType::int32}) {
      const std::vector<Given> inputs = {{DType::fp32, {2, 3}, {1, 2, 3, -1, 0, 4}},
                                         {index, {2}, {2, 0}}};
      EXPECT_NEAR(kernel_on_tensors("cross_entropy", variant, inputs)[0][0],
                  reference_of_tensors("cross_entropy", inputs)[0][0], 1e-6)
          << variant;
    }
  }
}

// The loss is log(1 + e^-10). Its error is at most a rounding error of the sum, as if the logits
// were not near 1000.
TEST(CrossEntropy, LargeNumbersCancelExactly) {
  for (const char* variant : {"native", "log_softmax_v2"}) {
    const std::vector<Given> inputs = {{DType::fp32, {1, 2}, {1000, 990}},
                                       {DType::int64, {1}, {0}}};
    EXPECT_NEAR(kernel_on_tensors("cross_entropy", variant, inputs)[0][0], 4.5398899e-5, 0x1p-23)
        << variant;
  }
}

TEST(CrossEntropy, NamesWhatItRefuses) {
  EXPECT_THAT(
      [] {
        reference_of_tensors("cross_entropy",
                             {{DType::fp32, {1, 3}, {1, 2, 3}}, {DType::int64, {1}, {3}}});
      },
      ThrowsMessage<Error>(HasSubstr("cross_entropy: target[0] is 3; allowed: 0 to 2, or -100 "
                                     "(ignore_index)")));
  const auto refused = [](const Given& x, const Given& target, const char* text) {
    EXPECT_THAT(
        [&] {
          reference_of_tensors("cross_entropy", {x, target});
        },
        ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused({DType::fp32, {2}, {1, 2}}, {DType::int64, {2}, {0, 0}},
          "'self' has shape 2; allowed: [N, C]");
  refused({DType::fp32, {0, 3}, {}}, {DType::int64, {0}, {}}, "at least one of each");
  refused({DType::fp32, {1, 2}, {1, 2}}, {DType::int64, {2}, {0, 0}},
          "'target' has shape 2; allowed: 1");
  EXPECT_THAT(
      [] {
        problem_with(find_op("cross_entropy"), {{1, 3}, {1}, {2}}, {}, DType::fp32);
      },
      ThrowsMessage<Error>(HasSubstr("'weight' has shape 2; allowed: 3")));
  for (const char* share : {"-0.5", "1.5"}) {
    EXPECT_THAT(
        [&] {
          attrs_of(find_op("cross_entropy"), {{"label_smoothing", share}});
        },
        ThrowsMessage<Error>(HasSubstr("it must be from 0 to 1")));
  }
}

namespace {

/// Source: torch 1.13, cross_entropy in fp64 of kLogits with targets 2, 0, 1, 2: losses, and the
/// gradient for dy = 2 (sum) or 1, 2, 4, 8 (none).
struct ReducedGolden {
  const char* reduction;
  bool is_weighted;  ///< by 0.5, 2, 1.5; with ignore_index 1 and label_smoothing 0.25
  std::vector<double> losses, gradient;
};

const std::vector<double> kLogits = {1, 2, -1, 0.5, 0.25, 3, -2, 1, 0, 4, -1, 0.5};

const ReducedGolden kReduced[] = {
    {"sum",
     false,
     {9.87058284},
     {0.518992921, 1.41076903, -1.92976195, -1.85674681, 0.111565696, 1.74518111, 0.0702380539,
      -0.589230975, 0.518992921, 1.92876059, 0.0129958866, -1.94175648}},
    {"none",
     false,
     {3.34901222, 2.63628884, 0.349012217, 3.53626957},
     {0.25949646, 0.705384513, -0.964880973, -1.85674681, 0.111565696, 1.74518111, 0.140476108,
      -1.17846195, 1.03798584, 7.71504236, 0.0519835465, -7.76702591}},
    {"sum",
     true,
     {11.1584072},
     {0.673531343, 1.72403816, -2.3975695, -0.731862324, -0.254307632, 0.986169956, 0, 0, 0,
      2.72944253, -0.314380999, -2.41506153}},
    {"none",
     true,
     {4.30064282, 1.59653793, 0, 5.26122645},
     {0.336765671, 0.862019081, -1.19878475, -0.731862324, -0.254307632, 0.986169956, 0, 0, 0,
      10.9177701, -1.25752399, -9.66024612}},
};

}  // namespace

TEST(CrossEntropy, ReductionsAgreeWithTorch) {
  for (const ReducedGolden& golden : kReduced) {
    AttrTexts attrs = {{"reduction", golden.reduction}};
    std::vector<Given> inputs = {{DType::fp32, {4, 3}, kLogits}, {DType::int64, {4}, {2, 0, 1, 2}}};
    if (golden.is_weighted) {
      attrs.insert({{"ignore_index", "1"}, {"label_smoothing", "0.25"}});
      inputs.push_back({DType::fp32, {3}, {0.5, 2, 1.5}});
    }
    EXPECT_THAT(reference_of_tensors("cross_entropy", inputs, attrs)[0],
                testing::Pointwise(DoubleNear(1e-7), golden.losses));
    const bool is_sum = golden.losses.size() == 1;
    inputs.insert(inputs.begin(),
                  is_sum ? Given{DType::fp32, {}, {2}} : Given{DType::fp32, {4}, {1, 2, 4, 8}});
    EXPECT_THAT(reference_of_tensors("cross_entropy_grad", inputs, attrs)[0],
                testing::Pointwise(DoubleNear(1e-7), golden.gradient));
  }
}

TEST(CrossEntropy, NamesWhatItRefusesOfReductions) {
  const auto making = [](const char* op, const std::vector<Dims>& shapes, const char* reduction) {
    return [=] { problem_with(find_op(op), shapes, {{"reduction", reduction}}, DType::fp32); };
  };
  EXPECT_THAT(making("cross_entropy", {{4, 3}, {4}}, "max"),
              ThrowsMessage<Error>(HasSubstr("it must be mean, sum or none")));
  EXPECT_THAT(making("cross_entropy_grad", {{}, {4, 3}, {4}}, "none"),
              ThrowsMessage<Error>(HasSubstr("'grad_output' has shape scalar; allowed: 4")));
}

}  // namespace opbench
