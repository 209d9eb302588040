#include "text/same_bytes.h"

#include <gtest/gtest.h>

#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

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
}  // namespace opbench
