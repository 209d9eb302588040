#include "ops/clipped_swiglu.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tensor/error.h"
#include "tests/ops/finite_difference.h"
#include "tests/ops/values.h"

namespace opbench {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

Given groups(const std::vector<double>& sizes) {
  return {DType::int64, {static_cast<std::int64_t>(sizes.size())}, sizes};
}

// sigmoid(1) with alpha 1/2.
const double kSigmoid = 1 / (1 + std::exp(-1));
const AttrTexts kClipped = {{"alpha", "0.5"}, {"limit", "2"}, {"bias", "1"}};

AttrTexts by_halves() {
  AttrTexts attrs = kClipped;
  attrs["interleaved"] = "false";
  return attrs;
}

}  // namespace

// a = 9 is clipped to 2, b = -9 to -2.
TEST(ClippedSwiglu, ByHand) {
  const auto y = [](const std::vector<double>& x, const AttrTexts& attrs) {
    return reference_of_tensors("clipped_swiglu", {{kFp32, {1, 4}, x}}, attrs)[0];
  };
  const auto expected = ElementsAre(DoubleNear(2 * kSigmoid * (1 + 1), 1e-14),
                                    DoubleNear(2 * kSigmoid * (1 - 2), 1e-14));
  EXPECT_THAT(y({9, 1, 2, -9}, kClipped), expected);
  EXPECT_THAT(y({9, 2, 1, -9}, by_halves()), expected);
}

// Rows from the sum of the groups on are 0, in the gradient too.
TEST(ClippedSwiglu, RowsBeyondTheGroupsAreZero) {
  const Given x{kFp32, {3, 2}, {2, 0, 2, 0, 2, 0}};
  const auto y = ElementsAre(testing::Gt(1), testing::Gt(1), 0);
  const auto dx = ElementsAre(testing::Gt(0), testing::Gt(0), testing::Gt(0), testing::Gt(0), 0, 0);
  expect_values("clipped_swiglu", {x, groups({1, 0, 1})}, y, kClipped);
  expect_values("clipped_swiglu_grad", {{kFp32, {3, 1}, {1, 1, 1}}, x, groups({2})}, dx, kClipped);
}

TEST(ClippedSwiglu, GradientsAgreeWithFiniteDifferences) {
  for (const AttrTexts& attrs : {kClipped, by_halves()}) {
    expect_gradients({"clipped_swiglu", {spread({2, 6})}, attrs});
  }
}

// Neighbours along the last axis and along others, and halves.
TEST(ClippedSwiglu, VariantsAgreeOnEveryLength) {
  on_every_isa([] {
    for (const std::int64_t pairs : {1, 15, 16, 40, 1100}) {
      for (const char* interleaved : {"true", "false"}) {
        const AttrTexts attrs = {{"interleaved", interleaved}, {"limit", "3"}};
        const Given x = spread({3, 2 * pairs});
        const Values expected = reference_of_tensors("clipped_swiglu", {x}, attrs);
        for (const char* variant : {"native", "clipped_swiglu"}) {
          const Values y = kernel_on_tensors("clipped_swiglu", variant, {x}, attrs, 2);
          for (std::size_t i = 0; i < y[0].size(); ++i) {
            ASSERT_NEAR(y[0][i], expected[0][i], 2e-5) << variant;
          }
        }
      }
    }
  });
}

TEST(ClippedSwiglu, NamesWhatItRefuses) {
  EXPECT_THAT(
      [] {
        reference_of_tensors("clipped_swiglu", {spread({2, 4}), groups({3})});
      },
      ThrowsMessage<Error>(HasSubstr("clipped_swiglu")));
  EXPECT_THAT(
      [] {
        problem_with(find_op("clipped_swiglu"), {{2, 4}}, {{"limit", "-1"}}, kFp32);
      },
      ThrowsMessage<Error>(HasSubstr("it must be 0 or more")));
}

}  // namespace opbench
