#include <gmock/gmock.h>

#include <cmath>

#include "ops/gates.h"
#include "tensor/error.h"
#include "tests/ops/finite_difference.h"
#include "tests/ops/values.h"

namespace opbench {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

// silu(0) = 0, silu(1) = 0.731058578630005.
TEST(SwiGlu, ByHand) {
  const auto y = [](const Dims& shape, const char* dim) {
    return reference_of_tensors("swiglu", {{kFp32, shape, {1, 0, 2, 3}}}, {{"dim", dim}})[0];
  };
  EXPECT_THAT(y({1, 4}, "-1"), ElementsAre(DoubleNear(2 * 0.731058578630005, 1e-14), 0));
  EXPECT_THAT(y({4}, "0"), ElementsAre(DoubleNear(2 * 0.731058578630005, 1e-14), 0));
  EXPECT_THAT(y({2, 2}, "1"), ElementsAre(0, DoubleNear(3 * 2 / (1 + std::exp(-2)), 1e-14)));
}

TEST(SwiGlu, GradientByHand) {
  expect_values("swiglu_grad", {{kFp32, {1, 1}, {4}}, {kFp32, {1, 2}, {0, 3}}},
                std::vector<double>{6, 0});
}

TEST(SwiGlu, GradientsAgreeWithFiniteDifferences) {
  expect_gradients({"swiglu", {spread({2, 6})}});
  expect_gradients({"swiglu", {spread({2, 4, 3})}, {{"dim", "1"}}});
}

// Lengths around vectors, along every axis, in one and several rows.
TEST(SwiGlu, VariantsAgreeOnEveryLength) {
  on_every_isa([] {
    for (const std::int64_t half : {1, 7, 16, 33, 130}) {
      const Given x = spread({3, 2 * half, 2});
      for (const char* dim : {"1", "2"}) {
        const Values expected = reference_of_tensors("swiglu", {x}, {{"dim", dim}});
        for (const char* variant : {"native", "swiglu"}) {
          const Values y = kernel_on_tensors("swiglu", variant, {x}, {{"dim", dim}}, 2);
          for (std::size_t i = 0; i < y[0].size(); ++i) {
            ASSERT_NEAR(y[0][i], expected[0][i], 1e-5) << variant;
          }
        }
      }
    }
  });
}

TEST(SwiGlu, NamesWhatItRefuses) {
  EXPECT_THAT(
      [] {
        problem_with(find_op("swiglu"), {{2, 3}}, {}, kFp32);
      },
      ThrowsMessage<Error>(HasSubstr("'self' has shape 2x3, and extent 3 along axis 1; "
                                     "allowed: even extents")));
  EXPECT_THAT(
      [] {
        problem_with(find_op("swiglu_grad"), {{2, 4}, {2, 4}}, {}, kFp32);
      },
      ThrowsMessage<Error>(HasSubstr("allowed: 2x2, half of 'self'")));
}

TEST(SwiGlu, ProfilesShowTheAxis) {
  EXPECT_EQ(likely_gate_dim({4, 8}, {4, 4}).at(0).at("dim"), std::vector<double>{1});
  EXPECT_TRUE(likely_gate_dim({4, 8}, {4, 8}).empty());
}

}  // namespace opbench
