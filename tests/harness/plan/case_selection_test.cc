#include "harness/plan/case_selection.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

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

namespace {

using Texts = std::vector<std::string>;

const SelectionField& field(std::string_view flag) {
  for (const SelectionField& row : selection_fields()) {
    if (row.flag == flag) return row;
  }
  throw Error("no such row");
}

CaseSelection read(std::string_view flag, const FieldText& text) {
  CaseSelection selection;
  read_field(field(flag), text, selection);
  return selection;
}

std::string refusal(std::string_view flag, const FieldText& text) {
  try {
    read(flag, text);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

TEST(SelectionFields, TextIsReadIntoTheMember) {
  EXPECT_EQ(read("--op", Texts{"relu", "softplus"}).ops, (Texts{"relu", "softplus"}));
  EXPECT_EQ(read("--shapes", "a.yaml").shapes_file, "a.yaml");
  EXPECT_EQ(read("--dtype", Texts{"half"}).dtypes, std::vector{DType::fp16});
  EXPECT_EQ(read("--format", Texts{"NHWC"}).formats, std::vector{Format::NHWC});
  EXPECT_TRUE(read("--backward", true).backward);
  EXPECT_EQ(read("--set", Texts{"N=8", "C=3"}).symbols, (Symbols{{"C", 3}, {"N", 8}}));
}

TEST(SelectionFields, WhatIsAbsentSelectsNothing) {
  EXPECT_EQ(read_selection(absent_selection()), CaseSelection{});
}

// A field that does not survive the round trip would change the selection of a check's worker.
TEST(SelectionFields, EveryRowGivesItsTextAgain) {
  const Texts texts[] = {{"relu"}, {"NHWC"}, {"fp16"}, {"N=8"}};
  std::set<std::string> flags, keys;
  for (const SelectionField& row : selection_fields()) {
    SCOPED_TRACE(row.flag);
    EXPECT_TRUE(flags.insert(row.flag).second);
    EXPECT_TRUE(keys.insert(row.key).second);
    FieldText text = absent_text(row);
    const std::string_view flag = row.flag;
    if (std::holds_alternative<bool>(text)) text = true;
    if (std::holds_alternative<std::string>(text)) text = "2/3";
    if (std::holds_alternative<Texts>(text)) {
      text = texts[flag == "--format" ? 1 : flag == "--dtype" ? 2 : flag == "--set" ? 3 : 0];
    }
    CaseSelection selection;
    read_field(row, text, selection);
    EXPECT_NE(selection, CaseSelection{});
    EXPECT_EQ(text_of(row, selection), text);
  }
}

TEST(SelectionFields, BadTextIsShown) {
  EXPECT_THAT(refusal("--dtype", Texts{"fp17"}), testing::HasSubstr("fp17"));
  for (const char* set : {"N", "=8", "N=", "N=-1", "N=8x"}) {
    EXPECT_EQ(refusal("--set", Texts{set}),
              "--set '" + std::string(set) + "' must be NAME=VALUE with a whole number from 1");
  }
}

}  // namespace

}  // namespace opbench
