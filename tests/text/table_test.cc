#include "text/table.h"

#include <gtest/gtest.h>

#include <array>
#include <sstream>

namespace opbench {

TEST(Layout, LeavesOutWhatDoesNotFit) {
  const TextTable table{columns_of("name|>time|>spread"), {{"relu", "5 us", "3 %"}}};
  constexpr std::array<std::string_view, 1> kLeast = {"spread"};
  EXPECT_EQ(fitted(table, 80, kLeast).row(0), "relu  5 us     3 %");
  EXPECT_EQ(fitted(table, 12, kLeast).titles(), "name  time");
}

// Tables of GitHub Flavored Markdown, section 4.10.
TEST(MarkdownTable, NumbersAreSetToTheRightAndTheBestIsBold) {
  TextTable table{columns_of("case|>us|status"), {{"a|b", "1", ""}, {"c", "2", "passed"}}};
  table.best = {1};
  std::ostringstream out;
  write_markdown(out, table);
  EXPECT_EQ(out.str(),
            "| case | us | status |\n|---|---:|---|\n| a\\|b | 1 | |\n| **c** | 2 | passed |\n");
}

TEST(MarkdownTable, TitlesMayBeEmpty) {
  std::ostringstream out;
  write_markdown(out, {columns_of("|"), {{"CPU", "one"}}});
  EXPECT_EQ(out.str(), "| | |\n|---|---|\n| CPU | one |\n");
}

}  // namespace opbench
