#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/ops/finite_difference.h"
#include "tests/ops/values.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsNan;
using testing::ThrowsMessage;

namespace {

const Given kRows{DType::fp32, {3, 2}, {-1, -2, -3, -4, -5, -6}};
const Given kClasses{DType::int64, {3}, {1, 0, 1}};
const Given kClassWeight{DType::fp32, {2}, {1, 3}};

}  // namespace

// -x[n, target[n]] is 2, 3, 6. With weights 3, 1, 3 the losses are 6, 3, 18.
TEST(NllLoss, HandComputed) {
  expect_values("nll_loss", {kRows, kClasses}, {2, 3, 6}, {{"reduction", "none"}});
  expect_values("nll_loss", {kRows, kClasses}, {11}, {{"reduction", "sum"}});
  expect_values("nll_loss", {kRows, kClasses, kClassWeight}, {6, 3, 18}, {{"reduction", "none"}});
  expect_values("nll_loss", {{DType::fp32, {1, 2}, {-7, 0}}, {DType::int32, {1}, {0}}}, {7});
  // One row is left. Its mean is 3 for every weight.
  expect_values("nll_loss", {kRows, kClasses, kClassWeight}, {3}, {{"ignore_index", "1"}});
}

// Two classes of 1 x 3 places: 1 of the second class, 2 and 6 of the first.
TEST(NllLoss, OfThePlacesOfAnImage) {
  const Given x{DType::fp32, {1, 2, 1, 3}, {-9, -2, -6, -1, -9, -9}};
  const Given target{DType::int64, {1, 1, 3}, {1, 0, 0}}, dy{DType::fp32, {}, {6}};
  expect_values("nll_loss", {x, target}, {3});
  expect_values("nll_loss", {x, target}, {1, 2, 6}, {{"reduction", "none"}});
  expect_values("nll_loss_grad", {dy, x, target}, {0, -2, -2, -2, 0, 0});
}

TEST(NllLossGrad, HandComputed) {
  const Given dy{DType::fp32, {}, {14}};
  expect_values("nll_loss_grad", {dy, kRows, kClasses, kClassWeight}, {0, -6, -2, 0, 0, -6});
  expect_values("nll_loss_grad", {dy, kRows, kClasses}, {0, -14, -14, 0, 0, -14},
                {{"reduction", "sum"}});
  expect_values("nll_loss_grad", {dy, kRows, kClasses}, {0, 0, -14, 0, 0, 0},
                {{"ignore_index", "1"}});
  expect_values("nll_loss_grad", {{DType::fp32, {3}, {1, 2, 4}}, kRows, kClasses},
                {0, -1, -2, 0, 0, -4}, {{"reduction", "none"}});
}

TEST(NllLoss, GradientsAgreeWithFiniteDifferences) {
  expect_gradients({"nll_loss", {spread({3, 2}), kClasses, kClassWeight}});
  expect_gradients({"nll_loss", {spread({3, 2}), kClasses}, {{"reduction", "none"}}});
}

// Source: PyTorch 1.13 (1.5 gave 0). An ignored row has no gradient. A row of weight 0 has a
// gradient of 0/0.
TEST(NllLoss, TheMeanOfNothingIsNaN) {
  const Given zeros{DType::fp32, {2}, {0, 0}}, dy{DType::fp32, {}, {1}};
  const Given all_ones{DType::int64, {3}, {1, 1, 1}};
  const AttrTexts ignored = {{"ignore_index", "1"}};
  const auto expect = [](std::string_view op, const std::vector<Given>& inputs,
                         const AttrTexts& attrs, const auto& expected) {
    EXPECT_THAT(reference_of_tensors(op, inputs, attrs)[0], expected);
    EXPECT_THAT(kernel_on_tensors(op, "native", inputs, attrs)[0], expected);
  };
  expect("nll_loss", {kRows, kClasses, zeros}, {}, ElementsAre(IsNan()));
  expect("nll_loss", {kRows, all_ones}, ignored, ElementsAre(IsNan()));
  expect("nll_loss_grad", {dy, kRows, all_ones}, ignored, ElementsAre(0, 0, 0, 0, 0, 0));
  expect("nll_loss_grad", {dy, kRows, kClasses, zeros}, {},
         ElementsAre(0, IsNan(), IsNan(), 0, 0, IsNan()));
}

// One element, one class and one weight are read for each row. The gradient writes all of x's shape
// and does not read x.
TEST(NllLoss, CountsWhatIsRead) {
  const auto bytes = [](const char* op, std::vector<Dims> shapes) {
    const Problem problem = problem_with(find_op(op), std::move(shapes), {}, DType::fp32);
    return problem.op->traffic(problem);
  };
  EXPECT_EQ(bytes("nll_loss", {{8, 1000}, {8}}).bytes_read, 8 * (4 + 8));
  EXPECT_EQ(bytes("nll_loss", {{8, 1000}, {8}, {1000}}).bytes_read, 8 * (4 + 8 + 4));
  EXPECT_EQ(bytes("nll_loss", {{8, 3}, {8}, {3}}).bytes_read, 8 * (4 + 8) + 3 * 4);
  EXPECT_EQ(bytes("nll_loss_grad", {{}, {8, 1000}, {8}}).bytes_read, 4 + 8 * 8);
  EXPECT_EQ(bytes("nll_loss_grad", {{}, {8, 1000}, {8}}).bytes_written, 8 * 1000 * 4);
}

TEST(NllLoss, NamesWhatItRefuses) {
  EXPECT_THAT(
      [] {
        reference_of_tensors("nll_loss", {kRows, {DType::int64, {3}, {1, 2, 0}}});
      },
      ThrowsMessage<Error>(HasSubstr("nll_loss: target[1] is 2; allowed: 0 to 1")));
  EXPECT_THAT(
      [] {
        reference_of_tensors("nll_loss_grad", {{DType::fp32, {3}, {1, 1, 1}}, kRows, kClasses});
      },
      ThrowsMessage<Error>(HasSubstr("'grad_output' has shape 3; allowed: a scalar")));
  EXPECT_THAT(
      [] {
        problem_with(find_op("nll_loss"), {{2, 3, 4}, {2}}, {}, DType::fp32);
      },
      ThrowsMessage<Error>(
          HasSubstr("'target' has shape 2; allowed: 2x4, one class for each row")));
}

}  // namespace opbench
