#include "ops/rmsprop.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tensor/error.h"
#include "tests/on_tensors.h"
#include "tests/ops/every_variant.h"
#include "tests/support.h"

namespace opbench {

using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

Given state(double value) { return {DType::fp32, {1}, {value}}; }
const Given kNoState{DType::fp32, {0}, {}};

// Checks the outputs of the reference, and of a variant with every instruction set.
void expect_rmsprop(const std::vector<Given>& inputs, const Values& expected,
                    const AttrTexts& attrs, const char* variant = "native") {
  const auto check = [&](const Values& found) {
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < expected.size(); ++i) {
      ASSERT_EQ(found[i].size(), expected[i].size()) << i;
      for (std::size_t k = 0; k < expected[i].size(); ++k) {
        EXPECT_NEAR(found[i][k], expected[i][k], 1e-6) << i;
      }
    }
  };
  check(reference_of_tensors("rmsprop", inputs, attrs));
  on_every_isa([&] { check(kernel_on_tensors("rmsprop", variant, inputs, attrs)); });
}

AttrTexts rmsprop_attrs(const AttrTexts& more) {
  AttrTexts attrs = {{"lr", "0.5"}, {"alpha", "0.75"}, {"eps", "1"}};
  attrs.insert(more.begin(), more.end());
  return attrs;
}

}  // namespace

// v = 0.75*20 + 0.25*4 = 16; the step is 2/(4 + 1), or 2/sqrt(16 + 1).
TEST(Rmsprop, HandComputed) {
  const std::vector<Given> inputs = {state(3), state(2), state(20)};
  expect_rmsprop(inputs, {{2.8}, {16}}, rmsprop_attrs({}));
  expect_rmsprop(inputs, {{3.2}, {16}}, rmsprop_attrs({{"maximize", "true"}}));
  expect_rmsprop(inputs, {{3 - 1 / std::sqrt(17)}, {16}}, rmsprop_attrs({{"tensorflow", "true"}}));
}

// The gradient is 1 + 0.25*4 = 2.
TEST(Rmsprop, WeightDecayIsAddedToTheGradient) {
  expect_rmsprop({state(4), state(1), state(20)}, {{3.8}, {16}},
                 rmsprop_attrs({{"weight_decay", "0.25"}}));
}

// b = 0.5*3 + 2/5 = 1.9, of which p loses the half.
TEST(Rmsprop, MomentumPrecedesTheRate) {
  expect_rmsprop({state(3), state(2), state(20), state(3)}, {{2.05}, {16}, {1.9}},
                 rmsprop_attrs({{"momentum", "0.5"}}));
}

// m = 0.75*6 - 0.25*2 = 4, v = 0.75*32 + 0.25*4 = 25: the root is 3, the step -2/(3 + 1).
TEST(Rmsprop, CenteredTakesTheMeanAway) {
  expect_rmsprop({state(3), state(-2), state(32), kNoState, state(6)}, {{3.25}, {25}, {}, {4}},
                 rmsprop_attrs({}));
  expect_rmsprop({state(3), state(-2), state(32), state(4), state(6)}, {{2.25}, {25}, {1.5}, {4}},
                 rmsprop_attrs({{"momentum", "0.5"}}));
}

// b = 0.5*3 + 0.5*2/sqrt(16 + 1), which p loses.
TEST(Rmsprop, TensorflowsFormHasTheRateInTheMomentum) {
  const AttrTexts attrs = {{"momentum", "0.5"}, {"tensorflow", "true"}};
  const double b = 1.5 + 1 / std::sqrt(17);
  for (const char* variant : {"native", "apply_rms_prop"}) {
    expect_rmsprop({state(3), state(2), state(20), state(3)}, {{3 - b}, {16}, {b}},
                   rmsprop_attrs(attrs), variant);
  }
  const auto refused = [](std::size_t inputs, const AttrTexts& given) {
    const Problem problem =
        problem_with(find_op("rmsprop"), std::vector<Dims>(inputs, Dims{4}), given, DType::fp32);
    return refusal(find_kernel("rmsprop", "apply_rms_prop"), problem);
  };
  EXPECT_EQ(refused(4, {}), "it is the form of TensorFlow");
  EXPECT_EQ(refused(3, {{"tensorflow", "true"}}), "it has a momentum_buffer");
  EXPECT_EQ(refused(5, attrs), "");
}

TEST(Rmsprop, VariantsConformWithEveryState) {
  const Dims shape = {2100};
  expect_every_variant("rmsprop", {shape, shape, shape}, {}, Refusals::allowed);
  expect_every_variant("rmsprop", {shape, shape, shape, shape},
                       {{"momentum", "0.9"}, {"tensorflow", "true"}}, Refusals::allowed);
  expect_every_variant("rmsprop", {shape, shape, shape, {0}, shape}, {{"weight_decay", "0.01"}},
                       Refusals::allowed);
}

TEST(Rmsprop, NamesWhatItRefuses) {
  const auto refused = [](const std::vector<Dims>& shapes, const AttrTexts& attrs,
                          const char* text) {
    EXPECT_THAT([&] { problem_with(find_op("rmsprop"), shapes, attrs, DType::fp32); },
                ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused({{2}, {2}, {2}}, {{"momentum", "0.9"}},
          "rmsprop: momentum is 0.9 without 'momentum_buffer'");
  refused({{2}, {2}, {2}, {0}, {3}}, {}, "rmsprop: inputs 0 and 4 must be alike");
  refused({{2}, {2}, {2}}, {{"alpha", "1.5"}}, "it must be from 0 to 1");
}

}  // namespace opbench
