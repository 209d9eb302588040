#include "tensor/printable.h"

#include <gtest/gtest.h>

namespace opbench {

TEST(Printable, ControlCharactersAreEscaped) {
  EXPECT_EQ(printable("a\nb\r\x1b[31m\x7f"), "a\\x0ab\\x0d\\x1b[31m\\x7f");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

// U+009B begins a sequence as ESC [ does, U+2028 ends a line, the others turn the text around.
TEST(Printable, CharactersBeyondAsciiThatTerminalsActUponAreEscaped) {
  EXPECT_EQ(printable("a\u009b31m"), "a\\u009b31m");
  EXPECT_EQ(printable("\u0085\u2028\u2029"), "\\u0085\\u2028\\u2029");
  EXPECT_EQ(printable("\u202egnp.exe\u2066\u061c\u200f"), "\\u202egnp.exe\\u2066\\u061c\\u200f");
}

TEST(Printable, BytesThatAreNoUtf8AreEscaped) {
  EXPECT_EQ(printable("gr\xf6\xdf"
                      "e"),
            "gr\\xf6\\xdfe");
  EXPECT_EQ(printable("\xc0\xaf\xe2\x80"), "\\xc0\\xaf\\xe2\\x80");
}

// A line of a CI log that begins "::" or holds "##[" would be a command.
TEST(Printable, CommandsOfCiLogsAreEscaped) {
  EXPECT_EQ(printable("::error::x"), "\\x3a:error::x");
  EXPECT_EQ(printable("a ::error::x"), "a \\x3a:error::x");
  EXPECT_EQ(printable("a##[error]x"), "a\\x23#[error]x");
}

TEST(Printable, AllElseStays) {
  EXPECT_EQ(printable("conv1 größe \\ ~ # std::vector 漢字 \U0001F600"),
            "conv1 größe \\ ~ # std::vector 漢字 \U0001F600");
  EXPECT_EQ(printable(""), "");
}

TEST(Printable, TwiceIsOnce) {
  const std::string once = printable("\x1b ::error:: ## \u202e \xff");
  EXPECT_EQ(printable(once), once);
}

}  // namespace opbench
