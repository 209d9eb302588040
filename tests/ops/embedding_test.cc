#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/ops/finite_difference.h"

namespace opbench {

using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

const Given kTable{DType::fp32, {3, 2}, {1, 2, 3, 4, 5, 6}};

}  // namespace

TEST(Embedding, TakesRows) {
  for (const DType index : {DType::int64, DType::int32}) {
    const std::vector<Given> inputs = {kTable, {index, {2, 2}, {2, 0, 0, 1}}};
    const std::vector<double> expected = {5, 6, 1, 2, 1, 2, 3, 4};
    EXPECT_EQ(reference_of_tensors("embedding", inputs)[0], expected);
    for (const char* variant : {"native", "gather_v2", "gather_v3"}) {
      EXPECT_EQ(kernel_on_tensors("embedding", variant, inputs)[0], expected) << variant;
    }
  }
}

// Rows 0 and 2 of dy belong to row 1 of the table. Row 2 and the padding row get no gradient.
TEST(EmbeddingGrad, AddsRowsUp) {
  for (const DType index : {DType::int64, DType::int32}) {
    const std::vector<Given> inputs = {{DType::fp32, {4, 2}, {1, 2, 10, 20, 100, 200, 7, 7}},
                                       {index, {4}, {1, 0, 1, 3}}};
    const AttrTexts attrs = {{"num_weights", "4"}, {"padding_idx", "3"}};
    const std::vector<double> expected = {10, 20, 101, 202, 0, 0, 0, 0};
    EXPECT_EQ(reference_of_tensors("embedding_grad", inputs, attrs)[0], expected);
    EXPECT_EQ(kernel_on_tensors("embedding_grad", "native", inputs, attrs)[0], expected);
  }
}

// 1000 times 1 in fp16 is 1000. A sum in steps of fp16 would stop growing earlier.
TEST(EmbeddingGrad, AddsUpInFp32) {
  const std::vector<Given> inputs = {{DType::fp16, {4000, 1}, std::vector<double>(4000, 1)},
                                     {DType::int64, {4000}, std::vector<double>(4000, 0)}};
  EXPECT_EQ(kernel_on_tensors("embedding_grad", "native", inputs, {{"num_weights", "1"}})[0][0],
            4000);
}

TEST(Embedding, GradientsAgreeWithFiniteDifferences) {
  expect_gradients({"embedding", {spread({4, 3}), {DType::int64, {2, 2}, {3, 1, 1, 0}}}});
}

TEST(Embedding, NamesWhatItRefuses) {
  EXPECT_THAT(
      [] {
        reference_of_tensors("embedding", {kTable, {DType::int64, {2}, {0, 3}}});
      },
      ThrowsMessage<Error>(HasSubstr("embedding: indices[1] is 3; allowed: 0 to 2")));
  EXPECT_THAT(
      [] {
        reference_of_tensors("embedding", {kTable, {DType::int64, {1}, {-1}}});
      },
      ThrowsMessage<Error>(HasSubstr("indices[0] is -1")));
  EXPECT_THAT(
      [] {
        problem_with(find_op("embedding"), {{3}, {2}});
      },
      ThrowsMessage<Error>(HasSubstr("'weight' has shape 3; allowed: [rows, columns]")));
  EXPECT_THAT(
      [] {
        problem_with(find_op("embedding_grad"), {{3, 2}, {2}}, {}, DType::fp32);
      },
      ThrowsMessage<Error>(HasSubstr("a row of 'grad_output' for each index")));
  EXPECT_THAT(
      [] {
        attrs_of(find_op("embedding_grad"), {{"num_weights", "-1"}});
      },
      ThrowsMessage<Error>(HasSubstr("it must be 0 or more")));
}

}  // namespace opbench
