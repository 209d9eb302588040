#include <gmock/gmock.h>

#include <cmath>

#include "tests/ops/finite_difference.h"
#include "tests/support.h"

namespace opbench {

using testing::ElementsAre;

namespace {

const char* const kVariants[] = {"native", "add_rms_norm", "add_rms_norm_950"};

}  // namespace

TEST(AddRmsNorm, HandComputed) {
  const std::vector<Given> inputs = {{DType::fp16, {2, 2}, {1, -3, 1, 2}},
                                     {DType::fp16, {2, 2}, {1, 1, -1, -2}},
                                     {DType::fp16, {2}, {2, 4}}};
  const AttrTexts attrs = {{"epsilon", "0.25"}};
  const double rstd = 1 / std::sqrt(4.25);
  const Values exact = reference_of_tensors("add_rms_norm", inputs, attrs);
  EXPECT_THAT(exact[0], ElementsAre(4 * rstd, -8 * rstd, 0, 0));
  EXPECT_THAT(exact[1], ElementsAre(rstd, 2));
  EXPECT_THAT(exact[2], ElementsAre(2, -2, 0, 0));
  for (const char* variant : kVariants) {
    const Values found = kernel_on_tensors("add_rms_norm", variant, inputs, attrs);
    EXPECT_EQ(found[2], exact[2]) << variant;
    EXPECT_NEAR(found[0][0], exact[0][0], 0x1p-9) << variant;
  }
}

// 1 + 2^-8 is a tie in bf16, which rounds to 1; the mean square of Ascend 910B is that of the
// rounded sum.
TEST(AddRmsNorm, ChipsRoundTheSumDifferently) {
  const std::vector<Given> inputs = {
      {DType::bf16, {1, 1}, {1}}, {DType::bf16, {1, 1}, {0x1p-8}}, {DType::bf16, {1}, {1}}};
  const auto rstd = [&](const char* variant) {
    return kernel_on_tensors("add_rms_norm", variant, inputs, {{"epsilon", "0"}})[1][0];
  };
  EXPECT_EQ(rstd("add_rms_norm"), 1);
  EXPECT_EQ(rstd("native"), 1);
  EXPECT_NEAR(rstd("add_rms_norm_950"), 1 / (1 + 0x1p-8), 1e-7);
}

TEST(AddRmsNorm, GradientsAgreeWithFiniteDifferences) {
  expect_gradients({"add_rms_norm", {spread({3, 5}), spread({3, 5}, 1), spread({5}, 2)}});
}

}  // namespace opbench
