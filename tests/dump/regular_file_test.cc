#include "dump/regular_file.h"

#include <gmock/gmock.h>
#include <sys/stat.h>

#include <fstream>

#include "tensor/error.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

class RegularFileTest : public testing::Test, protected TempDir {
 protected:
  void expect_refused(const std::string& name, const std::string& why) const {
    EXPECT_THAT([&] { RegularFile file(path(name)); },
                ThrowsMessage<Error>("cannot open " + path(name) + ": " + why));
  }
};

std::string bytes_of(const RegularFile& file, std::int64_t offset, std::size_t count) {
  std::string bytes(count, '\0');
  file.read(offset, count, bytes.data());
  return bytes;
}

}  // namespace

TEST_F(RegularFileTest, IsReadAtAnyPlace) {
  const RegularFile file(write("a", "0123456789"));
  EXPECT_EQ(file.bytes(), 10);
  EXPECT_EQ(bytes_of(file, 3, 4), "3456");
  EXPECT_EQ(bytes_of(file, 0, 2), "01");
  EXPECT_EQ(bytes_of(file, 10, 0), "");
  EXPECT_NO_THROW(file.check_unchanged());
}

// A read beyond the end fails.
TEST_F(RegularFileTest, EndsWhereItEnds) {
  const RegularFile file(write("a", "0123456789"));
  EXPECT_THAT([&] { bytes_of(file, 8, 3); },
              ThrowsMessage<RunError>(HasSubstr("was truncated while it was read")));
  EXPECT_THROW(bytes_of(file, 100, 1), RunError);
}

// Opening a pipe would wait for a writer.
TEST_F(RegularFileTest, IsNeitherAFolderNorAPipe) {
  expect_refused("none", "No such file or directory");
  expect_refused("", "Is a directory");
  ASSERT_EQ(mkfifo(path("pipe").c_str(), 0600), 0);
  expect_refused("pipe", "not a regular file");
}

TEST_F(RegularFileTest, NoticesThatItWasChanged) {
  const RegularFile file(write("a", "0123456789"));
  std::ofstream(path("a"), std::ios::app) << "x";
  EXPECT_THAT([&] { file.check_unchanged(); },
              ThrowsMessage<RunError>(HasSubstr("was changed while it was read")));
  EXPECT_EQ(file.bytes(), 10) << "as when it was opened";
}

// 1 MiB that was never written, then a byte, on a file system with holes.
TEST_F(RegularFileTest, KnowsItsHoles) {
  constexpr std::int64_t kHole = 1 << 20;
  {
    std::ofstream out(path("a"), std::ios::binary);
    out.seekp(kHole);
    out << "x";
  }
  const RegularFile file(path("a"));
  EXPECT_FALSE(file.is_hole(0, kHole + 1)) << "the byte was written";
  EXPECT_FALSE(file.is_hole(kHole, 1));
  EXPECT_FALSE(file.is_hole(-1, 10));
  EXPECT_FALSE(file.is_hole(0, 0));
  EXPECT_FALSE(file.is_hole(kHole, 100)) << "beyond the end";
  struct stat state {};
  ASSERT_EQ(stat(path("a").c_str(), &state), 0);
  const bool keeps_holes = state.st_blocks * 512 < kHole;
  EXPECT_EQ(file.is_hole(0, kHole / 2), keeps_holes);
}

}  // namespace opbench
