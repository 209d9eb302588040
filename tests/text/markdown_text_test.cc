// Tables of GitHub Flavored Markdown, section 4.10.
#include <gtest/gtest.h>

#include <sstream>

#include "text/cell.h"

namespace opbench {

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

TEST(MarkdownText, Rows) {
  std::ostringstream out;
  write_markdown_row(out, {"a", "", "b c"});
  write_markdown_row(out, {});
  EXPECT_EQ(out.str(), "| a | | b c |\n|\n");
}

TEST(MarkdownText, ColumnsOfNumbersAreSetToTheRight) {
  std::ostringstream out;
  write_markdown_titles(out, {"case", "us", "GB/s", "status"}, 1, 3);
  EXPECT_EQ(out.str(), "| case | us | GB/s | status |\n|---|---:|---:|---|\n");
}

}  // namespace opbench
