#include <gmock/gmock.h>

#include <cmath>

#include "tensor/error.h"
#include "tests/on_tensors.h"
#include "tests/support.h"

namespace opbench {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsNan;
using testing::ThrowsMessage;

constexpr const char* kMaxVariants[] = {"native", "arg_max_with_value", "cast_fp32"};

// By hand: columns of [[3, -1], [3, 2], [1, 2]]. The first of equal elements is taken.
TEST(Max, FirstMaximumAlongEitherAxis) {
  const std::vector<Given> inputs = {{DType::int64, {3, 2}, {3, -1, 3, 2, 1, 2}}};
  for (const char* variant : kMaxVariants) {
    const Values rows = kernel_on_tensors("max", variant, inputs);
    EXPECT_THAT(rows[0], ElementsAre(3, 3, 2)) << variant;
    EXPECT_THAT(rows[1], ElementsAre(0, 0, 1)) << variant;
    const Values columns = kernel_on_tensors("max", variant, inputs, {{"axis", "0"}});
    EXPECT_THAT(columns[0], ElementsAre(3, 2)) << variant;
    EXPECT_THAT(columns[1], ElementsAre(0, 1)) << variant;
  }
  EXPECT_THAT(reference_of_tensors("max", inputs)[1], ElementsAre(0, 0, 1));
}

// torch takes the first NaN, whatever its sign; -0 equals +0.
TEST(Max, NanWinsAndZerosAreEqual) {
  const double nan = std::nan("");
  for (const DType dtype : {DType::fp64, DType::fp32, DType::fp16, DType::bf16}) {
    const std::vector<Given> inputs = {
        {dtype, {3, 4}, {1, -nan, 5, nan, -0.0, 0.0, -1, -2, -3, -2, -1, -4}}};
    for (const char* variant : {"native", "arg_max_with_value"}) {
      if (dtype == DType::fp64 && variant == kMaxVariants[1]) continue;
      const Values result = kernel_on_tensors("max", variant, inputs);
      EXPECT_THAT(result[0], ElementsAre(IsNan(), 0, -1)) << variant << ' ' << name(dtype);
      EXPECT_THAT(result[1], ElementsAre(1, 0, 2)) << variant << ' ' << name(dtype);
      EXPECT_TRUE(std::signbit(result[0][1])) << "the first zero";
    }
  }
}

// Lines are longer than 8 bits can count and longer than one piece, along both axes and with every
// instruction set.
TEST(Max, KernelsAgreeOnLongAxes) {
  std::vector<double> x(3000 * 37);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = double(i * 7919 % 251) - 124;
  on_every_isa([&] {
    for (const DType dtype : {DType::int8, DType::fp16, DType::fp32, DType::int64}) {
      for (const Dims& shape : {Dims{3000, 37}, Dims{37, 3000}, Dims{1500, 74}}) {
        const std::vector<Given> inputs = {{dtype, shape, x}};
        for (const char* axis : {"0", "1"}) {
          const Values expected = reference_of_tensors("max", inputs, {{"axis", axis}});
          for (const char* variant : kMaxVariants) {
            if (variant == kMaxVariants[2] && dtype != DType::int64) continue;
            if (variant == kMaxVariants[1] && dtype == DType::int8) continue;
            EXPECT_EQ(kernel_on_tensors("max", variant, inputs, {{"axis", axis}}, 2), expected)
                << variant << ' ' << name(dtype) << ' ' << to_string(shape) << " axis " << axis;
          }
        }
      }
    }
  });
}

// The types of ArgMaxWithValue on Ascend 910 and 910B.
TEST(Max, DeviceTakesNoShortIntegers) {
  const auto refused = [](DType dtype) {
    const Op& op = find_op("max");
    const Problem problem = make_problem(op, {describe(dtype, {2, 3})}, Attrs(op.attrs));
    return refusal(find_kernel("max", "arg_max_with_value"), problem);
  };
  for (const DType dtype : {DType::int64, DType::int32, DType::bf16}) EXPECT_EQ(refused(dtype), "");
  for (const DType dtype : {DType::int16, DType::int8, DType::uint8, DType::fp64}) {
    EXPECT_THAT(refused(dtype), HasSubstr("it takes fp32, fp16, bf16, int64, int32 only, found "));
  }
}

// 2^24 and 2^24 + 1 are equal in fp32, so the first is taken.
TEST(Max, CastToFp32TiesBeyondItsPrecision) {
  const std::vector<Given> inputs = {{DType::int64, {2}, {16777216, 16777217}}};
  EXPECT_THAT(kernel_on_tensors("max", "arg_max_with_value", inputs)[1], ElementsAre(1));
  EXPECT_THAT(kernel_on_tensors("max", "cast_fp32", inputs)[1], ElementsAre(0));
}

TEST(Max, ShapesOfTheOutputs) {
  const Op& op = find_op("max");
  const auto shape_of = [&](const AttrTexts& attrs) {
    const Problem problem =
        make_problem(op, {describe(DType::int64, {10, 20})}, attrs_of(op, attrs));
    EXPECT_EQ(problem.outputs[1].dtype, DType::int64);
    return problem.outputs[0].shape;
  };
  EXPECT_EQ(shape_of({}), (Dims{10}));
  EXPECT_EQ(shape_of({{"axis", "0"}}), (Dims{20}));
  EXPECT_EQ(shape_of({{"axis", "0"}, {"keep_dims", "true"}}), (Dims{1, 20}));
}

TEST(Max, NamesWhatItRefuses) {
  const Op& op = find_op("max");
  EXPECT_THAT(
      [&] {
        make_problem(op, {describe(DType::fp32, {2, 0})}, Attrs(op.attrs));
      },
      ThrowsMessage<Error>(HasSubstr("max: axis 1 of 'self' is empty in shape 2x0")));
  const Problem halves = make_problem(op, {describe(DType::fp16, {2})}, Attrs(op.attrs));
  EXPECT_EQ(refusal(find_kernel("max", "cast_fp32"), halves),
            "it takes int64, int32 only, found fp16");
}

}  // namespace opbench
