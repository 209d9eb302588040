#include "tensor/error.h"

#include <gtest/gtest.h>

#include <vector>

namespace opbench {
namespace {

const std::vector<std::string> kNames = {"relu", "softplus", "softplus_v2", "sum"};

}  // namespace

// A message is printed unchanged, and may contain text from a file.
TEST(Error, ItsMessageIsOnePrintableLine) {
  EXPECT_STREQ(Error("cases.yaml: no operator a\n\x1b[31mb").what(),
               "cases.yaml: no operator a\\x0a\\x1b[31mb");
  EXPECT_STREQ(RunError("disk\tfull\r").what(), Error("disk\tfull\r").what());
}

// The distance is that of Damerau and Levenshtein: insertions, deletions and replacements of one
// letter, and swaps of two.
TEST(Nearest, TakesTheSmallestDistance) {
  EXPECT_EQ(nearest("softplus", kNames), "softplus");
  EXPECT_EQ(nearest("softplusv2", kNames), "softplus_v2") << "1 against 2";
  EXPECT_EQ(nearest("gelu", kNames), "relu");
  EXPECT_EQ(nearest("rleu", {{"le", "relu"}}), "relu") << "two letters swapped are one mistake";
  EXPECT_EQ(nearest("--versoin", {{"--verbose", "--version"}}), "--version");
  EXPECT_EQ(nearest("smu", {{"mu", "sum"}}), "mu") << "the first of those that are as near";
}

// A near name differs in at most 2 letters, or in a third of a long name.
TEST(Nearest, NothingIsNearToWhatIsFar) {
  EXPECT_EQ(nearest("matmul", kNames), "");
  EXPECT_EQ(nearest("abc", {{"xyz"}}), "");
  EXPECT_EQ(nearest("abcdefghi", {{"xyzdefghi"}}), "xyzdefghi");
  EXPECT_EQ(nearest("abcdefghi", {{"wxyzefghi"}}), "");
  EXPECT_EQ(nearest("relu", {}), "");
}

TEST(Nearest, SuggestsOneNameOrShowsAll) {
  EXPECT_EQ(suggestion("rely", kNames), "; did you mean 'relu'?");
  EXPECT_EQ(suggestion("matmul", kNames), "; allowed: relu, softplus, softplus_v2, sum");
}

}  // namespace opbench
