#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/ops/values.h"

namespace opbench {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

Given fp64_number(double value) { return {DType::fp64, {}, {value}}; }
Given int64_number(double value) { return {DType::int64, {}, {value}}; }

}  // namespace

// Lengths around a vector and a cache line, and every size of an element.
TEST(Fill, EveryLengthAndDType) {
  for (const DType dtype : {DType::fp32, DType::bf16, DType::int64, DType::uint8}) {
    for (const std::size_t count : kLengths) {
      const Given like{dtype, {static_cast<std::int64_t>(count)}, std::vector<double>(count, 9)};
      for (const char* variant : {"native", "fill"}) {
        EXPECT_THAT(kernel_on_tensors("fill", variant, {like}, {{"value", "3"}})[0], Each(3.0));
      }
    }
  }
}

TEST(Fill, RoundsTheNumberOnce) {
  expect_values("fill", {{DType::bf16, {2}, {0, 0}}}, {3.140625, 3.140625}, {{"value", "3.14159"}});
  expect_values("fill", {{DType::int8, {1}, {0}}}, {-7}, {{"value", "-7"}});
}

TEST(Fill, OnlyWrites) {
  const Problem problem = problem_with(find_op("fill"), {{8}}, {}, DType::fp32);
  EXPECT_EQ(problem.op->traffic(problem).bytes_read, 0);
  EXPECT_EQ(problem.op->traffic(problem).bytes_written, 32);
}

TEST(Range, ByHand) {
  expect_values("range", {fp64_number(3)}, {0, 1, 2}, {{"count", "3"}});
  expect_values("range", {int64_number(-4), int64_number(5), int64_number(-2)}, {5, 3, 1, -1, -3},
                {{"count", "5"}, {"dtype", "int32"}});
  expect_values("range", {fp64_number(4), fp64_number(0.5), fp64_number(0.75)},
                {0.5, 1.25, 2, 2.75, 3.5}, {{"count", "5"}, {"dtype", "fp16"}});
  expect_values("range", {int64_number(3), int64_number(3)}, {},
                {{"count", "0"}, {"dtype", "int64"}});
}

// Sums of steps of 0.1 would differ from 0.1f * 1000 by 2^-10.
TEST(Range, ElementsAreNotAccumulated) {
  const AttrTexts attrs = {{"count", "2000"}};
  const std::vector<double> y = kernel_on_tensors(
      "range", "native", {fp64_number(200), fp64_number(0), fp64_number(0.1)}, attrs)[0];
  for (std::size_t i = 0; i < y.size(); ++i) ASSERT_EQ(y[i], double(float(0.1 * double(i)))) << i;
}

TEST(Range, RefusesAnotherCount) {
  EXPECT_THAT(
      [] {
        reference_of_tensors("range", {fp64_number(3)}, {{"count", "4"}});
      },
      ThrowsMessage<Error>(HasSubstr("range: from 0 to 3 by 1 are 3 numbers; 'count' is 4")));
}

}  // namespace opbench
