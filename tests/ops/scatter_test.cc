#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/ops/values.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

namespace {

Given indices(const Dims& shape, const std::vector<double>& values) {
  return {DType::int64, shape, values};
}

std::vector<double> reduced(const char* reduce, const char* include_self) {
  return agreed_values("scatter",
                       {{kFp32, {3}, {2, 2, 3}}, indices({3}, {0, 2, 0}), {kFp32, {3}, {4, 5, 6}}},
                       {{"reduce", reduce}, {"include_self", include_self}});
}

}  // namespace

// Source: torch.scatter_reduce.
TEST(Scatter, ReducesWithAndWithoutSelf) {
  EXPECT_THAT(reduced("add", "true"), ElementsAre(12, 2, 8));
  EXPECT_THAT(reduced("add", "false"), ElementsAre(10, 2, 5));
  EXPECT_THAT(reduced("prod", "true"), ElementsAre(48, 2, 15));
  EXPECT_THAT(reduced("mean", "false"), ElementsAre(5, 2, 5));
  EXPECT_THAT(reduced("mean", "true"), ElementsAre(4, 2, 4));
  EXPECT_THAT(reduced("amax", "true"), ElementsAre(6, 2, 5));
  EXPECT_THAT(reduced("amin", "true"), ElementsAre(2, 2, 3));
  EXPECT_THAT(reduced("amin", "false"), ElementsAre(4, 2, 5));
  EXPECT_THAT([] { reduced("update", "true"); },
              ThrowsMessage<Error>(HasSubstr("rows 0 and 2 of 'src' differ and go to one place")));
}

// The index is shorter than the source; elements outside of it are not used.
TEST(Scatter, AlongAnAxis) {
  EXPECT_THAT(agreed_values("scatter",
                            {{kFp32, {2, 3}, {0, 0, 0, 0, 0, 0}},
                             indices({1, 2}, {2, 2}),
                             {kFp32, {2, 2}, {1, 2, 3, 4}}},
                            {{"dim", "1"}}),
              ElementsAre(0, 0, 3, 0, 0, 0));
  EXPECT_THAT(agreed_values(
                  "scatter",
                  {{DType::int8, {2}, {127, 0}}, indices({2}, {0, 0}), {DType::int8, {2}, {1, 1}}}),
              ElementsAre(-127, 0));
}

TEST(Scatter, NamesWhatItRefuses) {
  EXPECT_THAT(
      [] {
        problem_with(find_op("scatter"), {{2, 3}, {3, 4}, {3, 4}}, {}, DType::fp32);
      },
      ThrowsMessage<Error>(HasSubstr("'index' has shape 3x4; allowed: at most 3x4 of 'src', and "
                                     "at most 2x3 of 'self' except along axis 0")));
  EXPECT_THAT(
      [] {
        attrs_of(find_op("scatter"), {{"reduce", "sum"}});
      },
      ThrowsMessage<Error>(HasSubstr("one of update, add, prod, mean, amax, amin")));
}

TEST(IndexPut, ByHand) {
  const Given x{kFp32, {2, 3}, {0, 1, 2, 3, 4, 5}};
  EXPECT_THAT(agreed_values("index_put", {x, {kFp32, {1, 3}, {7, 8, 9}}, indices({1}, {-1})}),
              ElementsAre(0, 1, 2, 7, 8, 9));
  EXPECT_THAT(agreed_values("index_put",
                            {x, {kFp32, {2}, {10, 20}}, indices({2}, {1, 1}), indices({1}, {2})},
                            {{"accumulate", "true"}}),
              ElementsAre(0, 1, 2, 3, 4, 35));
  EXPECT_THAT(
      agreed_values("index_put", {x, {kFp32, {2, 1}, {8, 9}}, indices({1}, {0})}, {{"axis", "1"}}),
      ElementsAre(8, 1, 2, 9, 4, 5));
  EXPECT_THAT(
      [&] {
        agreed_values("index_put", {x, {kFp32, {2}, {8, 9}}, indices({1}, {0})});
      },
      ThrowsMessage<Error>(HasSubstr("'values' has shape 2; allowed: 1x3")));
}

TEST(ScatterNdUpdate, ByHand) {
  const Given x{kFp32, {2, 3}, {0, 1, 2, 3, 4, 5}};
  EXPECT_THAT(
      agreed_values("scatter_nd_update", {x, indices({1, 1}, {1}), {kFp32, {1, 3}, {7, 8, 9}}}),
      ElementsAre(0, 1, 2, 7, 8, 9));
  EXPECT_THAT(
      agreed_values("scatter_nd_update", {x, indices({2, 2}, {1, 2, 0, 0}), {kFp32, {2}, {7, 8}}}),
      ElementsAre(8, 1, 2, 3, 4, 7));
  EXPECT_THAT(
      [&] {
        agreed_values("scatter_nd_update", {x, indices({1, 2}, {1, 3}), {kFp32, {1}, {7}}});
      },
      ThrowsMessage<Error>(HasSubstr("indices[..., 1][0] is 3; allowed: 0 to 2")));
}

}  // namespace opbench
