#include <gmock/gmock.h>

#include "ops/grid_sample_points.h"
#include "tensor/error.h"
#include "tests/ops/finite_difference.h"
#include "tests/ops/values.h"

namespace opbench {

using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

// Elements 10 20 30 40 of a row, at positions -1.5, -0.5, 0.25, 1.5, 3.5 and 5, unless corners are
// aligned.
const Given kRow{kFp32, {1, 1, 1, 4}, {10, 20, 30, 40}};
const Given kPoints{kFp32, {1, 1, 6, 2}, {-1.5, 0, -1, 0, -0.625, 0, 0, 0, 1, 0, 1.75, 0}};

void expect_row(const char* mode, const char* padding, const std::vector<double>& expected) {
  expect_values("grid_sample", {kRow, kPoints}, expected,
                {{"mode", mode}, {"padding_mode", padding}});
}

}  // namespace

// Reflected at -1/2 and 3 1/2, position 5 becomes 2. Halves are rounded to even: -1/2 to 0 and 3/2
// to 2.
TEST(GridSample, HandComputed) {
  expect_row("bilinear", "zeros", {0, 5, 12.5, 25, 20, 0});
  expect_row("bilinear", "border", {10, 10, 12.5, 25, 40, 40});
  expect_row("bilinear", "reflection", {15, 10, 12.5, 25, 40, 30});
  expect_row("nearest", "zeros", {0, 10, 10, 30, 0, 0});
  expect_row("nearest", "border", {10, 10, 10, 30, 40, 40});
  expect_row("nearest", "reflection", {10, 10, 10, 30, 40, 30});
}

// With aligned corners the positions are -0.75, 0, 0.5625, 1.5, 3 and 4.125; reflection is at 0 and
// 3. The last image has one column.
TEST(GridSample, AlignedCorners) {
  const AttrTexts attrs = {{"align_corners", "true"}};
  expect_values("grid_sample", {kRow, kPoints}, {2.5, 10, 15.625, 25, 40, 0}, attrs);
  expect_values("grid_sample", {kRow, kPoints}, {17.5, 10, 15.625, 25, 40, 28.75},
                {{"align_corners", "true"}, {"padding_mode", "reflection"}});
  expect_values("grid_sample", {{kFp32, {1, 1, 2, 1}, {1, 3}}, {kFp32, {1, 1, 1, 2}, {0.7, 0}}},
                {2}, {{"align_corners", "true"}, {"padding_mode", "reflection"}});
}

// dy = 1, 2 at column positions 1/4 and 3/2: shares 3/4, 1/4 and 1/2, 1/2. The slope of a position
// is 2 for each coordinate of a width of 4; a row alone has shares 1 and 0 of zeros around it.
TEST(GridSample, GradientsByHand) {
  const Given dy{kFp32, {1, 1, 1, 2}, {1, 2}};
  const Given points{kFp32, {1, 1, 2, 2}, {-0.625, 0, 0, 0}};
  const Values found = reference_of_tensors("grid_sample_grad", {dy, kRow, points});
  EXPECT_THAT(found[0], testing::ElementsAre(0.75, 1.25, 1, 0));
  EXPECT_THAT(found[1], testing::ElementsAre(20, -6.25, 40, -25));
  const Values border =
      reference_of_tensors("grid_sample_grad", {dy, kRow, points}, {{"padding_mode", "border"}});
  EXPECT_THAT(border[1], testing::ElementsAre(20, 0, 40, 0)) << "the row's position is its border";
}

TEST(GridSample, GradientsAgreeWithFiniteDifferences) {
  const Given points{
      kFp32,
      {1, 2, 3, 2},
      {-1.25, 0.5, -0.125, 0.875, 0.25, -0.5, 0.75, -1.125, 0.625, 0.0625, 1.375, 1.25}};
  for (const char* padding : {"zeros", "border", "reflection"}) {
    for (const char* aligned : {"false", "true"}) {
      expect_gradients({"grid_sample",
                        {spread({1, 2, 3, 5}), points},
                        {{"padding_mode", padding}, {"align_corners", aligned}}});
    }
  }
  expect_gradients({"grid_sample", {spread({1, 2, 3, 5}), points}, {{"mode", "nearest"}}});
}

// In fp32 a point between two elements may belong to either of them. A thousandth of an element
// away it belongs to one. Far outside a position is inexact, but the result is 0.
TEST(GridSample, TermsAllowEitherNeighbour) {
  const auto term = [](double coordinate) {
    const std::vector<float> x = {10, 20, 30, 40}, grid = {float(coordinate), 0};
    const Problem problem = problem_with(find_op("grid_sample"), {{1, 1, 1, 4}, {1, 1, 1, 2}},
                                         {{"mode", "nearest"}}, kFp32);
    const std::vector<InputReader> readers = {{problem.inputs[0], x.data()},
                                              {problem.inputs[1], grid.data()}};
    std::vector<double> found(1);
    problem.op->terms(readers, problem.attrs).magnitude(0, {0, 1}, found);
    return found[0];
  };
  EXPECT_EQ(term(0), 30 + 10 * 0x1p24) << "20 at 1, 30 at 2";
  EXPECT_EQ(term(0.001), 30);
  EXPECT_EQ(term(-0.001), 20);
  EXPECT_EQ(term(1e6), 0);
}

// A vector of points and more.
TEST(GridSample, PositionsThatAreNotFiniteAreOutside) {
  std::vector<double> grid(2 * 19, 0.0);
  for (std::size_t i = 0; i < grid.size(); i += 3) grid[i] = i % 2 == 0 ? NAN : HUGE_VAL;
  const Given x{kFp32, {1, 1, 2, 2}, {1, 1, 1, 1}}, points{kFp32, {1, 1, 19, 2}, grid};
  const Given dy{kFp32, {1, 1, 1, 19}, std::vector<double>(19, 1.0)};
  for (const Kernel* kernel : kernels_of("grid_sample")) {
    const std::vector<double> y = kernel_on_tensors("grid_sample", kernel->name, {x, points})[0];
    for (std::size_t i = 0; i < 19; ++i) EXPECT_EQ(y[i], i % 3 == 2 ? 1 : 0) << kernel->name << i;
  }
  for (const Kernel* kernel : kernels_of("grid_sample_grad")) {
    EXPECT_THAT(kernel_on_tensors("grid_sample_grad", kernel->name, {dy, x, points})[1],
                testing::Each(0))
        << kernel->name;
  }
}

TEST(GridSample, NamesWhatItRefuses) {
  const auto refused = [](const std::vector<Dims>& shapes, const AttrTexts& attrs,
                          const char* text) {
    EXPECT_THAT([&] { problem_with(find_op("grid_sample"), shapes, attrs, kFp32); },
                ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused({{1, 1, 0, 2}, {1, 1, 1, 2}}, {}, "'input' has shape 1x1x0x2; allowed: [N, C, H, W]");
  refused({{2, 1, 2, 2}, {1, 1, 1, 2}}, {}, "'grid' has shape 1x1x1x2; allowed: [2, OH, OW, 2]");
  refused({{1, 1, 2, 2}, {1, 1, 1, 2}}, {{"mode", "bicubic"}}, "it must be bilinear or nearest");
}

}  // namespace opbench
