#include <gmock/gmock.h>

#include <numeric>

#include "tensor/error.h"
#include "tests/evaluate.h"
#include "tests/on_tensors.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(IndexSelect, PicksAlongTheAxis) {
  EXPECT_THAT(moved_numbers("index_select", {{2, 3}, {4}}, {}, {2, 0, 0, 1}),
              ElementsAre(ElementsAre(2, 0, 0, 1, 5, 3, 3, 4)));
  EXPECT_THAT(moved_numbers("index_select", {{2, 3}, {1}}, {{"axis", "-2"}}, {1}),
              ElementsAre(ElementsAre(3, 4, 5)));
}

// torch.index_select refuses negative indices; x[:, index] and GatherV2 count them from the back.
TEST(IndexSelect, CountsNegativeIndicesFromTheBack) {
  const AttrTexts attrs = {{"negative_index", "true"}};
  EXPECT_THAT(moved_numbers("index_select", {{2, 3}, {3}}, attrs, {-1, 0, -3}),
              ElementsAre(ElementsAre(2, 0, 0, 5, 3, 3)));
  const std::vector<Given> inputs = {{DType::fp32, {2, 3}, {1, 2, 3, 4, 5, 6}},
                                     {DType::int32, {3}, {-1, 0, -3}}};
  for (const char* variant : {"native", "gather_v2"}) {
    EXPECT_THAT(kernel_on_tensors("index_select", variant, inputs, attrs)[0],
                ElementsAre(3, 1, 1, 6, 4, 4))
        << variant;
  }
  const Problem problem = problem_with(find_op("index_select"), {{2, 3}, {3}}, attrs);
  for (const char* variant : {"gather_v3", "gather_v3_generated"}) {
    EXPECT_EQ(refusal(find_kernel("index_select", variant), problem),
              "GatherV3 takes no negative indices");
  }
  EXPECT_EQ(default_data(problem, 1), (Distribution{DistributionKind::integers, -3, 2}));
  EXPECT_THAT(
      [&] {
        reference_of_tensors("index_select",
                             {{DType::fp32, {1, 3}, {1, 2, 3}}, {DType::int64, {1}, {-4}}}, attrs);
      },
      ThrowsMessage<Error>(HasSubstr("index_select: index[0] is -4; allowed: -3 to 2")));
}

// Rows of whole 32-byte blocks, and others, which are copied element by element.
TEST(IndexSelect, ScalarRowsAreTheSameRows) {
  for (const DType dtype : {DType::int8, DType::fp16, DType::fp32, DType::fp64}) {
    for (const std::int64_t row : {1, 8, 32, 49}) {
      std::vector<double> x(static_cast<std::size_t>(3 * row));
      std::iota(x.begin(), x.end(), -20);
      const std::vector<Given> inputs = {{dtype, {3, row}, x}, {DType::int64, {4}, {2, 0, -1, 1}}};
      const AttrTexts attrs = {{"axis", "0"}, {"negative_index", "true"}};
      EXPECT_EQ(kernel_on_tensors("index_select", "gather_v2_scalar", inputs, attrs),
                kernel_on_tensors("index_select", "native", inputs, attrs));
    }
  }
}

// A 0-D index leaves an axis of 1, as in torch.
TEST(IndexSelect, KeepsTheAxisOfAScalarIndex) {
  EXPECT_EQ(problem_with(find_op("index_select"), {{2, 3, 4}, {}}).outputs[0].shape,
            (Dims{2, 1, 4}));
}

TEST(IndexSelect, NamesWhatItDoesNotTake) {
  const Op& op = find_op("index_select");
  EXPECT_THAT(
      [&] {
        problem_with(op, {{2, 3}, {1, 1}});
      },
      ThrowsMessage<Error>(HasSubstr("index_select: input 'index' has shape 1x1")));
  EXPECT_THAT(
      [&] {
        problem_with(op, {Dims(9, 1), {1}});
      },
      ThrowsMessage<Error>(HasSubstr("at most 8 dimensions")));
}

TEST(IndexSelect, ChecksTheIndex) {
  const Problem problem = problem_with(find_op("index_select"), {{2, 3}, {1}});
  const Tensor x(problem.inputs[0]), index(problem.inputs[1]);
  const std::vector<InputReader> readers{{x.desc, x.data()}, {index.desc, index.data()}};
  for (const std::int64_t bad : {-1, 3}) {
    index.as<std::int64_t>()[0] = bad;
    EXPECT_THAT([&] { problem.op->check_values(problem, readers); },
                ThrowsMessage<Error>(HasSubstr("allowed: 0 to 2")));
  }
}

TEST(IndexSelect, DefaultsToAChannelShuffle) {
  const Op& op = find_op("index_select");
  EXPECT_EQ(default_data(problem_with(op, {{2, 6}, {6}}), 1).kind, DistributionKind::shuffle);
  const Distribution random{DistributionKind::integers, 0, 5};
  EXPECT_EQ(default_data(problem_with(op, {{2, 6}, {3}}), 1), random);
}

TEST(IndexSelect, CountsTheRowsThatItReads) {
  const Problem problem = problem_with(find_op("index_select"), {{10, 100}, {5}});
  EXPECT_EQ(problem.op->traffic(problem).bytes_read, 10 * 5 * 4 + 5 * 8);
}

}  // namespace opbench
