#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/evaluate.h"
#include "tests/on_tensors.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(Concat, JoinsAlongTheAxis) {
  EXPECT_THAT(moved_numbers("concat", {{2, 1}, {2, 2}}),
              ElementsAre(ElementsAre(0, 100, 101, 1, 102, 103)));
  EXPECT_THAT(moved_numbers("concat", {{1, 2}, {0, 2}, {1, 2}}, {{"axis", "0"}}),
              ElementsAre(ElementsAre(0, 1, 200, 201)));
  EXPECT_THAT(moved_numbers("concat", {{1, 2, 2}, {1, 2, 1}}, {{"axis", "-1"}}),
              ElementsAre(ElementsAre(0, 1, 100, 2, 3, 101)));
}

TEST(Concat, KeepsTheStorageFormat) {
  const Problem problem = problem_with(find_op("concat"), {{1, 18, 3, 3}, {1, 5, 3, 3}}, {},
                                       DType::fp16, Format::NC1HWC0);
  EXPECT_EQ(problem.outputs[0], describe(DType::fp16, {1, 23, 3, 3}, Format::NC1HWC0));
}

// Source: torch.result_type. It gives the wider of two floating dtypes, and fp32 for fp16 and bf16.
TEST(Concat, PromotesFloatingDtypes) {
  const Op& op = find_op("concat");
  const auto result_of = [&](std::vector<DType> dtypes) {
    std::vector<TensorDesc> inputs;
    for (const DType dtype : dtypes) inputs.push_back(describe(dtype, {2, 3}));
    return make_problem(op, std::move(inputs), Attrs(op.attrs)).outputs[0];
  };
  EXPECT_EQ(result_of({DType::fp16, DType::fp32}), describe(DType::fp32, {2, 6}));
  EXPECT_EQ(result_of({DType::fp16, DType::bf16}), describe(DType::fp32, {2, 6}));
  EXPECT_EQ(result_of({DType::bf16, DType::fp64, DType::fp32}), describe(DType::fp64, {2, 9}));
  EXPECT_THAT(
      [&] {
        result_of({DType::int32, DType::fp32});
      },
      ThrowsMessage<Error>(HasSubstr("input 'x1' is fp32, but 'x0' is int32; they must be "
                                     "the same, or both floating")));
}

// fp16 holds all whole numbers up to 2048; fp32 holds 2049.
TEST(Concat, ConvertsTheNarrowerInputs) {
  const std::vector<Given> inputs = {{DType::fp16, {2, 2}, {1, 2048, -0.5, 3}},
                                     {DType::fp32, {2, 1}, {2049, 0.1f}}};
  const std::vector<double> expected = {1, 2048, 2049, -0.5, 3, double(0.1f)};
  EXPECT_THAT(reference_of_tensors("concat", inputs), ElementsAre(expected));
  for (const int threads : {1, 2}) {
    EXPECT_THAT(kernel_on_tensors("concat", "native", inputs, {}, threads), ElementsAre(expected));
  }
}

TEST(Concat, KernelsOfOneDtypeRefuseSeveral) {
  const Op& op = find_op("concat");
  const Problem problem = make_problem(
      op, {describe(DType::fp16, {2, 3}), describe(DType::fp32, {2, 3})}, Attrs(op.attrs));
  EXPECT_THAT(refusal(find_kernel("concat", "concat_d"), problem), HasSubstr("cast"));
  EXPECT_EQ(refusal(find_kernel("concat", "native"), problem), "");
}

TEST(Concat, NamesTheInputThatDoesNotFit) {
  EXPECT_THAT(
      [] {
        problem_with(find_op("concat"), {{2, 3, 4}, {2, 9, 4}, {2, 3, 5}});
      },
      ThrowsMessage<Error>(
          HasSubstr("concat: input 'x2' is int32[2x3x5] ND, but 'x0' is int32[2x3x4] ND; allowed: "
                    "equal except for the extent of axis 1")));
  EXPECT_THROW(problem_with(find_op("concat"), {{2, 3, 4}, {2, 3}}), Error);
  EXPECT_THAT(
      [] {
        problem_with(find_op("concat"), {{}, {}});
      },
      ThrowsMessage<Error>(HasSubstr("axis 1 is out of range for shape scalar")));
}

// Extents of 2^62 with an empty axis need no memory, but their sum overflows.
TEST(Concat, RefusesExtentsThatOverflow) {
  const std::int64_t large = std::int64_t{1} << 62;
  EXPECT_THAT(
      [&] {
        problem_with(find_op("concat"), {{0, large}, {0, large}});
      },
      ThrowsMessage<Error>(HasSubstr("more than 2^63 - 1")));
}

TEST(Concat, IsDifferentiatedBySplit) {
  const Op& op = find_op("concat");
  const auto calls = op.gradient(problem_with(op, {{2, 3}, {2, 4}}, {{"axis", "-1"}}));
  ASSERT_EQ(calls.size(), 1u);
  EXPECT_EQ(calls[0].op, "split");
  EXPECT_THAT(calls[0].of_inputs, ElementsAre(0, 1));
  EXPECT_THAT(calls[0].attrs.list("sizes"), ElementsAre(3, 4));
  EXPECT_EQ(calls[0].attrs.integer("axis"), -1);
}

}  // namespace opbench
