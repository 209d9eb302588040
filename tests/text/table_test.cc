#include "text/table.h"

#include <gmock/gmock.h>

#include <array>
#include <sstream>

namespace opbench {

using testing::ElementsAre;

TEST(TextTable, LeavesOutWhatDoesNotFit) {
  const TextTable table{columns_of("name|>time|>spread"), {{"relu", "5 us", "3 %"}}};
  constexpr std::array<std::string_view, 1> kLeast = {"spread"};
  EXPECT_THAT(lines_of(fitted(table, 80, kLeast)),
              ElementsAre("name  time  spread", "relu  5 us     3 %"));
  EXPECT_THAT(lines_of(fitted(table, 12, kLeast)), ElementsAre("name  time", "relu  5 us"));
}

TEST(TextTable, StandsOneBelowTheOtherWhereItDoesNotFit) {
  const TextTable table{columns_of("|>1|>2|>3"), {{"Relu", "10", "2000", "3"}}};
  const std::vector<TextTable> parts = split_up(table, 14);
  ASSERT_EQ(parts.size(), 2u);
  EXPECT_THAT(lines_of(parts[0]), ElementsAre("       1     2", "Relu  10  2000"));
  EXPECT_THAT(lines_of(parts[1]), ElementsAre("      3", "Relu  3"));
  EXPECT_EQ(split_up(table, 1).size(), 3u);
}

TEST(TextTable, TextOfTheLastColumnContinuesBelowItsBeginning) {
  const TextTable table{columns_of("name|text"), {{"relu", "one two three four"}, {"a\n", "b"}}};
  EXPECT_THAT(lines_of(table, 22, 2),
              ElementsAre("  name   text", "  relu   one two three\n         four", "  a\\x0a  b"));
  // Half of the width stays.
  EXPECT_THAT(lines_of({columns_of("name|"), {{"a long name", "one two"}}}, 14),
              ElementsAre("name", "a long name\n       one two"));
}

TEST(TextTable, PrintsItsColoursWhereTheStyleHasAny) {
  TextTable table{columns_of("|>"), {{"relu", "5 us"}}};
  std::ostringstream out;
  print_table(out, table, {});
  EXPECT_EQ(out.str(), "  relu  5 us\n") << "no line of titles";
  table.columns[0].title = "name";
  table.colours = {kRed};
  out.str("");
  print_table(out, table, {.colour = true}, 0);
  EXPECT_EQ(out.str(), "\033[2mname\033[0m\n\033[31mrelu  5 us\033[0m\n");
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
