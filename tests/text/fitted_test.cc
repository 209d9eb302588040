#include "text/fitted.h"

#include <gtest/gtest.h>

namespace opbench {

TEST(Wrapped, BreaksAtSpaces) {
  EXPECT_EQ(wrapped("one two three", 7, 2), "one two\n  three");
  EXPECT_EQ(wrapped("one two three", 6, 1), "one\n two\n three");
  EXPECT_EQ(wrapped("one two three", 80, 2), "one two three");
  EXPECT_EQ(wrapped("", 10, 2), "");
}

TEST(Wrapped, CutsWordsThatAreLongerThanALine) {
  EXPECT_EQ(wrapped("abcdefgh", 5, 2), "abcde\n  fgh");
  EXPECT_EQ(wrapped("a bcdefgh", 5, 0), "a\nbcdef\ngh");
}

// GitHub's log would take the second line of the first one for a command.
TEST(Wrapped, NoLineBeginsAsACommandOfALog) {
  EXPECT_EQ(wrapped("abcdä::error::x", 5, 0), "abcd\nä::er\nror::\nx");
}

TEST(Wrapped, TheFirstLineBeginsAfterWhatIsThere) {
  EXPECT_EQ(wrapped("one two", 7, 0, 4), "one\ntwo");
  EXPECT_EQ(wrapped("one two", 7, 2, 5), "\n  one\n  two");
}

// Columns, not bytes: each of these letters has two.
TEST(Wrapped, CountsLetters) {
  EXPECT_EQ(wrapped("äöü äöü", 3, 0), "äöü\näöü");
  EXPECT_EQ(wrapped("äöüäöü", 4, 0), "äöüä\nöü");
}

TEST(Wrapped, NoLineEndsWithASpace) { EXPECT_EQ(wrapped("one  two", 4, 0), "one\ntwo"); }

TEST(WrappedCommand, BreaksBeforeFlagsBehindABackslash) {
  EXPECT_EQ(wrapped_command("opbench --case 'a b' --threads 2", 80, 4),
            "opbench --case 'a b' --threads 2");
  EXPECT_EQ(wrapped_command("opbench --case 'a b' --threads 2", 26, 4),
            "opbench --case 'a b' \\\n    --threads 2");
  EXPECT_EQ(wrapped_command("opbench --variant fast --cold", 22, 2),
            "opbench \\\n  --variant fast \\\n  --cold");
  EXPECT_EQ(wrapped_command("opbench 'what is longer than a line' x", 12, 2),
            "opbench \\\n  'what is longer than a line' \\\n  x");
}

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
