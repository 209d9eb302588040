#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/on_tensors.h"

namespace opbench {

using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsNan;
using testing::Pointwise;
using testing::ThrowsMessage;

// The input is 0, 1, ..., 11 as 2 x 3 x 2. The expected values are computed by hand.
std::vector<Given> reduce_mean_example() {
  return {{DType::fp32, {2, 3, 2}, {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11}}};
}

TEST(ReduceMean, HandComputed) {
  const auto mean = [](const char* axes) {
    return reference_of_tensors("reduce_mean", reduce_mean_example(), {{"axes", axes}})[0];
  };
  EXPECT_THAT(mean("[]"), ElementsAre(5.5));
  EXPECT_THAT(mean("[0]"), ElementsAre(3, 4, 5, 6, 7, 8));
  EXPECT_THAT(mean("[1]"), ElementsAre(2, 3, 8, 9));
  EXPECT_THAT(mean("[-1]"), ElementsAre(0.5, 2.5, 4.5, 6.5, 8.5, 10.5));
  EXPECT_THAT(mean("[0,2]"), ElementsAre(3.5, 5.5, 7.5));
}

TEST(ReduceMean, ShapesOfTheOutput) {
  const Op& op = find_op("reduce_mean");
  const auto shape_of = [&](const AttrTexts& attrs) {
    return make_problem(op, {describe(DType::fp32, {2, 3, 4})}, attrs_of(op, attrs))
        .outputs[0]
        .shape;
  };
  EXPECT_EQ(shape_of({}), Dims{});
  EXPECT_EQ(shape_of({{"axes", "[0,-1]"}}), (Dims{3}));
  EXPECT_EQ(shape_of({{"axes", "[0,-1]"}, {"keep_dims", "true"}}), (Dims{1, 3, 1}));
}

TEST(ReduceMean, NamesWrongAxes) {
  const auto error = [](const char* axes) {
    return [=] { reference_of_tensors("reduce_mean", reduce_mean_example(), {{"axes", axes}}); };
  };
  EXPECT_THAT(error("[1,-2]"), ThrowsMessage<Error>(HasSubstr("reduce_mean: axis 1 is named "
                                                              "twice")));
  EXPECT_THAT(error("[3]"), ThrowsMessage<Error>(HasSubstr("axis 3 is out of range")));
}

// Tries every set of axes of a tensor with rows that are summed in blocks, of one with many short
// rows, and of one with rows longer than a piece.
TEST(ReduceMean, KernelsAgreeOnEverySetOfAxes) {
  for (const Dims& shape : {Dims{3, 11, 2, 1500}, Dims{300, 4, 70, 2}, Dims{1, 70000, 1, 2}}) {
    std::vector<double> x(static_cast<std::size_t>(element_count(shape)));
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = double(i * 7919 % 1001) - 400;
    for (int set = 1; set < 16; ++set) {
      std::vector<int> axes;
      for (int axis = 0; axis < 4; ++axis) {
        if ((set >> axis & 1) != 0) axes.push_back(axis);
      }
      const std::vector<Given> inputs = {{DType::fp32, shape, x}};
      const AttrTexts attrs = {{"axes", fmt::format("[{}]", fmt::join(axes, ","))}};
      const Values expected = reference_of_tensors("reduce_mean", inputs, attrs);
      for (const char* variant : {"native", "reduce_mean"}) {
        EXPECT_THAT(kernel_on_tensors("reduce_mean", variant, inputs, attrs, 2)[0],
                    Pointwise(DoubleNear(1e-3), expected[0]))
            << variant << ' ' << to_string(shape) << ' ' << attrs.at("axes");
      }
    }
  }
}

TEST(ReduceMean, OfNothingIsNaN) {
  const std::vector<Given> inputs = {{DType::fp32, {2, 0}, {}}};
  const AttrTexts attrs = {{"axes", "[1]"}};
  EXPECT_THAT(reference_of_tensors("reduce_mean", inputs, attrs)[0], ElementsAre(IsNan(), IsNan()));
  for (const char* variant : {"native", "reduce_mean"}) {
    EXPECT_THAT(kernel_on_tensors("reduce_mean", variant, inputs, attrs)[0],
                ElementsAre(IsNan(), IsNan()))
        << variant;
  }
}

// 3 * 2^-149 / 3 vanishes if every element is scaled first, as in mean.
TEST(ReduceMean, ScalesBeforeItSums) {
  const std::vector<Given> tiny = {{DType::fp32, {1, 3}, std::vector<double>(3, 0x1p-149)}};
  const AttrTexts attrs = {{"axes", "[1]"}};
  EXPECT_THAT(kernel_on_tensors("reduce_mean", "native", tiny, attrs)[0], ElementsAre(0x1p-149));
  EXPECT_THAT(kernel_on_tensors("reduce_mean", "reduce_mean", tiny, attrs)[0], ElementsAre(0));
}

TEST(ReduceMeanGrad, SharesTheGradientOut) {
  const std::vector<double> x(6);
  const std::vector<Given> rows = {{DType::fp32, {2}, {3, 6}}, {DType::fp32, {2, 3}, x}};
  const std::vector<Given> columns = {{DType::fp32, {1, 3}, {2, 4, 6}}, {DType::fp32, {2, 3}, x}};
  const AttrTexts first = {{"axes", "[1]"}}, second = {{"axes", "[0]"}, {"keep_dims", "true"}};
  EXPECT_THAT(reference_of_tensors("reduce_mean_grad", rows, first)[0],
              ElementsAre(1, 1, 1, 2, 2, 2));
  EXPECT_THAT(kernel_on_tensors("reduce_mean_grad", "native", rows, first)[0],
              ElementsAre(1, 1, 1, 2, 2, 2));
  EXPECT_THAT(reference_of_tensors("reduce_mean_grad", columns, second)[0],
              ElementsAre(1, 2, 3, 1, 2, 3));
  EXPECT_THAT(kernel_on_tensors("reduce_mean_grad", "native", columns, second)[0],
              ElementsAre(1, 2, 3, 1, 2, 3));
  EXPECT_THAT([&] { reference_of_tensors("reduce_mean_grad", columns, first); },
              ThrowsMessage<Error>(HasSubstr("'grad_output' has shape 1x3; allowed: 2")));
}

}  // namespace opbench
