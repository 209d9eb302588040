#include "profiles/profiled_case.h"

#include <gmock/gmock.h>

#include "tests/profiles/network_calls.h"

namespace opbench {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

BuiltCase build(const ProfiledOperator& one) {
  return build_case(one, LogicalShapes(), OpTable::profiled());
}

std::string key_of(const BuiltCase& built) {
  return built.spec ? case_key(*built.spec) : "none: " + built.obstacle;
}

TEST(ProfiledCase, OfAnOperatorWithoutAttributes) {
  const BuiltCase built = build(profiled("Add", nd("4,8;4,8"), nd("4,8")));
  EXPECT_EQ(key_of(built), "add[4x8,4x8,fp32,ND]");
  EXPECT_TRUE(built.are_attrs_known);
  EXPECT_THAT(built.notes, IsEmpty());
  EXPECT_THAT(built.inputs, ElementsAre(0U, 1U));
  EXPECT_THAT(built.outputs, ElementsAre(0U));
}

TEST(ProfiledCase, TakesLoggedAttributes) {
  ProfiledOperator one = profiled("SoftmaxV2", nd("4,8"), nd("4,8"));
  one.attrs = NamedNumbers{{"axes", {0}}};
  const BuiltCase built = build(one);
  EXPECT_EQ(key_of(built), "softmax[4x8,fp32,ND,dim=0]");
  EXPECT_TRUE(built.are_attrs_known);
  EXPECT_THAT(built.notes, IsEmpty());
}

// A kernel of 3x3 on 8x8 needs a padding of 1 to give 8x8. No other padding does.
TEST(ProfiledCase, GuessesAttributesThatFitTheShapes) {
  const BuiltCase built =
      build(profiled("Conv2D", tensors_of("1,4,8,8;6,4,3,3", "FLOAT;FLOAT", "NCHW;NCHW"),
                     tensors_of("1,6,8,8", "FLOAT", "NCHW")));
  EXPECT_EQ(key_of(built), "conv2d[1x4x8x8,6x4x3x3,fp32,NCHW,stride=[1,1],padding=[1,1]]");
  EXPECT_FALSE(built.are_attrs_known);
  EXPECT_THAT(built.notes, Contains(StartsWith("attributes unknown; these fit the shapes: ")));
}

// A stride of 2 gives 4x4 instead of 8x8. Attributes that contradict the outputs give no case.
TEST(ProfiledCase, WhoseAttributesContradictTheOutputsIsNone) {
  ProfiledOperator one =
      profiled("Conv2D", tensors_of("1,4,8,8;6,4,3,3", "FLOAT;FLOAT", "NCHW;NCHW"),
               tensors_of("1,6,8,8", "FLOAT", "NCHW"));
  one.attrs =
      NamedNumbers{{"strides", {2, 2}}, {"pads", {1, 1}}, {"dilations", {1, 1}}, {"groups", {1}}};
  EXPECT_THAT(key_of(build(one)), StartsWith("none: "));
}

// One block of 16 may hold fewer than 16 channels.
TEST(ProfiledCase, SaysWhereChannelsAreABound) {
  const auto blocks = tensors_of("1,1,4,4,16", "FLOAT16", "NC1HWC0");
  const BuiltCase built = build(profiled("Relu", blocks, blocks));
  EXPECT_EQ(key_of(built), "relu[1x16x4x4,fp16,NC1HWC0]");
  EXPECT_THAT(
      built.notes,
      ElementsAre("NC1HWC0 of 1x1x4x4x16 is read as 1x16x4x4: an upper bound of the channels"));
}

TEST(ProfiledCase, SaysWhyThereIsNone) {
  EXPECT_EQ(key_of(build(profiled("Unheard", nd("4"), nd("4")))),
            "none: no operator of that name is known");
  EXPECT_THAT(
      build(profiled("Add", tensors_of("4;4", "FLOAT;COMPLEX64", "ND;ND"), nd("4"))).obstacle,
      StartsWith("input 1: "));
  EXPECT_EQ(build(profiled("Relu", tensors_of("18,1,16,16", "FLOAT16", "FRACTAL_Z"),
                           tensors_of("18,1,16,16", "FLOAT16", "FRACTAL_Z")))
                .obstacle,
            "input 0: the logical shape of FRACTAL_Z 18x1x16x16 is not known");
  EXPECT_THAT(key_of(build(profiled("Add", nd("4,8;5,8"), nd("4,8")))), StartsWith("none: "));
}

// Random results cannot be compared.
TEST(ProfiledCase, OfRandomResultsIsDropped) {
  const BuiltCase built = build(profiled("DropOutGenMask", nd("4;1"), nd("4")));
  EXPECT_TRUE(built.is_dropped) << built.obstacle;
  EXPECT_EQ(built.obstacle, "random");
}

// Axis 1 of 4x8 is summed, so 4 stands for 4x1.
TEST(ProfiledCase, OfASumKeepsItsAxes) {
  ProfiledOperator one = profiled("ReduceSumD", nd("4,8"), nd("4"));
  EXPECT_EQ(key_of(build(one)), "sum_to_size[4x8,fp32,ND,size=[4,1]]");
  ProfiledOperator square = profiled("ReduceSumD", nd("4,4"), nd("4"));
  square.attrs = NamedNumbers{{"axes", {-2}}};
  EXPECT_EQ(key_of(build(square)), "sum_to_size[4x4,fp32,ND,size=[1,4]]");
  square.attrs = NamedNumbers{{"axes", {1}}};
  EXPECT_EQ(key_of(build(square)), "sum_to_size[4x4,fp32,ND,size=[4,1]]");
}

TEST(ProfiledCase, KnowsConversionsByTypeAndFormats) {
  const auto plain = tensors_of("1,16,4,4", "FLOAT", "NCHW");
  const auto blocks = tensors_of("1,1,4,4,16", "FLOAT", "NC1HWC0");
  EXPECT_TRUE(is_conversion(profiled("TransData", plain, blocks)));
  EXPECT_TRUE(is_conversion(profiled("Identity", blocks, plain)));
  EXPECT_FALSE(is_conversion(profiled("Identity", plain, plain)));
  EXPECT_FALSE(is_conversion(profiled("Identity", plain, tensors_of("1,4,4,16", "FLOAT", "NHWC"))));
  EXPECT_FALSE(is_conversion(profiled("Relu", plain, blocks)));
  EXPECT_FALSE(is_conversion(profiled("TransData", plain, {})));
}

}  // namespace
}  // namespace opbench
