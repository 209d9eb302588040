// RFC 3629, sections 3 and 4.
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
  expect_character("\x80", 0, 0);              // goes on from nothing
  expect_character("\xc0\xaf", 0, 0);          // '/' in two bytes
  expect_character("\xe0\x80\xaf", 0, 0);      // and in three
  expect_character("\xed\xa0\x80", 0, 0);      // a surrogate
  expect_character("\xf4\x90\x80\x80", 0, 0);  // U+110000
  expect_character("\xe2\x80", 0, 0);          // cut off
  expect_character("\xff", 0, 0);
}

}  // namespace opbench
