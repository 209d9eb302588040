#include "dump/dump_types.h"

#include <gmock/gmock.h>

#include "tensor/error.h"

namespace opbench {
namespace {

using testing::ElementsAre;

}  // namespace

TEST(DumpTypes, ElementsHaveTheirBytes) {
  EXPECT_EQ(size_of(StoredType::none), 0U);
  EXPECT_EQ(size_of(StoredType::boolean), 1U);
  EXPECT_EQ(size_of(StoredType::bf16), 2U);
  EXPECT_EQ(size_of(StoredType::u32), 4U);
  EXPECT_EQ(size_of(StoredType::c64), 8U);
  EXPECT_EQ(size_of(StoredType::c128), 16U);
  EXPECT_EQ(numpy_name(StoredType::f16), "float16");
  EXPECT_EQ(numpy_name(StoredType::bf16), "bfloat16");
  EXPECT_EQ(numpy_name(StoredType::none), "");
}

TEST(DumpTypes, DevicesAreNamed) {
  EXPECT_EQ(to_string(DeviceType::npu), "NPU");
  EXPECT_EQ(to_string(DeviceType::cuda), "CUDA");
  EXPECT_EQ(to_string(static_cast<DeviceType>(9)), "device 9");
}

// Empty components are kept, because they make a path invalid.
TEST(DumpTypes, PathsFallIntoComponents) {
  EXPECT_THAT(split_components("a/b"), ElementsAre("a", "b"));
  EXPECT_THAT(split_components("/a"), ElementsAre("", "a"));
  EXPECT_THAT(split_components("a//b/"), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split_components(""), ElementsAre(""));
}

// HDF5 would read these names as a parent, or cut them at a NUL.
TEST(DumpTypes, ComponentsThatCannotBeNames) {
  EXPECT_EQ(component_problem("self"), "");
  for (const std::string& bad : {std::string(), std::string("."), std::string("a\0b", 3)}) {
    EXPECT_NE(component_problem(bad), "") << bad;
  }
  EXPECT_NO_THROW(check_op_name("softplus"));
  EXPECT_THROW(check_op_name("a/b"), Error);
  EXPECT_THROW(check_op_name(""), Error);
}

// An argument, or a list and its element.
TEST(DumpTypes, TensorsHaveOneOrTwoComponents) {
  EXPECT_THAT(tensor_name_components("self"), ElementsAre("self"));
  EXPECT_THAT(tensor_name_components("grads/grads_0"), ElementsAre("grads", "grads_0"));
  EXPECT_THROW(tensor_name_components("a/b/c"), Error);
  EXPECT_THROW(tensor_name_components("a/"), Error);
  EXPECT_THROW(tensor_name_components(""), Error);
}

TEST(DumpTypes, RecordsHaveSidesAndNotes) {
  DumpRecord record;
  record.notes = {{"opbench_case", "relu[4]"}};
  for (const Side side : {Side::input, Side::output, Side::input}) {
    record.entries.emplace_back().side = side;
  }
  EXPECT_THAT(record.on(Side::input), ElementsAre(&record.entries[0], &record.entries[2]));
  EXPECT_TRUE(record.on(Side::other).empty());
  ASSERT_NE(record.note("opbench_case"), nullptr);
  EXPECT_EQ(*record.note("opbench_case"), "relu[4]");
  EXPECT_EQ(record.note("opbench_kernel"), nullptr);
}

}  // namespace opbench
