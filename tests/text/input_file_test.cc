#include "text/input_file.h"

#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>

#include "tensor/error.h"
#include "tests/support/refusal.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

std::string file_refusal(const std::string& path) {
  return refusal_by([&] { read_input_file(path, "case file"); });
}

class SameBytes : public testing::Test, protected TempDir {};

TEST_F(SameBytes, ComparesSizesAndEveryByte) {
  write("a", std::string("one\0two", 7));
  write("copy", std::string("one\0two", 7));
  write("last", std::string("one\0twO", 7));
  write("longer", std::string("one\0two ", 8));
  EXPECT_TRUE(has_same_bytes(path("a"), path("a")));
  EXPECT_TRUE(has_same_bytes(path("a"), path("copy")));
  EXPECT_FALSE(has_same_bytes(path("a"), path("last")));
  EXPECT_FALSE(has_same_bytes(path("a"), path("longer")));
}

TEST_F(SameBytes, WhatCannotBeReadIsTheSameAsNothing) {
  write("empty", "");
  EXPECT_TRUE(has_same_bytes(path("empty"), path("empty")));
  EXPECT_FALSE(has_same_bytes(path("empty"), path("missing")));
  EXPECT_FALSE(has_same_bytes(path("missing"), path("missing")));
  EXPECT_FALSE(has_same_bytes(directory(), directory()));
}

}  // namespace

TEST(InputFile, GivesEveryByte) {
  const TempDir directory;
  const std::string text("a\r\nb\0c", 6);
  EXPECT_EQ(read_input_file(directory.write("x", text), "case file"), text);
  EXPECT_EQ(read_input_file(directory.write("empty", ""), "case file"), "");
}

TEST(InputFile, WhatIsNoFileIsRefused) {
  const TempDir directory;
  EXPECT_EQ(file_refusal("/no/such.yaml"),
            "cannot read case file '/no/such.yaml': No such file or directory");
  EXPECT_EQ(
      file_refusal(directory.directory()),
      "cannot read case file '" + directory.directory().string() + "': it is not a regular file");
  EXPECT_EQ(file_refusal("/dev/zero"),
            "cannot read case file '/dev/zero': it is not a regular file");
}

// The system reports size 0 for these files, and their content cannot be read.
TEST(InputFile, FilesOfTheSystemsOwnAreRefusedInOneLine) {
  EXPECT_EQ(file_refusal("/proc/self/mem"),
            "cannot read case file '/proc/self/mem': Input/output error");
  EXPECT_NE(read_input_file("/proc/self/stat", ""), "");
}

TEST(InputFile, APipeIsNotWaitedFor) {
  const TempDir directory;
  ASSERT_EQ(mkfifo(directory.path("pipe").c_str(), 0600), 0);
  EXPECT_EQ(file_refusal(directory.path("pipe")),
            "cannot read case file '" + directory.path("pipe") + "': it is not a regular file");
}

TEST(InputFile, LinksInALoopAndLongNamesAreRefused) {
  const TempDir directory;
  std::filesystem::create_symlink("loop", directory.path("loop"));
  EXPECT_EQ(
      file_refusal(directory.path("loop")),
      "cannot read case file '" + directory.path("loop") + "': Too many levels of symbolic links");
  EXPECT_NE(file_refusal(std::string(5000, 'x')).find("': File name too long"), std::string::npos);
}

TEST(InputFile, TheCallerMayTakeLessOrMore) {
  const TempDir directory;
  const std::string path = directory.write("x", "{}");
  EXPECT_EQ(read_input_file(path, "", 2), "{}");
  EXPECT_THROW(read_input_file(path, "", 1), Error);
}

TEST(InputFile, BytesAsTheyAreAskedFor) {
  const TempDir directory;
  std::string text;
  while (text.size() < 200'000) text += std::to_string(text.size());  // more than one block
  const std::string path = directory.write("x", text);
  InputFile file(path, "", text.size());
  std::string got(text.size() + 1, ' ');
  EXPECT_EQ(file.sgetn(got.data(), std::ssize(got)), std::ssize(text));
  got.pop_back();
  EXPECT_TRUE(got == text);
  // It grew after it was opened.
  InputFile early(path, "", text.size());
  directory.write("x", text + "more");
  got.resize(1 << 20);
  EXPECT_EQ(refusal_by([&] { early.sgetn(got.data(), std::ssize(got)); }),
            "cannot read '" + path + "': it is larger than 0 MiB");
}

TEST(InputFile, FourMebibytesAtMost) {
  const TempDir directory;
  const std::string path = directory.write("x.yaml", "");
  std::filesystem::resize_file(path, 4 << 20);  // a hole: takes no space
  EXPECT_EQ(read_input_file(path, "case file").size(), std::size_t{4 << 20});
  std::filesystem::resize_file(path, (4 << 20) + 1);
  EXPECT_EQ(file_refusal(path), "cannot read case file '" + path + "': it is larger than 4 MiB");
}

}  // namespace opbench
