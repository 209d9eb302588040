#include "tensor/element_map.h"

#include <gmock/gmock.h>

#include <set>

#include "tensor/error.h"
#include "tests/tensor/definition.h"

namespace opbench {
namespace {

TensorDesc stored_as(Format format, const Dims& shape, int c0 = 16, int groups = 1) {
  TensorDesc desc = describe(DType::fp16, shape, format);
  desc.c0 = c0;
  desc.groups = groups;
  return desc;
}

std::int64_t at(const TensorDesc& desc, const Dims& indices) {
  return offset(element_map(desc), indices);
}

std::int64_t grouped(const Dims& shape, int c0, int groups, const Dims& indices) {
  return at(stored_as(Format::FRACTAL_Z, shape, c0, groups), indices);
}

/// `indices` in the form of the map, with indices for the extents that the format adds.
Dims expanded(const TensorDesc& desc, Dims indices, std::size_t axes) {
  if (desc.format != Format::FRACTAL_NZ && indices.size() < axes) {
    indices.insert(indices.begin(), 0);
  }
  indices.resize(axes, 0);
  return indices;
}

}  // namespace

// By hand, from the axis orders of trans_data_format_rule.py (CANN).
TEST(ElementMap, PlainFormats) {
  EXPECT_EQ(at(stored_as(Format::ND, {2, 3}), {1, 2}), 5);
  EXPECT_EQ(at(stored_as(Format::ND, {}), {}), 0);
  EXPECT_EQ(at(stored_as(Format::NCHW, {2, 20, 3, 5}), {1, 17, 2, 4}), 569);  // (37*3 + 2)*5 + 4
  EXPECT_EQ(at(stored_as(Format::NCHW, {7}), {0, 6, 0, 0}), 6);
  EXPECT_EQ(at(stored_as(Format::NHWC, {2, 20, 3, 5}), {1, 17, 2, 4}), 597);  // 29*20 + 17
  EXPECT_EQ(at(stored_as(Format::HWCN, {2, 20, 3, 5}), {1, 17, 2, 4}), 595);  // (14*20 + 17)*2 + 1
  EXPECT_EQ(at(stored_as(Format::NCDHW, {2, 3, 4, 5, 6}), {1, 2, 3, 4, 5}), 719);
  // ((((1*4 + 2)*5 + 3)*6 + 4)*3 + 1.
  EXPECT_EQ(at(stored_as(Format::NDHWC, {2, 3, 4, 5, 6}), {1, 1, 2, 3, 4}), 607);
}

TEST(ElementMap, Nc1hwc0AndNdc1hwc0) {
  const Dims images = {2, 20, 3, 5}, index = {1, 17, 2, 4};
  // (((1*2 + 1)*3 + 2)*5 + 4)*16 + 1. With C0 = 8: (((1*3 + 2)*3 + 2)*5 + 4)*8 + 1. With C0 = 32,
  // C1 is 1.
  EXPECT_EQ(at(stored_as(Format::NC1HWC0, images), index), 945);
  EXPECT_EQ(at(stored_as(Format::NC1HWC0, images, 8), index), 713);
  EXPECT_EQ(at(stored_as(Format::NC1HWC0, images, 32), index), 945);
  EXPECT_EQ(at(stored_as(Format::NC1HWC0, {20, 3}), {0, 17, 2, 0}), 81);  // (1*3 + 2)*16 + 1
  // ((((1*2 + 1)*2 + 1)*3 + 2)*5 + 4)*16 + 1.
  EXPECT_EQ(at(stored_as(Format::NDC1HWC0, {2, 20, 2, 3, 5}), {1, 17, 1, 2, 4}), 1905);
}

TEST(ElementMap, Fractals) {
  // ((1*15 + 14)*2 + 17/16)*256 + 1*16 + 1. With C0 = 8: ((2*15 + 14)*2 + 1)*128 + 1*8 + 1.
  EXPECT_EQ(at(stored_as(Format::FRACTAL_Z, {18, 20, 3, 5}), {17, 17, 2, 4}), 15121);
  EXPECT_EQ(at(stored_as(Format::FRACTAL_Z, {18, 20, 3, 5}, 8), {17, 17, 2, 4}), 11401);
  // (((1*2 + 1)*15 + 14)*2 + 1)*256 + 17.
  EXPECT_EQ(at(stored_as(Format::FRACTAL_Z_3D, {18, 20, 2, 3, 5}), {17, 17, 1, 2, 4}), 30481);
  // [3 blocks of n][2 of m][16][16]: (2*2 + 1)*256 + 1*16 + 3. With C0 = 32: (1*2 + 1)*512 + 32 +
  // 3.
  EXPECT_EQ(at(stored_as(Format::FRACTAL_NZ, {20, 40}), {17, 35}), 1299);
  EXPECT_EQ(at(stored_as(Format::FRACTAL_NZ, {20, 40}, 32), {17, 35}), 1571);
  EXPECT_EQ(at(stored_as(Format::FRACTAL_NZ, {3, 20, 40}), {2, 17, 35}), 2 * 1536 + 1299);
  EXPECT_EQ(at(stored_as(Format::FRACTAL_NZ, {20}), {17, 0}), 272);  // one column: 256 + 1*16
}

// By hand, from the formula in definition.h.
TEST(ElementMap, GroupedFractalZ) {
  // c = n = 2: e = min(lcm(8, 8), 3) = 3, one fractal. Group 2, row 1, channel 1: ci = co = 5.
  EXPECT_EQ(grouped({6, 2, 1, 2}, 16, 3, {5, 1, 0, 1}), 256 + 5 * 16 + 5);
  // c = 8, n = 16: e = 2, Cin_opt = 16, Cout_opt = 32, two blocks of 2 pixels.
  EXPECT_EQ(grouped({48, 8, 1, 2}, 16, 3, {19, 3, 0, 1}), 512 + (16 + 3) * 16 + 8 + 3);
  EXPECT_EQ(grouped({48, 8, 1, 2}, 16, 3, {35, 3, 0, 1}), 1024 + 512 + 3 * 16 + 3);
  // c = n = 16: e = 1, so every group has its own fractal.
  EXPECT_EQ(grouped({64, 16, 1, 1}, 16, 4, {50, 7, 0, 0}), 3 * 256 + 2 * 16 + 7);
  // Depthwise, c = n = 1: e = 16, so group 37 is group 5 of the third block, on the diagonal.
  EXPECT_EQ(grouped({40, 1, 3, 3}, 16, 40, {37, 0, 2, 1}), (2 * 9 + 7) * 256 + 5 * 16 + 5);
  // Depthwise with C0 = 8: e = lcm(8, 16) = 16, Cin_opt = 16, C1 = 2. ci = 13 is lane 5 of c1 = 1.
  EXPECT_EQ(grouped({40, 1, 3, 3}, 8, 40, {29, 0, 2, 1}), ((1 * 2 + 1) * 9 + 7) * 128 + 13 * 8 + 5);
  // c = 3, n = 2, C0 = 32: e = min(lcm(32, 8), 4) = 4. Group 3: ci = 9 + 2, co = 6 + 1.
  EXPECT_EQ(grouped({8, 3, 1, 1}, 32, 4, {7, 2, 0, 0}), 7 * 32 + 11);
  EXPECT_EQ(grouped({8, 3, 1, 1}, 16, 2, {7, 2, 0, 0}), 7 * 16 + 3 + 2);  // e = 2, group 1 of n = 4
}

TEST(ElementMap, EveryElementOfEveryStorageMatchesTheDefinition) {
  for (const Dims& shape : shapes_of_interest()) {
    for (const TensorDesc& desc : every_storage(DType::fp16, shape)) {
      const ElementMap map = element_map(desc);
      std::set<std::int64_t> seen;
      for (std::int64_t i = 0; i < desc.elements(); ++i) {
        const Dims indices = indices_of(shape, i);
        const std::int64_t found = offset(map, expanded(desc, indices, map.axes.size()));
        ASSERT_EQ(found, position_by_definition(desc, indices)) << to_string(desc) << " " << i;
        ASSERT_TRUE(found < desc.storage_elements() && seen.insert(found).second) << i;
      }
    }
  }
}

TEST(ElementMap, SaysWhichAxisIsCut) {
  const ElementMap blocked = element_map(stored_as(Format::NC1HWC0, {2, 20, 3, 5}));
  EXPECT_EQ(blocked.cut_axis, 1);
  EXPECT_EQ(blocked.axes[1], (MapAxis{20, 16, 240, 1}));
  EXPECT_EQ(blocked.axes[3], (MapAxis{5, 5, 0, 16}));
  EXPECT_EQ(element_map(stored_as(Format::FRACTAL_NZ, {4, 20, 40})).cut_axis, 2);
  EXPECT_EQ(element_map(stored_as(Format::NHWC, {2, 20, 3, 5})).cut_axis, -1);
  const ElementMap grouped = element_map(stored_as(Format::FRACTAL_Z, {48, 8, 1, 2}, 16, 3));
  EXPECT_EQ(grouped.axes[0], (MapAxis{48, 32, 1024, 16}));
  EXPECT_EQ(grouped.group_rows, 16);
  EXPECT_EQ(grouped.together, 2);
}

TEST(ElementMap, OriginFormatIsStoredAsItsShapeSays) {
  TensorDesc desc = describe(DType::fp32, {2, 5, 6, 3});
  desc.origin = desc.format = Format::NHWC;
  EXPECT_TRUE(is_row_major(desc));
  EXPECT_EQ(at(desc, {1, 4, 5, 2}), 179);
}

TEST(ElementMap, RejectsWhatDoesNotFit) {
  TensorDesc desc = describe(DType::fp16, {6, 2, 1, 2}, Format::FRACTAL_Z);
  desc.groups = 4;
  EXPECT_THAT([&] { element_map(desc); },
              testing::ThrowsMessage<Error>(testing::HasSubstr("4 groups of N = 6; allowed:")));
  desc.groups = 1;
  desc.c0 = 0;
  EXPECT_THROW(element_map(desc), Error);
  desc = describe(DType::fp16, {6, 2, 1});
  desc.format = Format::HWCN;
  EXPECT_THROW(element_map(desc), Error);
}

}  // namespace opbench
