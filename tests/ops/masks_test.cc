#include <gmock/gmock.h>

#include "tests/evaluate.h"
#include "tests/on_tensors.h"
#include "tests/ops/values.h"
#include "tests/support.h"
#include "tests/support/non_finite.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::IsNan;

}  // namespace

// Source: IEEE 754. NaN is equal to no number and has no order; +0 is equal to -0.
TEST(Masks, ComparisonsAreThoseOfIeee754) {
  for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
    const std::vector<Given> x = {{dtype, {6}, {1, 2, 2, kNan, -0.0, kInf}},
                                  {dtype, {6}, {2, 2, 1, kNan, 0, -kInf}}};
    expect_values("eq", x, ElementsAre(0, 1, 0, 0, 1, 0));
    expect_values("ne", x, ElementsAre(1, 0, 1, 1, 0, 1));
    expect_values("lt", x, ElementsAre(1, 0, 0, 0, 0, 0));
    expect_values("le", x, ElementsAre(1, 1, 0, 0, 1, 0));
    expect_values("gt", x, ElementsAre(0, 0, 1, 0, 0, 1));
    expect_values("ge", x, ElementsAre(0, 1, 1, 0, 1, 1));
  }
}

// A context would insert a TransData between an output and an input that differ in C0.
TEST(Masks, HaveTheBlocksOfTheirOwnDType) {
  const Problem lt = problem_with(find_op("lt"), {{4, 8}, {4, 8}}, {}, kFp32);
  EXPECT_EQ(lt.outputs[0], describe(DType::boolean, {4, 8}, lt.inputs[0].format));
  const Problem cast = problem_with(find_op("cast"), {{4, 8}}, {{"to", "fp32"}}, DType::boolean);
  EXPECT_EQ(cast.outputs[0], describe(kFp32, {4, 8}, cast.inputs[0].format));
}

TEST(Masks, TruthTables) {
  const std::vector<Given> x = {mask({2, 2}, {0, 0, 1, 1}), mask({2, 2}, {0, 1, 0, 1})};
  expect_values("logical_and", x, ElementsAre(0, 0, 0, 1));
  expect_values("logical_or", x, ElementsAre(0, 1, 1, 1));
  expect_values("logical_xor", x, ElementsAre(0, 1, 1, 0));
  expect_values("logical_not", {x[0]}, ElementsAre(1, 1, 0, 0));
}

TEST(Masks, WhereChoosesAndBroadcasts) {
  expect_values("where",
                {mask({2, 1}, {1, 0}), {DType::fp32, {3}, {1, kNan, 3}}, {DType::fp32, {1}, {-5}}},
                ElementsAre(1, IsNan(), 3, -5, -5, -5));
}

TEST(Masks, FillsWhereTheMaskHolds) {
  expect_values("masked_fill", {{DType::fp16, {2, 2}, {1, 2, kNan, 4}}, mask({2}, {1, 0})},
                ElementsAre(-7, 2, -7, 4), {{"value", "-7"}});
}

TEST(Masks, EveryLength) {
  on_every_isa([] {
    for (const std::size_t count : kLengths) {
      if (count == 0) continue;
      const Dims shape = {static_cast<std::int64_t>(count)};
      Given a = {DType::fp32, shape, {}}, b = a;
      for (std::size_t i = 0; i < count; ++i) {
        a.values.push_back(double(i % 5));
        b.values.push_back(double(i % 3));
      }
      const Values greater = kernel_on_tensors("gt", "native", {a, b});
      for (std::size_t i = 0; i < count; ++i) {
        ASSERT_EQ(greater[0][i], i % 5 > i % 3 ? 1 : 0) << i << " of " << count;
      }
    }
  });
}

}  // namespace opbench
