// Tables of GitHub Flavored Markdown, section 4.10.
#include "text/markdown_text.h"

#include <gtest/gtest.h>

#include <sstream>

namespace opbench {

TEST(MarkdownText, EscapesWhatWouldBeMarkup) {
  EXPECT_EQ(markdown_escaped("softplus[1x2,fp32]"), "softplus[1x2,fp32]");
  EXPECT_EQ(markdown_escaped("a|b*c`d\\e"), "a\\|b\\*c\\`d\\\\e");
  EXPECT_EQ(markdown_escaped("<b>"), "&lt;b>");
}

TEST(MarkdownText, ControlCharactersBecomeSpaces) {
  EXPECT_EQ(markdown_escaped("a\nb\tc\x1b[31m"), "a b c [31m");
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
