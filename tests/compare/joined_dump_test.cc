#include "compare/joined_dump.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <numeric>

#include "dump/arrays/numpy_writer.h"
#include "tensor/error.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

class JoinedDumps : public testing::Test, protected TempDir {
 protected:
  void array(int rank, const std::string& name, const Dims& shape,
             const std::vector<float>& values) const {
    const std::string file = fmt::format("rank{}/{}.npy", rank, name);
    std::filesystem::create_directories(std::filesystem::path(path(file)).parent_path());
    NpyWriter writer(path(file), StoredType::f32, shape);
    writer.write(values.data(), values.size() * sizeof(float));
    writer.finish();
  }
  JoinedDump& join(const std::string& rules) {
    rules_ = parse_shard_rules(rules, "rules.yaml");
    joined_.emplace(list_job(directory()), rules_, "joined");
    return *joined_;
  }
  static std::vector<float> read(DumpSource& source, const DumpEntry& entry, ElementRange range) {
    std::vector<float> values(static_cast<std::size_t>(range.count));
    source.read(entry, range, values.data());
    return values;
  }

  ShardRules rules_;
  std::optional<JoinedDump> joined_;
};

// Reads every range of every axis of a tensor of 24 elements in three unequal parts.
TEST_F(JoinedDumps, ConcatGivesEveryRangeOfTheWholeAlongEveryAxis) {
  const Dims whole = {4, 6, 1};
  std::vector<float> all(24);
  std::iota(all.begin(), all.end(), 0.0F);
  for (int axis = 0; axis < 2; ++axis) {
    std::int64_t begin = 0;
    const std::vector<std::int64_t> widths =
        axis == 0 ? std::vector<std::int64_t>{1, 2, 1} : std::vector<std::int64_t>{3, 1, 2};
    for (int rank = 0; rank < 3; ++rank) {
      const std::int64_t width = widths[static_cast<std::size_t>(rank)];
      std::vector<float> part;
      for (std::int64_t i = 0; i < 24; ++i) {
        const std::int64_t at = axis == 0 ? i / 6 : i % 6;
        if (at >= begin && at < begin + width) part.push_back(all[static_cast<std::size_t>(i)]);
      }
      Dims shape = whole;
      shape[static_cast<std::size_t>(axis)] = width;
      array(rank, "x", shape, part);
      begin += width;
    }
    DumpSource source =
        join(fmt::format("rules: [{{tensors: x, join: concat, axis: {}}}]", axis)).source();
    ASSERT_THAT(source.strays(), SizeIs(1));
    const DumpEntry& entry = source.strays()[0];
    EXPECT_EQ(entry.desc.shape, whole) << entry.problem;
    for (std::int64_t first = 0; first <= 24; ++first) {
      for (std::int64_t count = 0; count <= 24 - first; ++count) {
        EXPECT_EQ(read(source, entry, {first, count}),
                  std::vector<float>(all.begin() + first, all.begin() + first + count))
            << axis << ' ' << first << ' ' << count;
      }
    }
  }
}

TEST_F(JoinedDumps, SumsAndMeansAreInFp64) {
  array(0, "a/1/output/x", {2}, {1e8F, 1});
  array(1, "a/1/output/x", {2}, {1, 2});
  for (const auto& [join_as, expected] :
       {std::pair{"sum", std::vector<double>{100000001, 3}},
        std::pair{"mean", std::vector<double>{50000000.5, 1.5}}}) {
    DumpSource source = join(fmt::format("rules: [{{tensors: a, join: {}}}]", join_as)).source();
    const DumpEntry& entry = source.records()[0].entries[0];
    EXPECT_EQ(entry.stored, StoredType::f64);
    std::vector<double> values(2);
    source.read(entry, {0, 2}, values.data());
    EXPECT_EQ(values, expected);
  }
}

TEST_F(JoinedDumps, WhatShouldBeTheSameIsReadFromAll) {
  for (int rank = 0; rank < 3; ++rank) {
    array(rank, "x", {3}, {1, 2, rank == 2 ? -0.0F : 0.0F});
    array(rank, "y", {1}, {1});
  }
  JoinedDump& joined = join("");
  DumpSource source = joined.source();
  EXPECT_EQ(joined.replicas(), 2);
  EXPECT_THAT(joined.splits(), IsEmpty());
  for (const DumpEntry& entry : source.strays()) read(source, entry, {0, entry.desc.elements()});
  ASSERT_THAT(joined.splits(), SizeIs(1));
  EXPECT_EQ(joined.splits()[0].path, "/x");
  EXPECT_THAT(joined.splits()[0].apart, ElementsAre(2));
}

TEST_F(JoinedDumps, WhatDoesNotFitTogetherIsTheTensorsProblem) {
  array(0, "a", {2, 2}, {1, 2, 3, 4});
  array(1, "a", {2, 3}, {1, 2, 3, 4, 5, 6});
  array(0, "b", {2}, {1, 2});
  array(0, "c", {2}, {1, 2});
  array(1, "c", {2}, {1, 2});
  DumpSource source =
      join("rules: [{tensors: a, join: concat, axis: 0}, {tensors: c, join: concat, axis: 1}]")
          .source();
  ASSERT_THAT(source.strays(), SizeIs(3));
  EXPECT_THAT(source.strays()[0].problem, HasSubstr("differ beyond axis 0"));
  EXPECT_EQ(source.strays()[1].problem, "rank 1 has no such tensor");
  EXPECT_EQ(source.strays()[2].problem, "it has 1 axes, and the rule joins along axis 1");
  float value = 0;
  EXPECT_THROW(source.read(source.strays()[0], {0, 1}, &value), Error);
}

}  // namespace
}  // namespace opbench
