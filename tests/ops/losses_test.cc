#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "tensor/error.h"
#include "tests/ops/finite_difference.h"
#include "tests/ops/values.h"
#include "tests/support.h"

namespace opbench {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsNan;
using testing::Pointwise;
using testing::ThrowsMessage;

namespace {

const Given kInput{DType::fp32, {2, 2}, {1, -2, 0.5, 4}};
const Given kTarget{DType::fp32, {2, 2}, {3, -2, 0, 1}};  // errors -2, 0, 0.5, 3

void expect_losses(std::string_view op, const std::vector<double>& each, double sum,
                   AttrTexts attrs = {}) {
  expect_values(op, {kInput, kTarget}, {sum / 4}, attrs);
  attrs["reduction"] = "sum";
  expect_values(op, {kInput, kTarget}, {sum}, attrs);
  attrs["reduction"] = "none";
  expect_values(op, {kInput, kTarget}, each, attrs);
}

// dy is 4 for the mean and the sum, and 1, 2, 4, 8 for separate losses.
void expect_slopes(std::string_view op, const std::vector<double>& slopes, AttrTexts attrs = {}) {
  std::vector<double> summed, each;
  for (std::size_t i = 0; i < slopes.size(); ++i) {
    summed.push_back(4 * slopes[i]);
    each.push_back(double(1 << i) * slopes[i]);
  }
  const Given dy{DType::fp32, {}, {4}};
  expect_values(op, {dy, kInput, kTarget}, slopes, attrs);
  attrs["reduction"] = "sum";
  expect_values(op, {dy, kInput, kTarget}, summed, attrs);
  attrs["reduction"] = "none";
  expect_values(op, {{DType::fp32, {2, 2}, {1, 2, 4, 8}}, kInput, kTarget}, each, attrs);
}

}  // namespace

TEST(Losses, HandComputed) {
  expect_losses("mse_loss", {4, 0, 0.25, 9}, 13.25);
  expect_losses("l1_loss", {2, 0, 0.5, 3}, 5.5);
  expect_losses("smooth_l1_loss", {1.5, 0, 0.125, 2.5}, 4.125);
  expect_losses("smooth_l1_loss", {1, 0, 0.0625, 2}, 3.0625, {{"beta", "2"}});
  expect_losses("smooth_l1_loss", {2, 0, 0.5, 3}, 5.5, {{"beta", "0"}});
}

TEST(Losses, GradientsHandComputed) {
  expect_slopes("mse_loss_grad", {-4, 0, 1, 6});
  expect_slopes("l1_loss_grad", {-1, 0, 1, 1});
  expect_slopes("smooth_l1_loss_grad", {-1, 0, 0.5, 1});
  expect_slopes("smooth_l1_loss_grad", {-1, 0, 0.25, 1}, {{"beta", "2"}});
  expect_slopes("smooth_l1_loss_grad", {-1, 0, 1, 1}, {{"beta", "0"}});
}

// At a logit of 0 the share is 1/2, so the loss is ln 2 for every target. For large |x| the loss is
// |x| or 0.
TEST(Losses, OfLogits) {
  const std::vector<Given> inputs = {{DType::fp32, {5}, {0, 0, 100, -100, -100}},
                                     {DType::fp32, {5}, {0, 1, 0, 0, 0.25}}};
  const std::vector<double> expected = {std::log(2.0), std::log(2.0), 100, std::exp(-100), 25};
  const AttrTexts each = {{"reduction", "none"}};
  EXPECT_THAT(reference_of_tensors("bce_with_logits", inputs, each)[0],
              Pointwise(testing::DoubleEq(), expected));
  on_every_isa([&] {
    EXPECT_THAT(kernel_on_tensors("bce_with_logits", "native", inputs, each)[0],
                Pointwise(DoubleNear(1e-6), expected));
  });
  expect_values(
      "bce_with_logits_grad",
      {{DType::fp32, {2}, {4, 4}}, {DType::fp32, {2}, {0, 0}}, {DType::fp32, {2}, {0, 1}}}, {2, -2},
      each);
}

// Source: torch 1.13. sign(NaN) is 0, and an infinite logit is lost unless its target is 1.
TEST(Losses, OfNoNumbers) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  const AttrTexts each = {{"reduction", "none"}};
  const Given dy{DType::fp32, {2}, {1, 1}}, x{DType::fp32, {2}, {nan, inf}},
      target{DType::fp32, {2}, {0, 0}};
  for (const bool is_native : {false, true}) {
    const auto of = [&](const char* op, const std::vector<Given>& inputs) {
      return is_native ? kernel_on_tensors(op, "native", inputs, each)[0]
                       : reference_of_tensors(op, inputs, each)[0];
    };
    EXPECT_THAT(of("mse_loss", {x, target}), ElementsAre(IsNan(), inf));
    EXPECT_THAT(of("l1_loss_grad", {dy, x, target}), ElementsAre(0, 1));
    EXPECT_THAT(of("smooth_l1_loss_grad", {dy, x, target}), ElementsAre(IsNan(), 1));
    EXPECT_THAT(of("bce_with_logits", {x, target}), ElementsAre(IsNan(), inf));
  }
}

// Lengths are around vectors, pieces and slabs. All losses are 1, so the sum is the length.
TEST(Losses, EveryLength) {
  for (const std::int64_t count : {1, 15, 17, 1023, 1025, 16384, 16385, 40000}) {
    const auto n = static_cast<std::size_t>(count);
    const std::vector<Given> inputs = {{DType::fp16, {count}, std::vector<double>(n, 3)},
                                       {DType::fp16, {count}, std::vector<double>(n, 2)}};
    EXPECT_EQ(kernel_on_tensors("l1_loss", "native", inputs)[0][0], 1) << count;
  }
}

TEST(Losses, GradientsAgreeWithFiniteDifferences) {
  for (const char* reduction : {"mean", "sum", "none"}) {
    const AttrTexts attrs = {{"reduction", reduction}};
    for (const char* op : {"mse_loss", "l1_loss", "smooth_l1_loss", "bce_with_logits"}) {
      expect_gradients({op, {spread({2, 3}), spread({2, 3}, 1)}, attrs});
    }
  }
}

TEST(Losses, NameWhatTheyRefuse) {
  const auto refused = [](const char* op, const std::vector<Dims>& shapes, const AttrTexts& attrs,
                          const char* text) {
    EXPECT_THAT([&] { problem_with(find_op(op), shapes, attrs, DType::fp32); },
                ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused("mse_loss", {{2, 3}, {3}}, {}, "mse_loss: inputs 0 and 1 must be alike");
  refused("mse_loss_grad", {{2}, {2}, {2}}, {}, "'grad_output' has shape 2; allowed: a scalar");
  refused("mse_loss_grad", {{}, {2}, {2}}, {{"reduction", "none"}}, "allowed: 2");
  refused("l1_loss", {{2}, {2}}, {{"reduction", "median"}}, "it must be mean, sum or none");
  refused("smooth_l1_loss", {{2}, {2}}, {{"beta", "-1"}}, "it must be 0 or more");
}

}  // namespace opbench
