#include "text/fitted.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <map>
#include <optional>
#include <string>
#include <vector>

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

// GitHub's log would read the second line of the first text as a command.
TEST(Wrapped, NoLineBeginsAsACommandOfALog) {
  EXPECT_EQ(wrapped("abcdä::error::x", 5, 0), "abcd\nä::er\nror::\nx");
}

TEST(Wrapped, TheFirstLineBeginsAfterWhatIsThere) {
  EXPECT_EQ(wrapped("one two", 7, 0, 4), "one\ntwo");
  EXPECT_EQ(wrapped("one two", 7, 2, 5), "\n  one\n  two");
}

// Counts columns instead of bytes: each of these letters has two bytes.
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

// Each letter has two bytes: 3 bytes at each end leave room for one letter.
TEST(Excerpt, LettersStayWhole) { EXPECT_EQ(excerpt("ßßßßß", 6), "ß ... 6 more bytes ... ß"); }

TEST(ByteSize, TakesTheUnitThatSuits) {
  EXPECT_EQ(byte_size_text(0), "0 bytes");
  EXPECT_EQ(byte_size_text(1023), "1023 bytes");
  EXPECT_EQ(byte_size_text(48 * 1024.0), "48 KiB");
  EXPECT_EQ(byte_size_text(1.5 * (1 << 20)), "1.5 MiB");
  EXPECT_EQ(byte_size_text(1023.99 * (1 << 20)), "1 GiB") << "not 1024 MiB";
  EXPECT_EQ(byte_size_text(12288.0 * (1 << 30)), "12 TiB");
  EXPECT_EQ(byte_size_text(0x1p64), "16 EiB");
}

namespace {

TEST(Sparkline, BarsGrowWithTheirCounts) {
  const std::vector<std::int64_t> counts = {0, 1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(sparkline(counts), " ▂▃▄▅▆▇██");
  EXPECT_EQ(sparkline(counts, false), " :-=+*#@@");
}

TEST(Sparkline, OneAmongMillionsIsSeen) {
  const std::vector<std::int64_t> counts = {1, 0, 1'000'000'000};
  EXPECT_EQ(sparkline(counts), "▁ █");
}

// Restores the variables that determine the terminal.
class Terminal : public testing::Test {
 protected:
  Terminal() {
    for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
      const char* value = std::getenv(name);
      before_[name] = value == nullptr ? std::nullopt : std::optional<std::string>(value);
      unsetenv(name);
    }
  }
  ~Terminal() override {
    for (const auto& [name, value] : before_) {
      unsetenv(name.c_str());
      if (value) setenv(name.c_str(), value->c_str(), 1);
    }
  }

 private:
  std::map<std::string, std::optional<std::string>> before_;
};

}  // namespace

TEST_F(Terminal, TheFirstVariableThatIsSetCounts) {
  EXPECT_TRUE(takes_unicode()) << "nothing says otherwise";
  setenv("LANG", "C", 1);
  EXPECT_FALSE(takes_unicode());
  setenv("LC_CTYPE", "en_GB.UTF-8", 1);
  EXPECT_TRUE(takes_unicode());
  setenv("LC_ALL", "POSIX", 1);
  EXPECT_FALSE(takes_unicode());
  setenv("LC_ALL", "", 1);
  EXPECT_TRUE(takes_unicode()) << "empty is as if it were not set";
  setenv("LC_ALL", "de_DE.utf8", 1);
  EXPECT_TRUE(takes_unicode());
}

// ECMA-48, "Select graphic rendition": 31 is red, 0 ends it.
TEST(ConsoleColour, OnlyWhereTheStyleHasAny) {
  EXPECT_EQ(coloured("slow", kRed, {.colour = true}), "\x1b[31mslow\x1b[0m");
  EXPECT_EQ(coloured("slow", kRed, {.colour = false}), "slow");
}

}  // namespace opbench
