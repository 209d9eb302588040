// Format: numpy.lib.format, version 1.0.
#include "dump/arrays/numpy_writer.h"

#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>

#include "tensor/error.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::StartsWith;

class NpyWriterTest : public testing::Test, protected TempDir {
 protected:
  std::string written() const { return text_of(path_); }

  fs::path path_ = path("x.npy");
};

TEST_F(NpyWriterTest, HeaderThenElements) {
  const float values[] = {1, 2, 3, 4, 5, 6};
  NpyWriter writer(path_, StoredType::f32, {2, 3});
  writer.write(values, 8);
  writer.write(values + 2, 16);
  EXPECT_FALSE(fs::exists(path_));
  writer.finish();
  const std::string file = written();
  ASSERT_EQ(file.size(), 128u + sizeof values);
  EXPECT_THAT(file, StartsWith(std::string("\x93NUMPY\x01\x00\x76\x00", 10)));  // 118 = 128 - 10
  EXPECT_THAT(file.substr(10),
              StartsWith("{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }"));
  EXPECT_EQ(file[127], '\n');
  EXPECT_EQ(std::memcmp(file.data() + 128, values, sizeof values), 0);
}

TEST_F(NpyWriterTest, ShapesOfOneDimensionAndOfNoneAreTuples) {
  for (const auto& [shape, text] : {std::pair{Dims{5}, "(5,)"}, std::pair{Dims{}, "()"}}) {
    NpyWriter(path_, StoredType::boolean, shape).finish();
    EXPECT_THAT(written(),
                HasSubstr(std::string("'|b1', 'fortran_order': False, 'shape': ") + text));
  }
}

TEST_F(NpyWriterTest, UnfinishedFilesAndOnesThatCannotBeWrittenLeaveNothing) {
  { NpyWriter writer(path_, StoredType::i64, {3}); }
  EXPECT_FALSE(fs::exists(path_));
  EXPECT_THROW(NpyWriter(path_ / "below", StoredType::i64, {3}), RunError);
  EXPECT_THROW(NpyWriter(path_, StoredType::none, {3}), Error);
  EXPECT_FALSE(fs::exists(path_));
}

}  // namespace
}  // namespace opbench
