#include "ops/adam.h"

#include <gmock/gmock.h>

#include <cmath>
#include <tuple>

#include "tensor/error.h"
#include "tests/on_tensors.h"
#include "tests/support.h"

namespace opbench {

using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

Given number(double value) { return {DType::fp32, {1}, {value}}; }

// Checks p, m and v of the reference, and of the variant with every instruction set.
void expect_update(double p, double g, double m, double v, const std::vector<double>& expected,
                   const AttrTexts& attrs) {
  const std::vector<Given> inputs = {number(p), number(g), number(m), number(v)};
  const auto check = [&](const Values& found) {
    for (std::size_t i = 0; i < 3; ++i) EXPECT_NEAR(found[i][0], expected[i], 1e-6) << i;
  };
  check(reference_of_tensors("adam", inputs, attrs));
  on_every_isa([&] { check(kernel_on_tensors("adam", "native", inputs, attrs)); });
}

const AttrTexts kHalves = {{"lr", "0.5"}, {"beta1", "0.5"}, {"beta2", "0.75"}, {"eps", "0"}};

AttrTexts with(AttrTexts attrs, const AttrTexts& more) {
  attrs.insert(more.begin(), more.end());
  return attrs;
}

}  // namespace

// Step 1 from zeros: m/(1 - b1) is g and v/(1 - b2) is g^2. The step is lr against the sign of g.
TEST(Adam, TheFirstStepIsTheLearningRate) {
  expect_update(1, 4, 0, 0, {0.5, 2, 4}, kHalves);
  expect_update(1, -3, 0, 0, {1.5, -1.5, 2.25}, kHalves);
}

// m = 1 + 2 = 3, v = 3 + 4 = 7; step 2: 3/(3/4) = 4 over sqrt(7/(7/16)) = 4.
TEST(Adam, HandComputed) {
  expect_update(1, 4, 2, 4, {0.5, 3, 7}, with(kHalves, {{"step", "2"}}));
  expect_update(1, 4, 2, 4, {1 - 0.5 * 3 / std::sqrt(7), 3, 7},
                with(kHalves, {{"bias_correction", "false"}}));
}

// Coupled, the gradient is 3 + 0.5*2 = 4; decoupled, p loses lr*wd*p = 0.5 first.
TEST(Adam, WeightDecay) {
  const AttrTexts decay = with(kHalves, {{"weight_decay", "0.5"}});
  expect_update(2, 3, 0, 0, {1.5, 2, 4}, decay);
  expect_update(2, 4, 0, 0, {1, 2, 4}, with(decay, {{"decoupled", "true"}}));
}

// The greatest v so far takes the place of v: 16 of the step before, then 4 of this one.
TEST(Adam, AmsgradKeepsTheGreatestMean) {
  const AttrTexts attrs = with(kHalves, {{"bias_correction", "false"}, {"decoupled", "true"}});
  for (const auto& [before, after, p] :
       {std::tuple{16.0, 16.0, 1 - 0.5 * 2 / 4}, {1.0, 4.0, 1 - 0.5 * 2 / 2}}) {
    const std::vector<Given> inputs = {number(1), number(4), number(0), number(0), number(before)};
    const auto check = [&, after = after, p = p](const Values& found) {
      EXPECT_NEAR(found[0][0], p, 1e-6);
      EXPECT_EQ(found[3][0], after);
    };
    check(reference_of_tensors("adam", inputs, attrs));
    for (const char* variant : {"native", "apply_adam_w_v2"}) {
      on_every_isa([&] { check(kernel_on_tensors("adam", variant, inputs, attrs)); });
    }
  }
}

TEST(Adam, ScalesTurnsAndSkipsTheGradient) {
  expect_update(1, 8, 0, 0, {0.5, 2, 4}, with(kHalves, {{"grad_scale", "2"}}));
  expect_update(1, 4, 0, 0, {1.5, -2, 4}, with(kHalves, {{"maximize", "true"}}));
  expect_update(1, 4, 3, 2, {1, 3, 2}, with(kHalves, {{"found_inf", "true"}}));
}

// Adam's directions are 1 and -1. With a decay of 1/2 they are (3, 4)/2 + (1, -1) = (5/2, 1): the
// norms are 5 and sqrt(29)/2. Without decay the rate is not scaled, unless NVLAMB.
TEST(Adam, LambScalesTheRateByNorms) {
  const std::vector<Given> inputs = {{DType::fp32, {2}, {3, 4}},
                                     {DType::fp32, {2}, {2, -7}},
                                     {DType::fp32, {2}, {0, 0}},
                                     {DType::fp32, {2}, {0, 0}}};
  const double lr = 0.125, scaled = lr * 5 / (std::sqrt(29) / 2), nvlamb = lr * 5 / std::sqrt(2);
  const auto check = [&](const AttrTexts& attrs, double first, double second) {
    const AttrTexts all = with(attrs, {{"lr", "0.125"}, {"eps", "0"}});
    for (const Values& found : {reference_of_tensors("lamb", inputs, all),
                                kernel_on_tensors("lamb", "native", inputs, all)}) {
      EXPECT_NEAR(found[0][0], first, 1e-6);
      EXPECT_NEAR(found[0][1], second, 1e-6);
    }
  };
  check({{"weight_decay", "0.5"}}, 3 - scaled * 2.5, 4 - scaled);
  check({{"weight_decay", "0"}}, 3 - lr, 4 + lr);
  check({{"weight_decay", "0"}, {"use_nvlamb", "true"}}, 3 - nvlamb, 4 + nvlamb);
}

// A tensor without norm keeps the rate.
TEST(Adam, LambOfZeros) {
  const std::vector<Given> inputs = {number(0), number(4), number(0), number(0)};
  for (const Values& found :
       {reference_of_tensors("lamb", inputs), kernel_on_tensors("lamb", "native", inputs)}) {
    EXPECT_NEAR(found[0][0], -1e-3, 1e-8);
  }
}

TEST(Adam, NamesWhatItRefuses) {
  const auto refused = [](const char* name, const char* value, const char* text) {
    EXPECT_THAT(
        [&] {
          attrs_of(find_op("adam"), {{name, value}});
        },
        ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused("beta1", "1", "it must be from 0 to less than 1");
  refused("beta2", "-0.5", "it must be from 0 to less than 1");
  refused("step", "0", "it must be 1 or more");
  refused("eps", "-1", "it must be 0 or more");
  EXPECT_THAT(
      [] {
        problem_with(find_op("adam"), {{2}, {2}, {2}, {3}}, {}, DType::fp32);
      },
      ThrowsMessage<Error>(HasSubstr("adam: inputs 0 and 3 must be alike")));
}

}  // namespace opbench
