#include <gmock/gmock.h>

#include "ops/upsample.h"
#include "tests/ops/finite_difference.h"
#include "tests/ops/values.h"

namespace opbench {

using testing::ElementsAre;

// Twice as wide, the places are -1/4, 1/4, 3/4, 5/4; those outside are cut to the first and last.
TEST(UpsampleBilinear2d, HandComputed) {
  for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
    const Given x{dtype, {1, 1, 1, 2}, {0, 4}};
    expect_values("upsample_bilinear2d", {x}, {0, 1, 3, 4}, {{"output_size", "[1,4]"}});
    expect_values("upsample_bilinear2d", {x}, {0, 2, 4},
                  {{"output_size", "[1,3]"}, {"align_corners", "true"}});
    expect_values("upsample_bilinear2d", {x}, {2}, {{"output_size", "[1,1]"}});
    expect_values("upsample_bilinear2d", {x}, {0},
                  {{"output_size", "[1,1]"}, {"align_corners", "true"}});
  }
  // Rows 1/4 and 3/4 of 0 4 / 8 12.
  expect_values("upsample_bilinear2d", {{DType::fp32, {1, 1, 2, 2}, {0, 4, 8, 12}}},
                {0, 4, 2, 6, 6, 10, 8, 12}, {{"output_size", "[4,2]"}});
  // A given scale moves the places: (i + 1/2)/4 - 1/2 is -3/8, -1/8, 1/8.
  expect_values("upsample_bilinear2d", {{DType::fp32, {1, 1, 1, 2}, {0, 8}}}, {0, 0, 1},
                {{"output_size", "[1,3]"}, {"scale_w", "4"}});
  expect_values("upsample_bilinear2d_grad", {{DType::fp32, {1, 1, 1, 4}, {4, 8, 16, 32}}}, {14, 46},
                {{"input_size", "[1,2]"}});
}

TEST(UpsampleBilinear2d, GradientsAgreeWithFiniteDifferences) {
  expect_gradients({"upsample_bilinear2d", {spread({1, 2, 2, 3})}, {{"output_size", "[3,7]"}}});
  expect_gradients({"upsample_bilinear2d",
                    {spread({1, 1, 4, 4})},
                    {{"output_size", "[2,3]"}, {"align_corners", "true"}}});
}

// Positions near 300 have errors of 2^-16 in fp32. They change the result by the slope of y: a
// constant plane has no error from them.
TEST(UpsampleBilinear2d, TermsHoldTheErrorOfThePosition) {
  const Op& op = find_op("upsample_bilinear2d");
  const auto terms = [&](std::vector<float> values) {
    const Dims shape = {1, 1, 1, std::ssize(values)};
    const AttrTexts attrs = {{"output_size", "[1,700]"}};
    const Problem problem = problem_with(op, {shape}, attrs, DType::fp32);
    const InputReader reader(problem.inputs[0], values.data());
    std::vector<double> found(1);
    op.terms(std::span(&reader, 1), problem.attrs).magnitude(0, {650, 1}, found);
    return found[0];
  };
  std::vector<float> slope;
  for (int i = 0; i < 300; ++i) slope.push_back(float(i));
  EXPECT_EQ(terms(std::vector<float>(300, 7)), 7);
  EXPECT_NEAR(terms(slope), 650.5 * 3 / 7 * 2 - 0.5, 1e-9);
}

// The places of 2^31 rows would fill the memory.
TEST(UpsampleBilinear2d, AnEmptyResultMayBeLong) {
  for (const char* op : {"upsample_bilinear2d", "upsample_nearest2d"}) {
    EXPECT_THAT(agreed_values(op, {{DType::fp32, {0, 1, 1, 1}, {}}},
                              {{"output_size", "[2147483647,2147483647]"}}),
                testing::IsEmpty());
  }
}

}  // namespace opbench
