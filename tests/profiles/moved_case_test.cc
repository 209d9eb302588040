#include <gmock/gmock.h>

#include "profiles/profiled_case.h"
#include "tests/profiles/network_calls.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

BuiltCase moved(const ProfiledOperator& one) {
  BuiltCase built;
  EXPECT_TRUE(build_moved_case(one, built)) << one.type;
  return built;
}

BuiltCase moved(const std::string& type, const std::string& x, const std::string& y,
                NamedNumbers attrs = {}) {
  ProfiledOperator one = profiled(type, nd(x), nd(y));
  if (!attrs.empty()) one.attrs = std::move(attrs);
  return moved(one);
}

std::string id_of(const BuiltCase& built) {
  return built.spec ? case_id(*built.spec) : "none: " + built.obstacle;
}

TEST(MovedCase, IsOnlyOfOperatorsThatMove) {
  BuiltCase built;
  EXPECT_FALSE(build_moved_case(profiled("Relu", nd("4,8"), nd("4,8")), built));
  EXPECT_FALSE(build_moved_case(profiled("Identity", nd("4,8"), nd("4,8")), built));
  EXPECT_FALSE(built.spec);
  EXPECT_EQ(moved(profiled("Slice", {}, nd("2"))).obstacle, "shapes unknown");
}

// The offsets and the shape of the result state the slice. An axis that is taken whole needs no
// step.
TEST(MovedCase, OfASliceIsWhereItsOffsetsSay) {
  const BuiltCase built = moved("Slice", "8,9", "2,9", {{"offsets", {3, 0}}, {"size", {2, 9}}});
  EXPECT_EQ(id_of(built), "contiguous[8x9,fp32,ND,view=slice(0,3,2,1)]");
  EXPECT_TRUE(built.are_attrs_known);
  EXPECT_THAT(built.notes, IsEmpty());
  // Rows 7 and 8 of 8 rows exceed the tensor.
  EXPECT_ANY_THROW(moved("Slice", "8,9", "2,9", {{"offsets", {7, 0}}}));
}

TEST(MovedCase, OfASliceWithoutOffsetsBeginsAtTheFirstElement) {
  const BuiltCase built = moved("SliceD", "8,9", "2,3");
  EXPECT_EQ(id_of(built), "contiguous[8x9,fp32,ND,view=slice(1,0,3,1).slice(0,0,2,1)]");
  EXPECT_FALSE(built.are_attrs_known);
  EXPECT_THAT(built.notes, ElementsAre("attributes unknown: taken from the first element on"));
  EXPECT_EQ(id_of(moved("Slice", "2,3", "4,3")), "none: its offsets and sizes are not known");
}

// Axis 0 gives 1, 3, 5, 7 of 8, because end_mask 1 ignores its end: ceil((8 - 1) / 2) = 4. On axis
// 1, -1 is 8, and shrink_axis_mask 2 drops the axis.
TEST(MovedCase, OfAStridedSliceFollowsItsMasks) {
  const NamedNumbers attrs = {{"begin", {1, -1}},
                              {"end", {0, 9}},
                              {"strides", {2, 1}},
                              {"end_mask", {1}},
                              {"shrink_axis_mask", {2}}};
  EXPECT_EQ(id_of(moved("StridedSliceD", "8,9", "4", attrs)),
            "contiguous[8x9,fp32,ND,view=select(1,8).slice(0,1,4,2)]");
  // begin_mask 1 begins at 0, which also gives ceil(8 / 2) = 4 elements.
  NamedNumbers from_0 = attrs;
  from_0["begin_mask"] = {1};
  EXPECT_EQ(id_of(moved("StridedSlice", "8,9", "4", from_0)),
            "contiguous[8x9,fp32,ND,view=select(1,8).slice(0,0,4,2)]");
  // An end beyond the tensor becomes the end of the tensor: 6 and 7 of 8.
  EXPECT_EQ(id_of(moved("StridedSlice", "8", "2", {{"begin", {-2}}, {"end", {100}}})),
            "contiguous[8,fp32,ND,view=slice(0,6,2,1)]");
}

// Negative steps, new axes, and a begin and end of different lengths are not supported. Only the
// shapes are used.
TEST(MovedCase, OfAStridedSliceThatIsNotReadGoesByItsShapes) {
  const auto is_known = [](const NamedNumbers& attrs) {
    return moved("StridedSlice", "8", "4", attrs).are_attrs_known;
  };
  EXPECT_TRUE(is_known({{"begin", {0}}, {"end", {4}}}));
  EXPECT_FALSE(is_known({{"begin", {3}}, {"end", {-9}}, {"strides", {-1}}}));
  EXPECT_FALSE(is_known({{"begin", {0}}, {"end", {4}}, {"new_axis_mask", {1}}}));
  EXPECT_FALSE(is_known({{"begin", {0}}, {"end", {4}}, {"ellipsis_mask", {1}}}));
  EXPECT_FALSE(is_known({{"begin", {0}}, {"end", {4, 4}}}));
  EXPECT_FALSE(is_known({{"begin", {8}}, {"end", {8}}}));
}

// begin 1 to end 4 of 8 are 3 elements, but 4 are recorded.
TEST(MovedCase, OfAViewThatGivesAnotherShapeIsNone) {
  EXPECT_EQ(id_of(moved("StridedSlice", "8", "4", {{"begin", {1}}, {"end", {4}}})),
            "none: slice(0,1,3,1) of 8 is not 4");
}

TEST(MovedCase, OfAsStridedNeedsItsStrides) {
  EXPECT_EQ(id_of(moved("AsStrided", "4,6", "3,2",
                        {{"size", {3, 2}}, {"stride", {1, 6}}, {"storage_offset", {2}}})),
            "contiguous[4x6,fp32,ND,view=as_strided([3,2],[1,6],2)]");
  EXPECT_EQ(id_of(moved("AsStrided", "4,6", "3,2", {{"size", {3, 2}}})),
            "none: its strides are not known");
}

TEST(MovedCase, OfABroadcastRepeatsAxesOfOneElement) {
  EXPECT_EQ(id_of(moved("BroadcastTo", "1,3", "5,3")),
            "contiguous[1x3,fp32,ND,view=broadcast(5,3)]");
  EXPECT_ANY_THROW(moved("Tile", "2,3", "4,3"));
}

// 9 = 2 + 3 + 4 along axis 1. The operand of one element is the axis and is not split.
TEST(MovedCase, OfASplitHasTheSizesOfItsOutputs) {
  const BuiltCase built = moved("Split", "1;4,9", "4,2;4,3;4,4");
  EXPECT_EQ(id_of(built), "split[4x9,fp32,ND,axis=1,sizes=[2,3,4],chunks=2]");
  EXPECT_THAT(built.inputs, ElementsAre(1U));
  EXPECT_THAT(built.outputs, ElementsAre(0U, 1U, 2U));
  EXPECT_EQ(id_of(moved("SplitD", "4,9", "4,2;3,9")), "none: the axis of the split is not known");
  EXPECT_EQ(id_of(moved("SplitD", "4,9", "3,2")), "none: the axis of the split is not known");
}

// 20 channels are 2 blocks of 16. The plain side states the number of channels.
TEST(MovedCase, OfAConversionTakesTheShapeOfItsPlainSide) {
  const auto plain = tensors_of("1,20,8,8", "FLOAT16", "NCHW");
  const auto blocks = tensors_of("1,2,8,8,16", "FLOAT16", "NC1HWC0");
  EXPECT_EQ(id_of(moved(profiled("TransData", plain, blocks))),
            "trans_data[1x20x8x8,fp16,NCHW,dst_format=NC1HWC0,c0=0,groups=1]");
  EXPECT_EQ(id_of(moved(profiled("TransData", blocks, plain))),
            "trans_data[1x20x8x8,fp16,NC1HWC0,dst_format=NCHW,c0=0,groups=1]");
  EXPECT_EQ(id_of(moved(profiled("Identity", plain, blocks))),
            "trans_data[1x20x8x8,fp16,NCHW,dst_format=NC1HWC0,c0=0,groups=1]");
  // 20 channels are 3 blocks of 8, because the innermost extent is 8.
  const auto eights = tensors_of("1,3,8,8,8", "FLOAT", "NC1HWC0");
  EXPECT_EQ(id_of(moved(profiled("TransData", tensors_of("1,20,8,8", "FLOAT", "NCHW"), eights))),
            "trans_data[1x20x8x8,fp32,NCHW,dst_format=NC1HWC0,c0=8,groups=1]");
  // fp16 has blocks of 16 in opbench. The note states the difference.
  const auto half = tensors_of("1,3,8,8,8", "FLOAT16", "NC1HWC0");
  EXPECT_THAT(moved(profiled("TransData", plain, half)).notes, ElementsAre("C0 is 8, and 16 here"));
}

TEST(MovedCase, SaysWhyATensorIsNoOperand) {
  const BuiltCase dtype = moved(profiled("Slice", tensors_of("8", "COMPLEX64", "ND"), nd("2")));
  EXPECT_THAT(dtype.obstacle, HasSubstr("COMPLEX64"));
  const auto fractal = tensors_of("18,1,16,16", "FLOAT16", "FRACTAL_Z");
  EXPECT_EQ(moved(profiled("Slice", fractal, nd("2"))).obstacle,
            "the logical shape of FRACTAL_Z 18x1x16x16 is not known");
}

}  // namespace
}  // namespace opbench
