#include "text/cell.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

namespace opbench {

// RFC 4180, section 2: quotes around cells with commas, quotes or line breaks; quotes doubled.
TEST(CsvText, QuotesOnlyWhatMustBe) {
  EXPECT_EQ(csv_quoted(""), "");
  EXPECT_EQ(csv_quoted("relu; 1x2 'a'"), "relu; 1x2 'a'");
  EXPECT_EQ(csv_quoted("relu[1,2]"), "\"relu[1,2]\"");
  EXPECT_EQ(csv_quoted("say \"x\""), "\"say \"\"x\"\"\"");
  EXPECT_EQ(csv_quoted("a\nb"), "\"a\nb\"");
  EXPECT_EQ(csv_quoted("a\rb"), "\"a\rb\"");
}

TEST(CsvText, WhatASpreadsheetWouldComputeIsText) {
  EXPECT_EQ(csv_quoted("=1+1"), "'=1+1");
  EXPECT_EQ(csv_quoted("=HYPERLINK(\"x\",1)"), "\"'=HYPERLINK(\"\"x\"\",1)\"");
  EXPECT_EQ(csv_quoted("+cmd"), "'+cmd");
  EXPECT_EQ(csv_quoted("-2+3"), "'-2+3");
  EXPECT_EQ(csv_quoted("@SUM(A1)"), "'@SUM(A1)");
  EXPECT_EQ(csv_quoted("\t=1"), "'\t=1");
  EXPECT_EQ(csv_quoted("\r=1"), "\"'\r=1\"");
  EXPECT_EQ(csv_cell(std::string("=1")), "'=1");
  EXPECT_EQ(csv_quoted("\n=1+1"), "\"'\n=1+1\"");
  EXPECT_EQ(csv_quoted("\r\n=1+1"), "\"'\r\n=1+1\"");
  EXPECT_EQ(csv_quoted(" =1+1"), "' =1+1");
  EXPECT_EQ(csv_quoted("\x7f \x01@SUM(A1)"), "'\x7f \x01@SUM(A1)");
  for (const char* plain : {"-5", "+5", "-1.5e-3", " -5", "a=1", "1-2", "", " "}) {
    EXPECT_EQ(csv_quoted(plain), plain);
  }
}

TEST(CsvText, NumbersGiveTheSameValueBack) {
  EXPECT_EQ(csv_cell(0.1), "0.1");
  EXPECT_EQ(csv_cell(1.0 / 3), "0.3333333333333333");
  EXPECT_EQ(csv_cell(5e-324), "5e-324");
  EXPECT_EQ(csv_cell(-0.0), "-0");
  EXPECT_EQ(csv_cell(std::numeric_limits<std::int64_t>::min()), "-9223372036854775808");
}

TEST(CsvText, WhatIsNoNumberIsAnEmptyCell) {
  EXPECT_EQ(csv_cell(std::monostate()), "");
  EXPECT_EQ(csv_cell(std::numeric_limits<double>::quiet_NaN()), "");
  EXPECT_EQ(csv_cell(-std::numeric_limits<double>::infinity()), "");
}

TEST(CsvText, TextsAndTruthValues) {
  EXPECT_EQ(csv_cell(std::string("a,b")), "\"a,b\"");
  EXPECT_EQ(csv_cell(true), "true");
  EXPECT_EQ(csv_cell(false), "false");
}

TEST(CsvText, Rows) {
  std::ostringstream out;
  write_csv_row(out, {"a,b", std::int64_t{1}, Cell(), true});
  write_csv_row(out, {0.5}, "\r\n");
  EXPECT_EQ(out.str(), "\"a,b\",1,,true\n0.5\r\n");
}

TEST(JsonCell, ValuesKeepTheirKind) {
  EXPECT_EQ(cell_value(Cell()).dump(), "null");
  EXPECT_EQ(cell_value(Cell(std::string("a\"b"))).dump(), "\"a\\\"b\"");
  EXPECT_EQ(cell_value(Cell(2.0)).dump(), "2.0");
  EXPECT_EQ(cell_value(Cell(std::int64_t{1} << 62)).dump(), "4611686018427387904");
  EXPECT_EQ(cell_value(Cell(true)).dump(), "true");
  EXPECT_EQ(cell_value(Cell(-HUGE_VAL)).dump(), "null");
}

// Tables of GitHub Flavored Markdown, section 4.10.

TEST(MarkdownText, EscapesWhatWouldBeMarkup) {
  EXPECT_EQ(markdown_escaped("softplus[1x2,fp32]"), "softplus[1x2,fp32]");
  EXPECT_EQ(markdown_escaped("a|b*c`d\\e"), "a\\|b\\*c\\`d\\\\e");
  EXPECT_EQ(markdown_escaped("<b>"), "&lt;b>");
  EXPECT_EQ(markdown_escaped("<script>x</script>&amp;"), "&lt;script>x&lt;/script>&amp;amp;");
  EXPECT_EQ(markdown_escaped("~~a~~"), "\\~\\~a\\~\\~");
}

TEST(MarkdownText, ThereAreNoLinks) {
  EXPECT_EQ(markdown_escaped("[x](javascript:y)"), "[x\\](javascript:y)");
  EXPECT_EQ(markdown_escaped("![x](http://y)"), "![x\\](http://y)");
  EXPECT_EQ(markdown_escaped("[x\\](y)"), "[x\\\\\\](y)") << "its own backslash is one";
  EXPECT_EQ(markdown_escaped("[x][y]"), "[x\\][y]");
}

TEST(MarkdownText, CodeEndsWhereItsFenceDoes) {
  std::ostringstream out;
  write_markdown_code(out, {"opbench --case 'a'", "b ```` c\n```\nd"});
  EXPECT_EQ(out.str(), "`````sh\nopbench --case 'a'\nb ```` c\\x0a```\\x0ad\n`````\n");
}

TEST(MarkdownText, ControlCharactersBecomeSpaces) {
  EXPECT_EQ(markdown_escaped("a\nb\tc\x1b[31m"), "a b c [31m");
  EXPECT_EQ(markdown_escaped(std::string_view("a\0b", 3)), "a b");
  EXPECT_EQ(markdown_escaped("a\u202eb"), "a\\\\u202eb");
}

}  // namespace opbench
