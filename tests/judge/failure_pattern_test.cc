#include "judge/failure_pattern.h"

#include <gtest/gtest.h>

#include <functional>

#include "tests/support/non_finite.h"

namespace opbench {
namespace {

std::vector<bool> where(std::size_t count, const std::function<bool(std::size_t)>& is_wrong) {
  std::vector<bool> wrong(count);
  for (std::size_t i = 0; i < count; ++i) wrong[i] = is_wrong(i);
  return wrong;
}

std::string pattern(const std::vector<bool>& wrong, const Dims& shape) {
  return failure_pattern(wrong, shape, {});
}

}  // namespace

TEST(FailurePattern, OfPlaces) {
  EXPECT_EQ(pattern(where(64, [](std::size_t i) { return i % 32 >= 16; }), {2, 32}),
            "only axis 1 from 16 on");
  EXPECT_EQ(pattern(where(64, [](std::size_t i) { return i / 8 == 3; }), {8, 8}),
            "only axis 0 = 3");
  EXPECT_EQ(pattern(where(64, [](std::size_t i) { return i % 16 == 15; }), {64}),
            "only axis 0 where i % 16 = 15");
  EXPECT_EQ(pattern(where(64, [](std::size_t i) { return i % 16 == 15 || i % 16 == 0; }), {64}),
            "only axis 0 where i % 16 = 0 or 15");
  EXPECT_EQ(pattern(where(96, [](std::size_t i) { return i % 32 >= 24; }), {96}),
            "only axis 0 where i % 32 from 24 to 31");
  EXPECT_EQ(pattern(where(60, [](std::size_t i) { return i % 12 >= 4 && i % 12 < 6; }), {5, 12}),
            "only axis 1 from 4 to 5");
  EXPECT_EQ(pattern(where(35, [](std::size_t i) { return i >= 33; }), {35}),
            "only axis 0 from 33 on");
  EXPECT_EQ(pattern(where(35, [](std::size_t i) { return i == 9; }), {5, 7}),
            "a single element, 9 of 35");
}

TEST(FailurePattern, RunsAcrossAxes) {
  EXPECT_EQ(pattern(where(8, [](std::size_t i) { return i == 3 || i == 4; }), {2, 4}),
            "2 elements in a row, from 3 of 8 on");
}

TEST(FailurePattern, NothingToTell) {
  EXPECT_EQ(pattern(std::vector<bool>(8, true), {8}), "") << "all are wrong";
  EXPECT_EQ(pattern(std::vector<bool>(8, false), {8}), "");
  EXPECT_EQ(pattern(where(16, [](std::size_t i) { return i == 1 || i == 6 || i == 11; }), {16}),
            "");
  EXPECT_EQ(pattern(where(64, [](std::size_t i) { return i == 0 || i == 11 || i == 21; }), {8, 8}),
            "")
      << "rows 0 to 2, but most of their elements are right";
  EXPECT_EQ(pattern({}, {0}), "");
}

// e^x overflows fp16 at x = 11.09.
TEST(FailurePattern, OfValues) {
  const std::vector<double> x = {1, 12, 3, 11.1, 20, 11.08};
  const InputValues input{"self", x};
  EXPECT_EQ(failure_pattern({false, true, false, true, true, false}, {6}, {&input, 1}),
            "only self > 11.08");
  EXPECT_EQ(failure_pattern({true, false, true, false, false, false}, {6}, {&input, 1}),
            "only self < 11.08");
  EXPECT_EQ(failure_pattern({false, false, true, true, false, true}, {6}, {&input, 1}),
            "only self from 3 to 11.1");
  const std::vector<double> with_nan = {1, kNan, 3, kNan};
  const InputValues nan{"x", with_nan};
  EXPECT_EQ(failure_pattern({false, true, false, true}, {4}, {&nan, 1}), "only x = NaN");
  const std::vector<double> zeros = {1, 0, 3, 0};
  const InputValues zero{"x", zeros};
  EXPECT_EQ(failure_pattern({false, true, false, true}, {4}, {&zero, 1}), "only x = 0");
}

}  // namespace opbench
