#include "tensor/format.h"

#include <gmock/gmock.h>

#include <map>
#include <string>

#include "tensor/error.h"

namespace opbench {

using testing::HasSubstr;

// Source: aclFormat in CANN's acl_base.h.
TEST(Format, AscendNumbersAndNames) {
  const std::map<std::string, int> numbers = {{"NCHW", 0},      {"NHWC", 1},         {"ND", 2},
                                              {"NC1HWC0", 3},   {"FRACTAL_Z", 4},    {"HWCN", 16},
                                              {"NDHWC", 27},    {"FRACTAL_NZ", 29},  {"NCDHW", 30},
                                              {"NDC1HWC0", 32}, {"FRACTAL_Z_3D", 33}};
  EXPECT_EQ(kAllFormats.size(), numbers.size());
  for (const Format format : kAllFormats) {
    const std::string text(name(format));
    ASSERT_TRUE(numbers.contains(text)) << text;
    EXPECT_EQ(static_cast<int>(format), numbers.at(text));
    EXPECT_EQ(parse_format(text), format);
    EXPECT_EQ(parse_format(std::to_string(numbers.at(text))), format);
  }
}

TEST(Format, ShortNames) {
  EXPECT_EQ(parse_format("5HD"), Format::NC1HWC0);
  EXPECT_EQ(parse_format("6HD"), Format::NDC1HWC0);
  EXPECT_EQ(parse_format("FZ"), Format::FRACTAL_Z);
  EXPECT_EQ(parse_format("NZ"), Format::FRACTAL_NZ);
}

TEST(Format, ErrorListsWhatIsAllowed) {
  for (const std::string text : {"", "nchw", "12", "-1", "3x", "5", "NC1HWC0 "}) {
    try {
      parse_format(text);
      ADD_FAILURE() << "accepted '" << text << "'";
    } catch (const Error& error) {
      EXPECT_THAT(error.what(), HasSubstr("NC1HWC0|5HD (3)"));
      EXPECT_THAT(error.what(), HasSubstr("FRACTAL_Z_3D (33)"));
    }
  }
}

// Source: the framework's choice for new tensors (OpPreparation.cpp of torch_npu 1.5).
TEST(Format, OriginFollowsRank) {
  for (const std::size_t rank : {0, 1, 2, 3, 6}) EXPECT_EQ(origin_format(rank), Format::ND) << rank;
  EXPECT_EQ(origin_format(4), Format::NCHW);
  EXPECT_EQ(origin_format(5), Format::NCDHW);
}

// Source: CANN op_tiling/trans_data.cc.
TEST(Format, DefaultC0) {
  for (const DType dtype : kAllDTypes) {
    EXPECT_EQ(default_c0(dtype), size_of(dtype) == 1 ? 32 : 16) << name(dtype);
  }
}

TEST(Format, PrivateOnesPad) {
  for (const Format format : kAllFormats) {
    const std::string text(name(format));
    const bool pads = text.find("C0") != text.npos || text.starts_with("FRACTAL");
    EXPECT_EQ(is_private(format), pads) << text;
  }
}

// Source of all storage shapes below: FormatHelper.cpp of torch_npu 1.5.
TEST(StorageDims, PlainFormats) {
  EXPECT_EQ(storage_dims(Format::ND, {2, 3, 4, 5, 6, 7}, 16), (Dims{2, 3, 4, 5, 6, 7}));
  EXPECT_EQ(storage_dims(Format::ND, {}, 16), Dims{});
  EXPECT_EQ(storage_dims(Format::NCHW, {2, 3, 4, 5}, 16), (Dims{2, 3, 4, 5}));
  EXPECT_EQ(storage_dims(Format::NCHW, {7}, 16), (Dims{1, 7, 1, 1}));
  EXPECT_EQ(storage_dims(Format::NHWC, {2, 3, 4, 5}, 16), (Dims{2, 4, 5, 3}));
  EXPECT_EQ(storage_dims(Format::HWCN, {2, 3, 4, 5}, 16), (Dims{4, 5, 3, 2}));
  EXPECT_EQ(storage_dims(Format::NCDHW, {2, 3, 4, 5, 6}, 16), (Dims{2, 3, 4, 5, 6}));
  EXPECT_EQ(storage_dims(Format::NDHWC, {2, 3, 4, 5, 6}, 16), (Dims{2, 4, 5, 6, 3}));
}

TEST(StorageDims, Nc1hwc0ExpandsLowRanks) {
  const auto stored = [](const Dims& logical) {
    return storage_dims(Format::NC1HWC0, logical, 16);
  };
  EXPECT_EQ(stored({}), (Dims{1, 1, 1, 1, 16}));
  EXPECT_EQ(stored({17}), (Dims{1, 2, 1, 1, 16}));
  EXPECT_EQ(stored({17, 5}), (Dims{1, 2, 5, 1, 16}));
  EXPECT_EQ(stored({17, 5, 6}), (Dims{1, 2, 5, 6, 16}));
  EXPECT_EQ(stored({2, 64, 5, 6}), (Dims{2, 4, 5, 6, 16}));
  EXPECT_EQ(stored({2, 0, 5, 6}), (Dims{2, 0, 5, 6, 16}));
  EXPECT_EQ(storage_dims(Format::NC1HWC0, {2, 33, 5, 6}, 32), (Dims{2, 2, 5, 6, 32}));
  EXPECT_EQ(storage_dims(Format::NC1HWC0, {2, 33, 5, 6}, 8), (Dims{2, 5, 5, 6, 8}));
}

TEST(StorageDims, Fractals) {
  EXPECT_EQ(storage_dims(Format::FRACTAL_Z, {33, 20, 3, 5}, 16), (Dims{2 * 3 * 5, 3, 16, 16}));
  EXPECT_EQ(storage_dims(Format::FRACTAL_Z, {20}, 16), (Dims{2, 1, 16, 16}));
  EXPECT_EQ(storage_dims(Format::FRACTAL_Z, {33, 40, 3, 5}, 32), (Dims{2 * 3 * 5, 3, 16, 32}));
  EXPECT_EQ(storage_dims(Format::FRACTAL_NZ, {17, 33}, 16), (Dims{3, 2, 16, 16}));
  EXPECT_EQ(storage_dims(Format::FRACTAL_NZ, {5, 6, 17, 33}, 32), (Dims{5, 6, 2, 2, 16, 32}));
  EXPECT_EQ(storage_dims(Format::FRACTAL_NZ, {17}, 16), (Dims{1, 2, 16, 16}));
  EXPECT_EQ(storage_dims(Format::FRACTAL_NZ, {}, 16), (Dims{1, 1, 16, 16}));
}

TEST(StorageDims, ThreeDimensionalFormats) {
  EXPECT_EQ(storage_dims(Format::NDC1HWC0, {2, 20, 4, 5, 6}, 16), (Dims{2, 4, 2, 5, 6, 16}));
  EXPECT_EQ(storage_dims(Format::FRACTAL_Z_3D, {33, 20, 4, 5, 6}, 16),
            (Dims{4 * 2 * 5 * 6, 3, 16, 16}));
}

// Source: format_transfer_fractal_z.cpp of CANN's TransData, computed by hand.
TEST(StorageDims, GroupedFractalZ) {
  const auto stored = [](const Dims& logical, int c0, int groups) {
    return storage_dims(Format::FRACTAL_Z, logical, c0, groups);
  };
  EXPECT_EQ(stored({33, 20, 3, 5}, 16, 1), storage_dims(Format::FRACTAL_Z, {33, 20, 3, 5}, 16));
  EXPECT_EQ(stored({6, 2, 3, 5}, 16, 3), (Dims{15, 1, 16, 16}));       // all groups together
  EXPECT_EQ(stored({48, 8, 3, 5}, 16, 3), (Dims{2 * 15, 2, 16, 16}));  // e = 2
  EXPECT_EQ(stored({64, 16, 1, 1}, 16, 4), (Dims{4, 1, 16, 16}));      // e = 1
  EXPECT_EQ(stored({40, 1, 3, 3}, 16, 40), (Dims{3 * 9, 1, 16, 16}));  // depthwise, e = 16
  EXPECT_EQ(stored({40, 1, 3, 3}, 8, 40), (Dims{3 * 2 * 9, 1, 16, 8}));
  EXPECT_EQ(stored({40, 1, 3, 3}, 32, 40), (Dims{2 * 9, 2, 16, 32}));  // e = 32
  EXPECT_EQ(stored({100, 3, 1, 1}, 8, 100), (Dims{7 * 6, 1, 16, 8}));  // e = 16, 48 channels
  EXPECT_EQ(stored({0, 3, 1, 1}, 16, 4), (Dims{1, 0, 16, 16}));
  EXPECT_EQ(storage_dims(Format::NC1HWC0, {6, 20, 3, 5}, 16, 4), (Dims{6, 2, 3, 5, 16}));
}

TEST(StorageDims, RejectsGroupsThatDoNotDivideN) {
  for (const int groups : {0, -1, 4}) {
    EXPECT_THAT(
        [&] {
          storage_dims(Format::FRACTAL_Z, {6, 2, 3, 3}, 16, groups);
        },
        testing::ThrowsMessage<Error>(
            HasSubstr(std::to_string(groups) + " groups of N = 6; allowed: a positive number")));
  }
  EXPECT_THROW(storage_dims(Format::FRACTAL_Z, {20}, 16, 2), Error);
  EXPECT_THROW(storage_dims(Format::FRACTAL_Z, {64, std::int64_t{1} << 60, 1, 1}, 16, 64), Error);
}

TEST(StorageDims, RejectsWhatDoesNotFit) {
  EXPECT_THROW(storage_dims(Format::NC1HWC0, {1, 2, 3, 4, 5}, 16), Error);
  EXPECT_THROW(storage_dims(Format::NHWC, {1, 2, 3}, 16), Error);
  EXPECT_THROW(storage_dims(Format::NDC1HWC0, {1, 2, 3, 4}, 16), Error);
  EXPECT_THROW(storage_dims(Format::NC1HWC0, {1, 2, 3, 4}, 0), Error);
  EXPECT_THROW(storage_dims(Format::NC1HWC0, {1, -2, 3, 4}, 16), Error);
  EXPECT_THROW(storage_dims(Format::NC1HWC0, {std::int64_t{1} << 60, 1, 1, 1}, 16), Error);
  EXPECT_THROW(storage_dims(Format::FRACTAL_Z, {1, 1, std::int64_t{1} << 62, 1}, 16), Error);
}

TEST(ExpandToNchw, RejectsHigherRanks) {
  EXPECT_EQ(expand_to_nchw({3, 4}), (Dims{1, 3, 4, 1}));
  EXPECT_THROW(expand_to_nchw({1, 1, 1, 1, 1}), Error);
}

}  // namespace opbench
