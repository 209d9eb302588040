#include "dump/arrays/array_list.h"

#include <gmock/gmock.h>

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// Returns why an array of fp32 with `available` bytes cannot be read; empty if it can.
std::string problem_of(const Dims& shape, const Dims& strides, std::int64_t available) {
  ArrayList list;
  list.add("a", StoredType::f32, shape, strides, {}, available);
  return list.entries.at(0).problem;
}

constexpr std::int64_t kHuge = std::int64_t{1} << 62;

}  // namespace

// 2x3 in rows has 6 elements of 4 bytes.
TEST(ArrayList, HasWhatFits) {
  ArrayList list;
  list.add("a/b", StoredType::f32, {2, 3}, {3, 1}, {2, 40, true}, 24);
  ASSERT_EQ(list.entries.size(), 1U);
  const DumpEntry& entry = list.entries[0];
  EXPECT_EQ(entry.problem, "");
  EXPECT_EQ(entry.path, "a/b");
  EXPECT_EQ(entry.stored_name, "float32");
  EXPECT_EQ(entry.desc.dtype, DType::fp32);
  EXPECT_EQ(entry.desc.shape, (Dims{2, 3}));
  EXPECT_FALSE(entry.is_strided);
  EXPECT_EQ(list.places[0].member, 2);
  EXPECT_EQ(list.places[0].offset, 40);
  EXPECT_TRUE(list.places[0].is_swapped);
  list.add("t", StoredType::f32, {2, 3}, {1, 2}, {}, 24);
  EXPECT_TRUE(list.entries[1].is_strided);
}

// The last element of 2x3 with strides of 10 and 1 is number 12: 13 elements are needed.
TEST(ArrayList, NeedsTheElementsUpToTheLast) {
  EXPECT_EQ(problem_of({2, 3}, {10, 1}, 13 * 4), "");
  EXPECT_EQ(problem_of({2, 3}, {10, 1}, 13 * 4 - 1),
            "data: shape 2x3 needs 13 elements of float32, 51 bytes are there");
  EXPECT_EQ(problem_of({2, 0}, {10, 1}, 0), "") << "no element at all";
  EXPECT_EQ(problem_of({}, {}, 4), "");
  EXPECT_NE(problem_of({}, {}, 3), "");
}

TEST(ArrayList, RefusesExtentsAndStridesBeyond64Bits) {
  EXPECT_THAT(problem_of({2, 2}, {-1, 1}, 1000), HasSubstr("stride: negative"));
  EXPECT_THAT(problem_of({3, 3}, {kHuge, 1}, 1000), HasSubstr("or too large"));
  EXPECT_THAT(problem_of({kHuge, 4}, {0, 0}, 1000), HasSubstr("shape: "));
  EXPECT_THAT(problem_of({-1}, {1}, 1000), HasSubstr("shape: "));
}

// One element repeated 2^32 times is 16 GiB when written densely. Up to 1 GiB is allowed, and so
// are up to 64 repetitions.
TEST(ArrayList, RefusesArraysThatAreMadeOfRepeats) {
  const std::int64_t much = std::int64_t{1} << 32;
  EXPECT_THAT(problem_of({much}, {0}, 4), HasSubstr("are repeated to 4294967296"));
  EXPECT_EQ(problem_of({(1 << 30) / 4}, {0}, 4), "");
  EXPECT_EQ(problem_of({64, much / 64}, {0, 1}, 4 * (much / 64)), "");
}

// The first axis varies fastest. An axis without elements counts as 1.
TEST(ArrayList, ColumnsComeFirstInFortranOrder) {
  EXPECT_THAT(column_major_strides({2, 3, 4}), ElementsAre(1, 2, 6));
  EXPECT_THAT(column_major_strides({2, 0, 4}), ElementsAre(1, 2, 2));
  EXPECT_TRUE(column_major_strides({}).empty());
}

TEST(ArrayList, KeepsAPlaceForWhatCannotBeRead) {
  ArrayList list;
  list.add_problem("bad", "why");
  EXPECT_EQ(list.entries.at(0).problem, "why");
  EXPECT_EQ(list.entries[0].path, "bad");
  EXPECT_EQ(list.places.size(), 1U);
}

}  // namespace opbench
