#include <gmock/gmock.h>

#include "ops/reduction.h"
#include "tensor/error.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::ThrowsMessage;

/// Attributes that name these axes. `keeps` keeps them as 1.
Attrs reducing(const std::vector<std::int64_t>& axes, bool keeps) {
  Attrs attrs(reduce_attrs());
  attrs.put("axes", axes);
  attrs.put("keep_dims", keeps);
  return attrs;
}

const Dims kShape = {2, 3, 4};

}  // namespace

// -1 is the last axis. An empty list means all axes.
TEST(ReduceAxes, AreThoseThatAreNamed) {
  EXPECT_THAT(reduced_axes("op", kShape, reducing({1}, false)), ElementsAre(false, true, false));
  EXPECT_THAT(reduced_axes("op", kShape, reducing({-1, 0}, false)), ElementsAre(true, false, true));
  EXPECT_THAT(reduced_axes("op", kShape, reducing({}, false)), ElementsAre(true, true, true));
}

TEST(ReduceAxes, OutOfRangeOrNamedTwiceAreRefused) {
  for (const std::vector<std::int64_t>& axes :
       {std::vector<std::int64_t>{3}, {-4}, {1, 1}, {1, -2}}) {
    EXPECT_THAT([&] { reduced_axes("reduce_mean", kShape, reducing(axes, false)); },
                ThrowsMessage<Error>(HasSubstr("reduce_mean")));
  }
}

TEST(ReduceAxes, LeaveTheOthers) {
  EXPECT_EQ(reduced_shape("op", kShape, reducing({1}, false)), (Dims{2, 4}));
  EXPECT_EQ(reduced_shape("op", kShape, reducing({1}, true)), (Dims{2, 1, 4}));
  EXPECT_EQ(reduced_shape("op", kShape, reducing({}, false)), Dims{});
  EXPECT_EQ(reduced_count("op", kShape, reducing({0, 2}, false)), 8);
  EXPECT_EQ(reduced_count("op", kShape, reducing({}, false)), 24);
}

// 2x3x4 without axis 1 is 2x4. A step along axis 0 is 4 elements, a step along axis 2 is 1 element.
TEST(ReduceAxes, StepsInTheResultLeaveReducedAxesOut) {
  EXPECT_THAT(strides_in_result(kShape, {false, true, false}), ElementsAre(4, 0, 1));
  EXPECT_THAT(strides_in_result(kShape, {true, true, true}), ElementsAre(0, 0, 0));
}

// 0 1 2, 3 4 5: the rows sum to 3 and 12, the columns to 3, 5 and 7, all to 15.
TEST(ReduceAxes, SumsByHand) {
  const float values[] = {0, 1, 2, 3, 4, 5};
  const TensorDesc desc = describe(DType::fp32, {2, 3});
  const InputReader reader(desc, values);
  EXPECT_THAT(sums_over(reader, {false, true}), ElementsAre(3, 12));
  EXPECT_THAT(sums_over(reader, {true, false}), ElementsAre(3, 5, 7));
  EXPECT_THAT(sums_over(reader, {true, true}), ElementsAre(15));
}

// The shapes are aligned at the last axis: [3, 1] lacks axis 0 and has extent 1 for axis 2.
TEST(ReduceAxes, OfASizeAreThoseThatItLacks) {
  EXPECT_THAT(summed_axes("op", kShape, {3, 1}), ElementsAre(true, false, true));
  EXPECT_THAT(summed_axes("op", kShape, {2, 3, 4}), ElementsAre(false, false, false));
  EXPECT_THAT(summed_axes("op", kShape, {}), ElementsAre(true, true, true));
  EXPECT_THROW(summed_axes("op", kShape, {2, 1}), Error);
  EXPECT_THROW(summed_axes("op", kShape, {1, 2, 3, 4}), Error);
}

}  // namespace opbench
