#include "text/filled.h"

#include <gtest/gtest.h>

namespace opbench {

TEST(Filled, ReplacesEveryPlaceOnce) {
  EXPECT_EQ(filled("{{A}} {x} {{B}}{{A}}", {{"A", "{{A}}1"}, {"B", "2"}}), "{{A}}1 {x} 2{{A}}1");
}

TEST(WithoutEscapes, IsOneLineWithoutQuotes) {
  EXPECT_EQ(without_escapes("a\"b\\c"), "a'b/c");
  EXPECT_EQ(without_escapes("a\nb").find('\n'), std::string::npos);
}

}  // namespace opbench
