#include <fmt/format.h>
#include <gmock/gmock.h>

#include <cmath>

#include "tensor/error.h"
#include "tests/ops/values.h"
#include "tests/support.h"

namespace opbench {

using testing::DoubleEq;
using testing::DoubleNear;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pointwise;
using testing::ThrowsMessage;

std::vector<Given> norm_example() { return {{kFp32, {2, 2}, {3, -4, 0, 12}}}; }

TEST(Norm, ByHand) {
  const auto norm = [](const char* p, const char* axes) {
    return reference_of_tensors("norm", norm_example(), {{"p", p}, {"axes", axes}})[0];
  };
  EXPECT_THAT(norm("2", "[]"), ElementsAre(13));
  EXPECT_THAT(norm("2", "[1]"), ElementsAre(5, 12));
  EXPECT_THAT(norm("1", "[0]"), ElementsAre(3, 16));
  EXPECT_THAT(norm("0", "[1]"), ElementsAre(2, 1));
  EXPECT_THAT(norm("3", "[1]"), ElementsAre(DoubleNear(std::cbrt(91), 1e-14), DoubleEq(12)));
  EXPECT_THAT(norm("inf", "[1]"), ElementsAre(4, 12));
  EXPECT_THAT(norm("-inf", "[1]"), ElementsAre(3, 0));
  EXPECT_THAT(norm("-1", "[1]"), ElementsAre(DoubleEq(12.0 / 7), 0));
}

TEST(Norm, GradientByHand) {
  const auto gradient = [](const char* p, const std::vector<double>& norms) {
    return reference_of_tensors("norm_grad",
                                {{kFp32, {2}, {10, 1}}, norm_example()[0], {kFp32, {2}, norms}},
                                {{"p", p}, {"axes", "[1]"}})[0];
  };
  EXPECT_THAT(gradient("2", {5, 12}), ElementsAre(6, -8, 0, 1));
  EXPECT_THAT(gradient("1", {7, 12}), ElementsAre(10, -10, 0, 1));
  EXPECT_THAT(gradient("2", {5, 0}), ElementsAre(6, -8, 0, 0)) << "no slope where the norm is 0";
}

TEST(Norm, IsAtLeastEpsilon) {
  const Given x{kFp32, {2, 2}, {0, 0, 3, -4}};
  expect_values("norm", {x}, std::vector<double>{0.5, 5}, {{"axes", "[1]"}, {"epsilon", "0.5"}});
}

// Elements of equal magnitude share the gradient of an extreme.
TEST(Norm, GradientOfExtremes) {
  const Given dy{kFp32, {2}, {6, 1}}, x{kFp32, {2, 3}, {4, -4, 1, 0, 2, -3}};
  expect_values("norm_grad", {dy, x, {kFp32, {2}, {4, 3}}}, std::vector<double>{3, -3, 0, 0, 0, -1},
                {{"p", "inf"}, {"axes", "[1]"}});
  expect_values("norm_grad", {dy, x, {kFp32, {2}, {1, 0}}}, std::vector<double>{0, 0, 6, 0, 0, 0},
                {{"p", "-inf"}, {"axes", "[1]"}});
}

TEST(Norm, Shapes) {
  const Op& op = find_op("norm");
  const auto shape_of = [&](const AttrTexts& attrs) {
    return make_problem(op, {describe(kFp32, {2, 3, 4})}, attrs_of(op, attrs)).outputs[0].shape;
  };
  EXPECT_EQ(shape_of({}), Dims{});
  EXPECT_EQ(shape_of({{"axes", "[0,-1]"}, {"keep_dims", "true"}}), (Dims{1, 3, 1}));
  EXPECT_THAT(
      [&] {
        shape_of({{"axes", "[3]"}});
      },
      ThrowsMessage<Error>(HasSubstr("norm: axis 3 is out of range")));
  EXPECT_THAT(
      [&] {
        make_problem(op, {describe(kFp32, {2, 0})}, attrs_of(op, {{"p", "inf"}, {"axes", "[1]"}}));
      },
      ThrowsMessage<Error>(HasSubstr("p is infinite; allowed: axes with elements")));
  EXPECT_THAT(
      [] {
        reference_of_tensors("norm_grad",
                             {{kFp32, {3}, {1, 1, 1}}, norm_example()[0], {kFp32, {}, {1}}});
      },
      ThrowsMessage<Error>(HasSubstr("'grad_output' has shape 3; allowed: ")));
}

// Rows longer than a piece, many short rows, and columns.
TEST(Norm, KernelsAgreeOnEverySetOfAxes) {
  for (const Dims& shape : {Dims{3, 2, 35000}, Dims{300, 7, 2}, Dims{2, 70, 1030}}) {
    Given x{kFp32, shape, {}};
    for (std::int64_t i = 0; i < element_count(shape); ++i) {
      x.values.push_back(double(i * 7919 % 1001 - 400) / 256);
    }
    for (const char* axes : {"[]", "[0]", "[1]", "[2]", "[0,1]", "[0,2]", "[1,2]"}) {
      for (const char* p : {"2", "1", "0", "2.5", "inf", "-inf"}) {
        SCOPED_TRACE(fmt::format("{} of {}, axes {}", p, to_string(shape), axes));
        const AttrTexts attrs = {{"p", p}, {"axes", axes}};
        const Values expected = reference_of_tensors("norm", {x}, attrs);
        const Values actual = kernel_on_tensors("norm", "native", {x}, attrs, 2);
        for (std::size_t i = 0; i < expected[0].size(); ++i) {
          ASSERT_NEAR(actual[0][i], expected[0][i], 1e-5 * expected[0][i]);
        }
      }
    }
  }
}

}  // namespace opbench
