#include <gmock/gmock.h>

#include <cmath>

#include "tensor/error.h"
#include "tests/ops/finite_difference.h"

namespace opbench {

using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

const Given kFirst{DType::fp32, {2, 3}, {1, 2, 3, 4, 5, 6}};
const Given kSecond{DType::fp32, {3, 2}, {1, 0, 0, 1, 1, 1}};

void expect_addmm(const std::vector<Given>& inputs, const std::vector<double>& expected,
                  const AttrTexts& attrs = {}) {
  EXPECT_EQ(reference_of_tensors("addmm", inputs, attrs)[0], expected);
  for (const char* variant : {"native", "mat_mul_v2"}) {
    EXPECT_EQ(kernel_on_tensors("addmm", variant, inputs, attrs)[0], expected) << variant;
  }
}

}  // namespace

// The product is 4, 5, 10, 11.
TEST(Addmm, HandComputed) {
  expect_addmm({{DType::fp32, {2, 2}, {10, 20, 30, 40}}, kFirst, kSecond}, {14, 25, 40, 51});
  expect_addmm({{DType::fp32, {2}, {10, 20}}, kFirst, kSecond}, {14, 25, 20, 31});
  expect_addmm({{DType::fp32, {2, 1}, {10, 20}}, kFirst, kSecond}, {14, 15, 30, 31});
  expect_addmm({{DType::fp32, {}, {10}}, kFirst, kSecond}, {1, 0, -5, -6},
               {{"beta", "0.5"}, {"alpha", "-1"}});
}

// Source: torch.addmm: "If beta is 0, then input will be ignored, and nan and inf in it will not be
// propagated".
TEST(Addmm, WithoutABetaSelfIsNotLookedAt) {
  expect_addmm({{DType::fp32, {2}, {std::nan(""), 1}}, kFirst, kSecond}, {4, 5, 10, 11},
               {{"beta", "0"}});
}

// Source: torch.baddbmm.
TEST(Addmm, TakesBatches) {
  expect_addmm({{DType::fp32, {2, 1, 2}, {1, 2, 3, 4}},
                {DType::fp32, {2, 1, 1}, {2, 3}},
                {DType::fp32, {2, 1, 2}, {1, 10, 1, 10}}},
               {3, 22, 6, 34});
}

TEST(Addmm, GradientsAgreeWithFiniteDifferences) {
  expect_gradients(
      {"addmm", {spread({2}), spread({3, 4}, 1), spread({4, 2}, 2)}, {{"beta", "0.5"}}});
  expect_gradients({"addmm", {spread({2, 3, 2}), spread({2, 3, 4}, 1), spread({2, 4, 2}, 2)}});
}

TEST(Addmm, NamesWhatItRefuses) {
  const auto refused = [](const std::vector<Dims>& shapes, const char* text) {
    EXPECT_THAT([&] { problem_with(find_op("addmm"), shapes, {}, DType::fp32); },
                ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused({{3}, {2, 3}, {3, 2}},
          "addmm: 'self' has shape 3; allowed: 2x2 or a shape that broadcasts");
  refused({{1, 2, 2}, {2, 3}, {3, 2}}, "'self' has shape 1x2x2");
  refused({{2}, {2, 3}, {2, 2}}, "addmm: 2x3 times 2x2 needs as many columns");
  const Problem problem =
      problem_with(find_op("addmm"), {{2}, {2, 3}, {3, 2}}, {{"alpha", "2"}}, DType::fp32);
  EXPECT_THAT([&] { problem.op->gradient(problem); },
              ThrowsMessage<Error>(HasSubstr("addmm: no gradient for alpha 2; allowed: 1")));
}

}  // namespace opbench
