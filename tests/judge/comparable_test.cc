#include "judge/comparable.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/compare/comparison_support.h"

namespace opbench {
namespace {

using compare_tests::entry;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// Entries of the same shape in both dumps.
struct Pair {
  DumpEntry actual, expected;

  explicit Pair(const Dims& shape)
      : actual(entry("Op", "1", "output/y", DeviceType::npu, shape)),
        expected(entry("Op", "1", "output/y", DeviceType::cuda, shape)) {}
  TensorMatch match() const { return {&actual, &expected}; }
};

TEST(Comparable, NamesWhatIsMissing) {
  const Pair pair({3});
  const SideNames sides{"npu.h5", "gpu.h5"};
  EXPECT_EQ(obstacle(pair.match(), sides).reason, "");
  EXPECT_EQ(obstacle({&pair.actual, nullptr}, sides).reason, "only in npu.h5");
  EXPECT_EQ(obstacle({nullptr, &pair.expected}, sides).reason, "only in gpu.h5");
}

TEST(Comparable, NamesWhatCannotBeRead) {
  Pair pair({3});
  const SideNames sides{"npu.h5", "gpu.h5"};
  pair.expected.problem = "chunk 3 is damaged";
  EXPECT_EQ(obstacle(pair.match(), sides).reason, "gpu.h5: chunk 3 is damaged");
  pair.expected.problem.clear();
  pair.actual.stored = StoredType::none;
  pair.actual.stored_name = "string";
  EXPECT_EQ(obstacle(pair.match(), sides).reason,
            "npu.h5: its elements are string, which are not numbers");
}

TEST(Comparable, WhatIsUnreadGoesBeforeWhatIsNotSupported) {
  Pair pair({3});
  using Kind = Obstacle::Kind;
  EXPECT_EQ(obstacle(pair.match()).kind, Kind::none);
  EXPECT_EQ(obstacle({&pair.actual, nullptr}).kind, Kind::missing);
  pair.expected.desc.shape = {4};
  EXPECT_EQ(obstacle(pair.match()).kind, Kind::counts);
  pair.actual.stored = StoredType::none;
  pair.actual.stored_name = "string";
  EXPECT_EQ(obstacle(pair.match()).kind, Kind::unsupported);
  pair.expected.problem = "chunk 3 is damaged";
  EXPECT_EQ(obstacle(pair.match(), {"npu.h5", "gpu.h5"}).reason, "gpu.h5: chunk 3 is damaged");
  EXPECT_TRUE(obstacle(pair.match()).is_unread());
  // The dumper writes only these attributes for an unknown dtype.
  pair.expected.attributes = {};
  pair.expected.attributes.device_type = 1;
  pair.expected.attributes.count = 1;
  EXPECT_EQ(obstacle(pair.match()).kind, Kind::unsupported);
}

TEST(Comparable, NothingIsSaidOfTheShapeOfWhatCannotBeRead) {
  Pair pair({3});
  pair.actual.problem = "it has no extents (a null dataspace)";
  pair.actual.desc.shape = {};
  pair.actual.warning = "no attribute DataType; the values are taken as fp32";
  EXPECT_THAT(pair_warnings(pair.match()), IsEmpty());
}

TEST(Comparable, CodesOfDtypesWithoutAMeaningHereAreNotCompared) {
  Pair pair({3});
  pair.actual.attributes.data_type = 17;
  pair.actual.stored = StoredType::i8;
  EXPECT_EQ(obstacle(pair.match(), {"npu.h5", "gpu.h5"}).reason,
            "npu.h5: DataType 17 (float8_e4m3fn) is not supported");
  pair.actual.stored = StoredType::f32;  // widened by the dumper
  EXPECT_EQ(obstacle(pair.match()).reason, "");
  pair.actual.attributes.data_type = 14;
  EXPECT_THAT(obstacle(pair.match()).reason, HasSubstr("complex64"));
  pair.actual.attributes.data_type = 77;  // unknown: compared with its stored type
  EXPECT_EQ(obstacle(pair.match()).reason, "");
}

TEST(Comparable, ElementsMustBeAsMany) {
  Pair pair({3, 4});
  pair.expected.desc.shape = {3, 5};
  EXPECT_EQ(obstacle(pair.match()).reason, "12 elements against 15 (shapes 3x4 and 3x5)");
}

TEST(Comparable, WarnsOfShapesAndDtypesThatDiffer) {
  Pair pair({3, 4});
  EXPECT_THAT(pair_warnings(pair.match()), IsEmpty());
  pair.expected.desc.shape = {12};
  EXPECT_EQ(obstacle(pair.match()).reason, "");
  pair.expected.desc.dtype = DType::fp16;
  EXPECT_THAT(pair_warnings(pair.match()),
              ElementsAre("shapes differ: 3x4 against 12, compared in row-major order",
                          "dtypes differ: fp32 against fp16"));
  EXPECT_EQ(judged_dtype(pair.match()), DType::fp16);
  pair.expected.desc = describe(DType::int64, {3, 4});
  pair.actual.warning = "attribute Stride is [1], which does not fit";
  EXPECT_THAT(pair_warnings(pair.match(), {"npu.h5", "gpu.h5"}),
              ElementsAre("dtypes differ: fp32 against int64, compared as numbers",
                          "npu.h5: attribute Stride is [1], which does not fit"));
  EXPECT_EQ(judged_dtype(pair.match()), DType::fp32);
}

}  // namespace
}  // namespace opbench
