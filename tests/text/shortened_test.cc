#include "text/shortened.h"

#include <gtest/gtest.h>

namespace opbench {

TEST(Shortened, KeepsWhatFitsAndBothEndsOfTheRest) {
  EXPECT_EQ(shortened("", 5), "");
  EXPECT_EQ(shortened("abcde", 5), "abcde");
  EXPECT_EQ(shortened("abcdef", 5), "ab..f");
  EXPECT_EQ(shortened("hcom_allReduce__586_0_1", 18), "hcom_all.._586_0_1");
  EXPECT_EQ(shortened("abc", 2), "ab");
  EXPECT_EQ(shortened("abc", 0), "");
}

TEST(Shortened, CutsBetweenLetters) {
  EXPECT_EQ(shortened("\u00e4\u00f6\u00fc\u00df\u00e9\u00e8", 5), "\u00e4\u00f6..\u00e8");
  EXPECT_EQ(shortened("\u00e4\u00f6", 1), "\u00e4");
}

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
