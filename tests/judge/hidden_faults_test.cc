#include "judge/hidden_faults.h"

#include <gmock/gmock.h>

#include <vector>

#include "tests/evaluate.h"

namespace opbench {
namespace {

// The message for axpy, y = x1 + 1e-4 x2, if only the share `taken` of the step is added.
std::string said(double taken, DType dtype = DType::fp32, double alpha = 1e-4,
                 std::int64_t count = 4096) {
  const Op& op = find_op("axpy");
  const TensorDesc desc = describe(dtype, {count});
  const auto size = static_cast<std::size_t>(count);
  std::vector<double> x1(size), x2(size), y(size);
  for (std::size_t i = 0; i < y.size(); ++i) {
    x1[i] = 1 + static_cast<double>(i % 97) / 97;
    x2[i] = static_cast<double>(i % 31) / 15 - 1;
  }
  std::vector<std::vector<std::byte>> storage;
  const auto store = [&](std::vector<double>& values) {
    std::vector<std::byte>& stored = storage.emplace_back(size * size_of(dtype));
    from_doubles(dtype, values.data(), count, stored.data());
    to_doubles(dtype, stored.data(), count, values.data());
  };
  store(x1);
  store(x2);
  for (std::size_t i = 0; i < y.size(); ++i) y[i] = x1[i] + taken * alpha * x2[i];
  store(y);
  const Problem problem =
      make_problem(op, {desc, desc}, attrs_of(op, {{"alpha", std::to_string(alpha)}}));
  const std::vector<InputReader> inputs = {{desc, storage[0].data()}, {desc, storage[1].data()}};
  return wrong_update(problem, inputs, storage[2].data());
}

TEST(WrongUpdate, StepsOfTheRightLengthAreRight) {
  EXPECT_EQ(said(1), "");
  EXPECT_EQ(said(1.05), "") << "the tolerance of the elements is for that";
}

TEST(WrongUpdate, NoStepAndAStepBackAreWrong) {
  EXPECT_EQ(said(0), "what is added to 'x1' is 0 times what is expected");
  EXPECT_EQ(said(-1), "what is added to 'x1' is -1 times what is expected");
  EXPECT_EQ(said(2), "what is added to 'x1' is 2 times what is expected");
}

// The step is a tenth of fp16's unit at 1, so unchanged parameters are correct.
TEST(WrongUpdate, WhatRoundingHidesIsNotJudged) {
  EXPECT_EQ(said(0, DType::fp16), "");
  EXPECT_NE(said(0, DType::fp16, 0.1), "");
}

// Steps below half a unit do not change the result, however many there are.
TEST(WrongUpdate, HonestStepsOfFp16AreRight) {
  for (const double alpha : {1e-4, 3e-4, 1e-3, 1e-2}) {
    EXPECT_EQ(said(1, DType::fp16, alpha, 1 << 20), "") << alpha;
  }
}

// The outputs of other operators are not an input plus a change.
TEST(WrongUpdate, OnlyOfOperatorsThatAddToAnInput) {
  EXPECT_TRUE(find_op("adam").adds_to_first);
  EXPECT_TRUE(find_op("sgd").adds_to_first);
  EXPECT_FALSE(find_op("mul").adds_to_first);
}

}  // namespace
}  // namespace opbench
