#include <gmock/gmock.h>

#include "kernels/kernel.h"
#include "tensor/error.h"
#include "tests/on_tensors.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

std::vector<Given> index_add_example() {
  return {{DType::fp32, {5, 3}, std::vector<double>(15, 1)},
          {DType::int64, {3}, {0, 4, 2}},
          {DType::fp32, {3, 3}, {1, 2, 3, 4, 5, 6, 7, 8, 9}}};
}

// Source: the examples of torch.Tensor.index_add_'s documentation, alpha 1 and -1.
TEST(IndexAdd, PublishedExamples) {
  EXPECT_THAT(reference_of_tensors("index_add", index_add_example())[0],
              ElementsAre(2, 3, 4, 1, 1, 1, 8, 9, 10, 1, 1, 1, 5, 6, 7));
  EXPECT_THAT(reference_of_tensors("index_add", index_add_example(), {{"alpha", "-1"}})[0],
              ElementsAre(0, -1, -2, 1, 1, 1, -6, -7, -8, 1, 1, 1, -3, -4, -5));
}

// By hand: columns 1 and 1 of [[10, 20, 30], [40, 50, 60]] are added to [[1, 2], [3, 4]].
TEST(IndexAdd, RepeatedIndicesAddUp) {
  const std::vector<Given> inputs = {{DType::fp32, {2, 2}, {1, 2, 3, 4}},
                                     {DType::int32, {3}, {1, 0, 1}},
                                     {DType::fp32, {2, 3}, {10, 20, 30, 40, 50, 60}}};
  const AttrTexts attrs = {{"axis", "-1"}, {"alpha", "0.5"}};
  const auto expected = ElementsAre(11, 22, 28, 54);
  EXPECT_THAT(reference_of_tensors("index_add", inputs, attrs)[0], expected);
  for (const char* variant : {"native", "index_add"}) {
    EXPECT_THAT(kernel_on_tensors("index_add", variant, inputs, attrs)[0], expected) << variant;
  }
}

// torch.index_add refuses negative indices; index_put(accumulate=True) counts them from the back.
TEST(IndexAdd, CountsNegativeIndicesFromTheBack) {
  const std::vector<Given> inputs = {{DType::fp32, {3}, {1, 2, 3}},
                                     {DType::int64, {3}, {-1, 0, -2}},
                                     {DType::fp32, {3}, {10, 20, 40}}};
  const AttrTexts attrs = {{"negative_index", "true"}};
  EXPECT_THAT(reference_of_tensors("index_add", inputs, attrs)[0], ElementsAre(21, 42, 13));
  for (const char* variant : {"native", "index_select"}) {
    EXPECT_THAT(kernel_on_tensors("index_add", variant, inputs, attrs)[0], ElementsAre(21, 42, 13))
        << variant;
  }
  const Op& op = find_op("index_add");
  EXPECT_EQ(refusal(find_kernel("index_add", "index_add"),
                    make_problem(op,
                                 {describe(DType::fp32, {3}), describe(DType::int64, {3}),
                                  describe(DType::fp32, {3})},
                                 attrs_of(op, attrs))),
            "InplaceIndexAdd takes no negative indices");
}

// Tries every axis, with more and fewer rows than places. The values are whole numbers, so sums are
// exact.
TEST(IndexAdd, KernelsAgreeOnEveryAxis) {
  for (const std::int64_t added : {2, 5, 9}) {
    for (const std::size_t axis : {0u, 1u, 2u}) {
      const Dims self = {5, 5, 5};
      Dims source = self;
      source[axis] = added;
      std::vector<double> x(125), y(static_cast<std::size_t>(element_count(source))), index;
      for (std::size_t i = 0; i < x.size(); ++i) x[i] = double(i);
      for (std::size_t i = 0; i < y.size(); ++i) y[i] = double(1000 * i);
      for (std::int64_t i = 0; i < added; ++i) index.push_back(double(i * 3 % 5));
      const std::vector<Given> inputs = {
          {DType::fp32, self, x}, {DType::int64, {added}, index}, {DType::fp32, source, y}};
      const AttrTexts attrs = {{"axis", std::to_string(axis)}, {"alpha", "2"}};
      const Values expected = reference_of_tensors("index_add", inputs, attrs);
      for (const char* variant : {"native", "index_add", "index_select"}) {
        if (std::string_view(variant) == "index_select" && added != 5) continue;
        EXPECT_EQ(kernel_on_tensors("index_add", variant, inputs, attrs, 3), expected)
            << variant << ", axis " << axis << ", " << added << " rows";
      }
    }
  }
}

TEST(IndexAdd, IndexSelectWantsAPermutation) {
  const std::vector<Given> twice = {
      {DType::fp32, {2}, {0, 0}}, {DType::int64, {2}, {1, 1}}, {DType::fp32, {2}, {3, 4}}};
  EXPECT_THAT([&] { kernel_on_tensors("index_add", "index_select", twice); },
              ThrowsMessage<RefusedValues>(HasSubstr("not a permutation of the axis")));
  const Op& op = find_op("index_add");
  const Problem shorter = make_problem(
      op,
      {describe(DType::fp32, {5, 3}), describe(DType::int64, {3}), describe(DType::fp32, {3, 3})},
      Attrs(op.attrs));
  EXPECT_THAT(refusal(find_kernel("index_add", "index_select"), shorter),
              HasSubstr("their lengths differ"));
}

TEST(IndexAdd, NamesWhatDoesNotFit) {
  const auto error = [](Dims index, std::vector<double> values, Dims source) {
    return [=] {
      const std::vector<double> zeros(100);
      reference_of_tensors("index_add", {{DType::fp32, {5, 3}, zeros},
                                         {DType::int64, index, values},
                                         {DType::fp32, source, zeros}});
    };
  };
  EXPECT_THAT(error({1, 2}, {0, 1}, {2, 3}),
              ThrowsMessage<Error>(HasSubstr("'index' has shape 1x2; allowed: one dimension")));
  EXPECT_THAT(error({2}, {0, 1}, {3, 3}),
              ThrowsMessage<Error>(HasSubstr("'source' has shape 3x3; allowed: 2x3")));
  EXPECT_THAT(error({2}, {0, 5}, {2, 3}),
              ThrowsMessage<Error>(HasSubstr("index_add: index[1] is 5; allowed: 0 to 4")));
  EXPECT_THAT(error({2}, {0, -1}, {2, 3}), ThrowsMessage<Error>(HasSubstr("index[1] is -1")));
}

// The gradient of self is dy. The gradient of source is the rows of dy that the index names.
TEST(IndexAdd, GradientSelectsRows) {
  const Op& op = find_op("index_add");
  const std::vector<TensorDesc> inputs = {
      describe(DType::fp32, {5, 3}), describe(DType::int64, {3}), describe(DType::fp32, {3, 3})};
  const auto calls = op.gradient(make_problem(op, inputs, Attrs(op.attrs)));
  ASSERT_EQ(calls.size(), 2u);
  EXPECT_TRUE(calls[0].op.empty());
  EXPECT_EQ(calls[1].op, "index_select");
  EXPECT_THAT(calls[1].of_inputs, ElementsAre(2u));
  const Problem scaled = make_problem(op, inputs, attrs_of(op, {{"alpha", "2"}}));
  EXPECT_THAT([&] { op.gradient(scaled); },
              ThrowsMessage<Error>(HasSubstr("no gradient for alpha 2")));
}

TEST(IndexAdd, DefaultIndexIsAPermutationWhereItCanBe) {
  const Op& op = find_op("index_add");
  const Problem same = make_problem(
      op,
      {describe(DType::fp32, {5, 3}), describe(DType::int64, {5}), describe(DType::fp32, {5, 3})},
      Attrs(op.attrs));
  EXPECT_EQ(default_data(same, 1).kind, DistributionKind::permutation);
}

}  // namespace opbench
