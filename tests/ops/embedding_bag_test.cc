#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/ops/values.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

const Given kBagTable{kFp32, {3, 2}, {1, 2, 10, 20, 100, 200}};
const Given kIndices{DType::int64, {3}, {2, 0, 2}};

Given offsets(const std::vector<double>& values) {
  return {DType::int64, {std::ssize(values)}, values};
}

}  // namespace

// The bags have rows 2 and 0, then row 2. A bag without rows is 0.
TEST(EmbeddingBag, ByHand) {
  EXPECT_THAT(
      agreed_values("embedding_bag", {kBagTable, kIndices, offsets({0, 2})}, {{"mode", "sum"}}),
      ElementsAre(101, 202, 100, 200));
  EXPECT_THAT(agreed_values("embedding_bag", {kBagTable, kIndices, offsets({0, 2, 2})}),
              ElementsAre(50.5, 101, 0, 0, 100, 200));
}

TEST(EmbeddingBag, GradientByHand) {
  const Given dy{kFp32, {2, 1}, {4, 1}};
  EXPECT_THAT(
      agreed_values("embedding_bag_grad", {dy, kIndices, offsets({0, 2})}, {{"num_weights", "3"}}),
      ElementsAre(2, 0, 3));
  EXPECT_THAT(agreed_values("embedding_bag_grad", {dy, kIndices, offsets({0, 2})},
                            {{"num_weights", "3"}, {"mode", "sum"}}),
              ElementsAre(4, 0, 5));
}

// Index 2 is padding: bag 0 has row 0 alone, bag 1 none. The last offset is the end.
TEST(EmbeddingBag, PaddingDoesNotCount) {
  const AttrTexts attrs = {{"padding_idx", "2"}, {"include_last_offset", "true"}};
  EXPECT_THAT(agreed_values("embedding_bag", {kBagTable, kIndices, offsets({0, 2, 3})}, attrs),
              ElementsAre(1, 2, 0, 0));
}

// The greatest of rows 2 and 1 in each column; the first of equal ones has the gradient.
TEST(EmbeddingBag, Maximum) {
  const Given table{kFp32, {3, 2}, {0, 0, 7, -1, 5, -1}};
  const Given indices{DType::int64, {2}, {2, 1}};
  AttrTexts attrs = {{"mode", "max"}};
  EXPECT_THAT(agreed_values("embedding_bag", {table, indices, offsets({0, 2})}, attrs),
              ElementsAre(7, -1, 0, 0));
  attrs["num_weights"] = "3";
  const Given dy{kFp32, {2, 2}, {3, 4, 5, 6}};
  EXPECT_THAT(agreed_values("embedding_bag_grad", {dy, indices, offsets({0, 2}), table}, attrs),
              ElementsAre(0, 0, 3, 0, 0, 4));
}

TEST(EmbeddingBag, WeightsOfIndices) {
  const Given weights{kFp32, {3}, {0.5, 2, 4}};
  EXPECT_THAT(agreed_values("embedding_bag", {kBagTable, kIndices, offsets({0, 2}), weights},
                            {{"mode", "sum"}}),
              ElementsAre(50 + 2, 100 + 4, 400, 800));
  const Given dy{kFp32, {2, 2}, {1, 2, 3, 4}};
  EXPECT_THAT(agreed_values("embedding_bag_weights_grad",
                            {dy, kBagTable, kIndices, offsets({0, 2})}, {{"padding_idx", "0"}}),
              ElementsAre(500, 0, 1100));
  EXPECT_THAT(
      [&] {
        agreed_values("embedding_bag", {kBagTable, kIndices, offsets({0, 2}), weights});
      },
      ThrowsMessage<Error>(HasSubstr("'per_sample_weights' needs mode sum, found mean")));
}

TEST(EmbeddingBag, Shapes) {
  const auto bag_shape = [](const char* op, const std::vector<Dims>& shapes) {
    return problem_with(find_op(op), shapes, {}, kFp32).outputs[0].shape;
  };
  EXPECT_EQ(bag_shape("embedding_bag", {{7, 3}, {5}, {2}}), (Dims{2, 3}));
  EXPECT_EQ(bag_shape("embedding_bag_grad", {{2, 3}, {5}, {2}}), (Dims{256, 3}));
  EXPECT_THAT(
      [&] {
        bag_shape("embedding_bag", {{7}, {5}, {2}});
      },
      ThrowsMessage<Error>(HasSubstr("'weight' has shape 7; allowed: [rows, columns]")));
  EXPECT_THAT(
      [&] {
        bag_shape("embedding_bag", {{7, 3}, {5, 1}, {2}});
      },
      ThrowsMessage<Error>(HasSubstr("allowed: one axis each")));
  EXPECT_THAT(
      [&] {
        bag_shape("embedding_bag_grad", {{3, 3}, {5}, {2}});
      },
      ThrowsMessage<Error>(HasSubstr("'grad_output' has shape 3x3; allowed: [2, columns]")));
}

TEST(EmbeddingBag, ChecksIndicesAndOffsets) {
  const auto refused = [](const Given& indices, const std::vector<double>& places,
                          const char* text) {
    EXPECT_THAT(
        [&] {
          agreed_values("embedding_bag", {kBagTable, indices, offsets(places)});
        },
        ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused({DType::int64, {1}, {3}}, {0}, "indices");
  refused(kIndices, {1, 2}, "'offsets' has 1 after 0");
  refused(kIndices, {0, 2, 1}, "'offsets' has 1 after 2");
  refused(kIndices, {0, 4}, "at most 3");
  EXPECT_THAT(
      [] {
        agreed_values("embedding_bag", {kBagTable, kIndices, offsets({0, 2})},
                      {{"include_last_offset", "true"}});
      },
      ThrowsMessage<Error>(HasSubstr("'offsets' ends with 2; allowed: 3")));
}

}  // namespace opbench
