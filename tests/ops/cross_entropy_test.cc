#include <gmock/gmock.h>

#include <cmath>

#include "tensor/error.h"
#include "tests/ops/finite_difference.h"

namespace opbench {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// Two equal logits: ln 2, whichever is meant; four of them: ln 4.
TEST(CrossEntropy, HandComputed) {
  for (const DType index : {DType::int64, DType::int32}) {
    EXPECT_THAT(reference_of_tensors("cross_entropy", {{DType::fp32, {2, 2}, {0, 0, 5, 5}},
                                                       {index, {2}, {0, 1}}})[0],
                ElementsAre(DoubleNear(std::log(2.0), 1e-15)));
  }
  // Rows of losses 0 - exactly, exp(-1000) is nothing - and 1000.
  EXPECT_THAT(reference_of_tensors("cross_entropy", {{DType::fp32, {2, 2}, {1000, 0, 1000, 0}},
                                                     {DType::int64, {2}, {0, 1}}})[0],
              ElementsAre(500));
}

// Shares of 1/2: (1/2 - 1)/2 at the target, 1/2/2 beside it.
TEST(CrossEntropyGrad, HandComputed) {
  EXPECT_THAT(reference_of_tensors("cross_entropy_grad", {{DType::fp32, {}, {4}},
                                                          {DType::fp32, {2, 2}, {3, 3, 7, 7}},
                                                          {DType::int64, {2}, {0, 1}}})[0],
              ElementsAre(DoubleNear(-1, 1e-12), DoubleNear(1, 1e-12), DoubleNear(1, 1e-12),
                          DoubleNear(-1, 1e-12)));
}

TEST(CrossEntropy, GradientsAgreeWithFiniteDifferences) {
  expect_gradients({"cross_entropy", {spread({4, 5}), {DType::int64, {4}, {0, 4, 2, 2}}}});
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

TEST(CrossEntropy, NamesWhatItRefuses) {
  EXPECT_THAT(
      [] {
        reference_of_tensors("cross_entropy",
                             {{DType::fp32, {1, 3}, {1, 2, 3}}, {DType::int64, {1}, {3}}});
      },
      ThrowsMessage<Error>(HasSubstr("cross_entropy: target[0] is 3; allowed: 0 to 2")));
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
}

}  // namespace opbench
