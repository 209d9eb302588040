#include "harness/plan/case_filter.h"

#include <gtest/gtest.h>

#include "tensor/error.h"
#include "tests/support/refusal.h"

namespace opbench {
namespace {

std::string refusal(const std::string& pattern) {
  return refusal_by([&] { CaseFilter{pattern}; });
}

}  // namespace

TEST(CaseFilter, IsFoundInIdOrName) {
  const CaseFilter filter("^stage2|7x7");
  EXPECT_TRUE(filter.takes("relu[1x2,fp32]", "stage2.relu"));
  EXPECT_TRUE(filter.takes("relu[7x7,fp32]", ""));
  EXPECT_FALSE(filter.takes("relu[1x2,fp32]", "the stage2"));
}

TEST(CaseFilter, AnEmptyOneTakesAll) { EXPECT_TRUE(CaseFilter("").takes("relu[1]", "")); }

TEST(CaseFilter, ThePatternOfANameTakesNoOther) {
  EXPECT_EQ(pattern_of_name("unit-1.a"), "^unit-1\\.a$");
  for (const std::string name : {"unit-1.a", "$(id)", "a[1]{2}|b*c+d?e^f\\", "größe"}) {
    const CaseFilter filter(pattern_of_name(name));
    EXPECT_TRUE(filter.takes("", name)) << name;
    EXPECT_FALSE(filter.takes("", name + "x")) << name;
  }
  EXPECT_FALSE(CaseFilter(pattern_of_name("a.b")).takes("", "acb"));
}

TEST(CaseFilter, WhatIsNoExpressionIsRefused) {
  EXPECT_EQ(refusal("relu[").find("--filter 'relu[' is not a regular expression: "), 0u);
  EXPECT_EQ(refusal(std::string(4097, 'a')),
            "--filter has 4097 characters; at most 4096 are allowed");
}

}  // namespace opbench
