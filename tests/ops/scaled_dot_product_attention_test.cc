#include <gmock/gmock.h>

#include <cmath>

#include "tensor/error.h"
#include "tests/conforms.h"
#include "tests/ops/finite_difference.h"
#include "tests/ops/values.h"

namespace opbench {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

constexpr std::string_view kName = "scaled_dot_product_attention";

Given fp32(const Dims& shape, std::vector<double> values) {
  return {kFp32, shape, std::move(values)};
}

}  // namespace

// Scores are 0: equal shares of the visible keys. The last query has none.
TEST(ScaledDotProductAttention, MaskShowsPairs) {
  const std::vector<Given> given = {fp32({1, 1, 3, 1}, {0, 0, 0}), fp32({1, 1, 2, 1}, {1, 2}),
                                    fp32({1, 1, 2, 1}, {2, 6}), mask({3, 2}, {1, 1, 0, 1, 0, 0})};
  for (const Values& y :
       {reference_of_tensors(kName, given), kernel_on_tensors(kName, "native", given),
        kernel_on_tensors(kName, "flash_attention_score", given)}) {
    EXPECT_THAT(y[0], ElementsAre(4, 6, 0));
    EXPECT_THAT(y[1], ElementsAre(DoubleNear(std::log(2), 1e-6), 0, HUGE_VAL));
  }
}

// Numbers are added after the scale: log 3 makes shares of 3/4 and 1/4.
TEST(ScaledDotProductAttention, NumbersAreAdded) {
  const std::vector<Given> given = {fp32({1, 1, 1, 1}, {0}), fp32({1, 1, 2, 1}, {1, 1}),
                                    fp32({1, 1, 2, 1}, {4, 8}), fp32({1, 2}, {std::log(3), 0})};
  EXPECT_THAT(reference_of_tensors(kName, given, {{"scale", "5"}})[0],
              ElementsAre(DoubleNear(5, 1e-6)));
}

TEST(ScaledDotProductAttention, CausalFromTheLeft) {
  const std::vector<Given> given = {fp32({1, 1, 2, 1}, {0, 0}), fp32({1, 1, 3, 1}, {1, 1, 1}),
                                    fp32({1, 1, 3, 1}, {2, 4, 9})};
  EXPECT_THAT(agreed_values(kName, given, {{"is_causal", "true"}}), ElementsAre(2, 3));
}

TEST(ScaledDotProductAttention, Conforms) {
  for (const DType dtype : {DType::fp32, DType::bf16}) {
    for (const Dims& of_mask : {Dims{2, 1, 70, 200}, Dims{70, 200}, Dims{2, 1, 1, 200}}) {
      const std::vector<Dims> shapes = {{2, 4, 70, 16}, {2, 2, 200, 16}, {2, 2, 200, 8}, of_mask};
      const Problem problem = problem_with(find_op(kName), shapes, {}, dtype);
      const Dims &out = problem.outputs[0].shape, &rows = problem.outputs[1].shape;
      const Problem of_grad =
          problem_with(find_op("scaled_dot_product_attention_grad"),
                       {shapes[0], shapes[1], shapes[2], out, rows, out, of_mask}, {}, dtype);
      for (const Problem& one : {problem, of_grad}) {
        for (const Kernel* kernel : kernels_of(one.op->name)) {
          EXPECT_TRUE(expect_conforms(*kernel, one, 2));
        }
      }
    }
  }
}

TEST(ScaledDotProductAttention, Gradients) {
  expect_gradients({std::string(kName),
                    {spread({1, 2, 3, 2}), spread({1, 1, 4, 2}, 1), spread({1, 1, 4, 2}, 2),
                     mask({3, 4}, {1, 0, 1, 1, 0, 0, 0, 1, 1, 1, 1, 1})},
                    {{"scale", "0.25"}}});
}

// Some devices store -Inf for a row without keys, some +Inf.
TEST(ScaledDotProductAttention, HiddenRowsHaveNoGradient) {
  const Given x{kFp32, {1, 1, 1, 1}, {2}}, hidden{DType::boolean, {1, 1}, {0}};
  for (const double lse : {-HUGE_VAL, HUGE_VAL}) {
    EXPECT_THAT(agreed_values("scaled_dot_product_attention_grad",
                              {x, x, x, x, {kFp32, {1, 1, 1}, {lse}}, x, hidden}),
                testing::ElementsAre(0));
  }
}

TEST(ScaledDotProductAttention, Refusals) {
  EXPECT_THAT(
      [] {
        problem_with(find_op(kName), {{1, 2, 3, 4}, {1, 2, 5, 4}, {1, 2, 5, 4}, {5, 3}}, {}, kFp32);
      },
      ThrowsMessage<Error>(HasSubstr("'attn_mask' has shape 5x3; allowed: [1 or 1, 2 or 1, 3")));
}

}  // namespace opbench
