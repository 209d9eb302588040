#include "text/excerpt.h"

#include <gtest/gtest.h>

namespace opbench {

TEST(Excerpt, ShortTextsStay) {
  EXPECT_EQ(excerpt("", 4), "");
  EXPECT_EQ(excerpt("abcd", 4), "abcd");
}

TEST(Excerpt, LongOnesKeepBothEnds) {
  EXPECT_EQ(excerpt("abcdefghij", 4), "ab ... 6 more bytes ... ij");
}

// Letters of two bytes: with room for 3 bytes at each end one letter stays.
TEST(Excerpt, LettersStayWhole) { EXPECT_EQ(excerpt("ßßßßß", 6), "ß ... 6 more bytes ... ß"); }

}  // namespace opbench
