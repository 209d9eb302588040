#include "tensor/utf8.h"

#include <gtest/gtest.h>

namespace opbench {
namespace {

void expect_character(std::string_view text, char32_t code, std::size_t bytes) {
  const Utf8Character found = utf8_character(text, 0);
  EXPECT_EQ(found.bytes, bytes) << text;
  EXPECT_EQ(found.code, code) << text;
}

}  // namespace

// Source: RFC 3629, sections 3 and 4.
TEST(Utf8, CharactersOfEveryLength) {
  expect_character("a", 'a', 1);
  expect_character(std::string_view("\0", 1), 0, 1);
  expect_character("\xc2\x9b", 0x9B, 2);
  expect_character("ß!", 0xDF, 2);
  expect_character("\xe2\x80\xae", 0x202E, 3);
  expect_character("\xf4\x8f\xbf\xbf", 0x10FFFF, 4);
  EXPECT_EQ(utf8_character("aß", 1).code, 0xDFu);
}

TEST(Utf8, WhatIsNoneHasNoBytes) {
  expect_character("", 0, 0);
  expect_character("\x80", 0, 0);              // continues nothing
  expect_character("\xc0\xaf", 0, 0);          // '/' in two bytes
  expect_character("\xe0\x80\xaf", 0, 0);      // '/' in three bytes
  expect_character("\xed\xa0\x80", 0, 0);      // a surrogate
  expect_character("\xf4\x90\x80\x80", 0, 0);  // U+110000
  expect_character("\xe2\x80", 0, 0);          // cut off
  expect_character("\xff", 0, 0);
}

TEST(Printable, ControlCharactersAreEscaped) {
  EXPECT_EQ(printable("a\nb\r\x1b[31m\x7f"), "a\\x0ab\\x0d\\x1b[31m\\x7f");
  EXPECT_EQ(printable(std::string_view("\0", 1)), "\\x00");
}

// U+009B begins a sequence like ESC [, U+2028 ends a line, and the others reverse the text.
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

// A line of a CI log that begins with "::" or contains "##[" would be a command.
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
