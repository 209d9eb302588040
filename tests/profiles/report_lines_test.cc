#include "profiles/report_lines.h"

#include <gtest/gtest.h>

#include <sstream>

namespace opbench {
namespace {

std::string written(const ReportLayout& layout) {
  std::ostringstream out;
  ReportLines lines(out, layout);
  lines.text("one two three four", 2, 4);
  lines.row("  1 ", "aclnnAddmm_MatMulV2", " line 4");
  lines.row("  2 ", "short", " ");
  lines.row("a number 123456789 ", "name", " and a long tail");
  lines.rest(5);
  return out.str();
}

}  // namespace

TEST(ReportLines, FitTheWidth) {
  EXPECT_EQ(written({.width = 20, .top = 3}),
            "  one two three four\n"
            "  1 acln..lV2 line 4\n"
            "  2 short\n"
            "a number ..long tail\n"
            "  and 2 more\n");
  EXPECT_EQ(written({.width = 12, .top = 0}).substr(0, 42),
            "  one two\n    three\n    four\n  1 a line 4\n");
}

TEST(ReportLines, AreWholeWhereTheyMayBeWide) {
  EXPECT_EQ(written({.width = 12, .is_wide = true}),
            "  one two three four\n"
            "  1 aclnnAddmm_MatMulV2 line 4\n"
            "  2 short\n"
            "a number 123456789 name and a long tail\n");
}

}  // namespace opbench
