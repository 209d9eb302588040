#include "text/program.h"

#include <gtest/gtest.h>

#include "tests/support/program.h"

namespace opbench {

TEST(ProgramName, IsThatOfTheFile) {
  const std::string before = program_name();
  EXPECT_EQ(before, "opbench");
  set_program_name("/usr/bin/mybench");
  EXPECT_EQ(program_name(), "mybench");
  EXPECT_EQ(with_program_name("Examples:\n  opbench run x\n  opbench report (`opbench list`); "
                              "opbench-x ../build/opbench --op opbench"),
            "Examples:\n  mybench run x\n  mybench report (`mybench list`); opbench-x "
            "../build/opbench --op opbench");
  set_program_name("a");
  EXPECT_EQ(program_name(), "a");
  set_program_name("");
  set_program_name("folder/");
  EXPECT_EQ(program_name(), "a");
  set_program_name(before);
}

// Words quoted by the rules of POSIX (Shell Command Language, 2.2) and bash's $'...'; bash reads
// them back.

TEST(ShellQuoted, PlainWordsStay) {
  EXPECT_EQ(shell_quoted("cases/resnet_50-a.yaml"), "cases/resnet_50-a.yaml");
  EXPECT_EQ(shell_quoted("N=8,C=4"), "N=8,C=4");
}

TEST(ShellQuoted, WhatMeansSomethingToAShellIsQuoted) {
  EXPECT_EQ(shell_quoted(""), "''");
  EXPECT_EQ(shell_quoted("relu[1]"), "'relu[1]'");
  EXPECT_EQ(shell_quoted("$(id)"), "'$(id)'");
  EXPECT_EQ(shell_quoted("it's"), "'it'\\''s'");
}

TEST(ShellQuoted, LinesHoldNothingThatIsNotPrintable) {
  EXPECT_EQ(shell_quoted("a\nb'\x1b"), "$'a\\012b\\047\\033'");
  EXPECT_EQ(shell_quoted("##[error]"), "$'\\043\\043\\133error\\135'");
}

TEST(ShellQuoted, BashReadsEveryWordBack) {
  std::string all;
  for (int byte = 1; byte < 256; ++byte) all += static_cast<char>(byte);
  for (const std::string& word :
       {all, std::string("$(touch x) `id` \\ \"' ; & | ~ ! * {a,b}"), std::string("a\n::error::b"),
        std::string("\\047"), std::string("größe")}) {
    const Outcome echoed = shell("bash -c " + shell_quoted("printf %s " + shell_quoted(word)));
    EXPECT_EQ(echoed.out, word);
  }
}

TEST(ShellQuoted, WordsOfALineAreGivenBack) {
  std::string all;
  for (int byte = 1; byte < 256; ++byte) all += static_cast<char>(byte);
  const std::vector<std::string> words = {"opbench", "", "it's", "a b", all, "\\047", "$(id)"};
  EXPECT_EQ(shell_words(shell_line(words)), words);
  EXPECT_TRUE(shell_words("").empty());
}

// No part of it is run: each is a word of the one command.
TEST(ShellQuoted, WordsOfALineThatWasNotQuoted) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(shell_words("opbench  --cases a/$(id).yaml; `id` | x"),
            (Words{"opbench", "--cases", "a/$(id).yaml;", "`id`", "|", "x"}));
  EXPECT_EQ(shell_words("a 'not ended"), (Words{"a", "not ended"}));
  EXPECT_EQ(shell_words("a\\ b $'\\9\\1' \\"), (Words{"a b", "\\9\\1", "\\"}));
}

TEST(ShellQuoted, ALineIsItsWords) {
  EXPECT_EQ(shell_line({"opbench", "--case", "relu[1]"}), "opbench --case 'relu[1]'");
  EXPECT_EQ(shell_line({}), "");
}

}  // namespace opbench
