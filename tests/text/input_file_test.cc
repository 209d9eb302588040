#include "text/input_file.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "tensor/error.h"
#include "tests/support/refusal.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

std::string refusal(const std::string& path) {
  return refusal_by([&] { read_input_file(path, "case file"); });
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
  EXPECT_EQ(refusal("/no/such.yaml"),
            "cannot read case file '/no/such.yaml': No such file or directory");
  EXPECT_EQ(
      refusal(directory.directory()),
      "cannot read case file '" + directory.directory().string() + "': it is no regular file");
  EXPECT_EQ(refusal("/dev/zero"), "cannot read case file '/dev/zero': it is no regular file");
}

TEST(InputFile, FourMebibytesAtMost) {
  const TempDir directory;
  const std::string path = directory.write("x.yaml", "");
  std::filesystem::resize_file(path, 4 << 20);  // a hole: takes no space
  EXPECT_EQ(read_input_file(path, "case file").size(), std::size_t{4 << 20});
  std::filesystem::resize_file(path, (4 << 20) + 1);
  EXPECT_EQ(refusal(path), "cannot read case file '" + path + "': it is larger than 4 MiB");
}

}  // namespace opbench
