#include "ops/lrn.h"

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

void expect_responses(const std::vector<double>& found, const std::vector<double>& expected) {
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5) << i;
}

Given one_place(const std::vector<double>& values) {
  return {DType::fp32, {1, std::ssize(values), 1, 1}, values};
}

}  // namespace

// Windows of 3 channels, alpha 3: s = 1 + x^2 + that of both neighbours, which is 6, 15 and 14.
TEST(Lrn, HandComputed) {
  const AttrTexts attrs = {{"size", "3"}, {"alpha", "3"}, {"beta", "0.5"}};
  const std::vector<Given> x = {one_place({1, 2, 3})};
  const std::vector<double> y = {1 / std::sqrt(6), 2 / std::sqrt(15), 3 / std::sqrt(14)};
  expect_responses(reference_of_tensors("lrn", x, attrs)[0], y);
  for (const char* variant : {"native", "lrn"}) {
    on_every_isa([&] { expect_responses(kernel_on_tensors("lrn", variant, x, attrs)[0], y); });
  }
}

// An even window has size/2 channels before its own: s = 1 + x^2 + that of the channel before.
TEST(Lrn, EvenWindowsBeginEarlier) {
  const AttrTexts attrs = {{"size", "2"}, {"alpha", "2"}, {"beta", "1"}};
  const std::vector<Given> x = {one_place({1, 2, 3})};
  const std::vector<double> y = {1.0 / 2, 2.0 / 6, 3.0 / 14};
  expect_responses(reference_of_tensors("lrn", x, attrs)[0], y);
  expect_responses(kernel_on_tensors("lrn", "native", x, attrs)[0], y);
}

// With beta 1 and s = (6, 15, 14): dx = dy/s - 2x * the sum of dy*y/s around it.
TEST(Lrn, GradientByHand) {
  const AttrTexts attrs = {{"size", "3"}, {"alpha", "3"}, {"beta", "1"}};
  const std::vector<Given> inputs = {one_place({6, 15, 0}), one_place({1, 2, 3}),
                                     one_place({0.5, 1, 2})};
  const std::vector<double> dx = {1 - 2 * 1.5, 1 - 4 * 1.5, 0 - 6 * 1.0};
  expect_responses(reference_of_tensors("lrn_grad", inputs, attrs)[0], dx);
  for (const char* variant : {"native", "lrn_grad"}) {
    on_every_isa(
        [&] { expect_responses(kernel_on_tensors("lrn_grad", variant, inputs, attrs)[0], dx); });
  }
}

// Blocks of places with a rest, windows longer than the channels, three axes and five.
TEST(Lrn, VariantsConformWithEveryWindow) {
  const AttrTexts strong = {{"alpha", "2"}, {"k", "0.5"}, {"beta", "0.6"}};
  for (const char* size : {"1", "4", "5", "17"}) {
    AttrTexts attrs = strong;
    attrs["size"] = size;
    for (const Dims& shape : {Dims{2, 7, 17, 16}, {2, 3, 5}, {1, 6, 2, 3, 2}}) {
      expect_every_variant("lrn", {shape}, attrs, Refusals::allowed);
      expect_every_variant("lrn_grad", {shape, shape, shape}, attrs, Refusals::allowed);
    }
  }
}

TEST(Lrn, NamesWhatItRefuses) {
  const auto refused = [](const Dims& shape, const AttrTexts& attrs, const char* text) {
    EXPECT_THAT([&] { problem_with(find_op("lrn"), {shape}, attrs, DType::fp32); },
                ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused({2, 3}, {}, "lrn: 'self' has shape 2x3; allowed: [N, C, ...] with three axes or more");
  refused({2, 3, 4}, {{"size", "0"}}, "it must be 1 or more");
  const Problem even = problem_with(find_op("lrn"), {{1, 4, 2, 2}}, {{"size", "2"}}, DType::fp32);
  EXPECT_EQ(refusal(find_kernel("lrn", "lrn"), even), "its window is 2 depth_radius + 1");
}

}  // namespace opbench
