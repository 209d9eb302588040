#include "compare/align_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <random>
#include <string>

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;
using Pair = std::pair<std::size_t, std::size_t>;

constexpr std::size_t kAll = 1 << 20;

// Equal letters have the likeness 3, any other pair has 1.
Alignment aligned(const std::string& actual, const std::string& expected,
                  std::size_t most_cells = kAll) {
  const auto alike = [&](std::size_t i, std::size_t j) {
    return actual[i] == expected[j] ? 3.0 : 1.0;
  };
  return align(actual.size(), expected.size(), alike, 3, most_cells);
}

// The expected letters under the actual ones. A letter without a partner has '-'.
std::string partners(const std::string& actual, const std::string& expected,
                     std::size_t most_cells = kAll) {
  std::string text(actual.size(), '-');
  for (const auto& [i, j] : aligned(actual, expected, most_cells)) text[i] = expected[j];
  return text;
}

TEST(Align, AnExtraOneShiftsNothing) {
  EXPECT_EQ(partners("xabcd", "abcd"), "-abcd");
  EXPECT_EQ(partners("abxcd", "abcd"), "ab-cd");
  EXPECT_EQ(partners("abcdx", "abcd"), "abcd-");
  EXPECT_EQ(partners("xabycd", "abcd"), "-ab-cd");
  EXPECT_THAT(aligned("abcd", "xabcd"),
              ElementsAre(Pair{0, 1}, Pair{1, 2}, Pair{2, 3}, Pair{3, 4}));
}

TEST(Align, RepeatedOnesPairEarly) {
  EXPECT_EQ(partners("aaaa", "aa"), "aa--");
  EXPECT_EQ(partners("aabaa", "aba"), "a-ba-");
}

TEST(Align, PairsWhatIsBarelyAlikeRatherThanNothing) {
  EXPECT_EQ(partners("axc", "abc"), "abc");
  EXPECT_EQ(partners("x", "y"), "y");
}

TEST(Align, NothingPairsWithNothing) {
  EXPECT_THAT(aligned("", ""), IsEmpty());
  EXPECT_THAT(aligned("abc", ""), IsEmpty());
}

// The best sum, found by trying all alignments.
double best_sum(const std::string& a, const std::string& e, std::size_t i, std::size_t j) {
  if (i == a.size() || j == e.size()) return 0;
  const double pair = (a[i] == e[j] ? 3.0 : 1.0) + best_sum(a, e, i + 1, j + 1);
  return std::max({pair, best_sum(a, e, i + 1, j), best_sum(a, e, i, j + 1)});
}

TEST(Align, IsTheBestOfAll) {
  std::mt19937 random(7);
  for (int round = 0; round < 200; ++round) {
    std::string a(random() % 7, ' '), e(random() % 7, ' ');
    for (char& letter : a) letter = "abc"[random() % 3];
    for (char& letter : e) letter = "abc"[random() % 3];
    double sum = 0;
    std::size_t next_i = 0, next_j = 0;
    for (const auto& [i, j] : aligned(a, e)) {
      ASSERT_TRUE(i >= next_i && j >= next_j) << a << ' ' << e;
      next_i = i + 1;
      next_j = j + 1;
      sum += a[i] == e[j] ? 3 : 1;
    }
    EXPECT_EQ(sum, best_sum(a, e, 0, 0)) << a << ' ' << e;
  }
}

TEST(Align, LongSequencesKeepToABand) {
  std::string expected;
  for (int i = 0; i < 20000; ++i) expected += "abcdefg"[i * i % 7];
  std::string actual = expected;
  actual.insert(5000, 1, 'x');
  actual.insert(15000, 1, 'y');
  std::size_t calls = 0;
  const auto alike = [&](std::size_t i, std::size_t j) {
    ++calls;
    return actual[i] == expected[j] ? 3.0 : 1.0;
  };
  const Alignment alignment = align(actual.size(), expected.size(), alike, 3, kAll);
  EXPECT_LT(calls, kAll + 2 * actual.size());
  ASSERT_EQ(alignment.size(), expected.size());
  for (const auto& [i, j] : alignment) EXPECT_EQ(actual[i], expected[j]) << i;
}

TEST(Align, AnExtraOneInALongSequenceOfDifferentOnes) {
  constexpr std::size_t kCount = 5000;
  for (const std::size_t extra : {std::size_t{0}, kCount / 2, kCount}) {
    const auto alike = [&](std::size_t i, std::size_t j) {
      return i != extra && i - (i > extra) == j ? 3.0 : 1.0;
    };
    const Alignment alignment = align(kCount + 1, kCount, alike, 3, 100000);
    ASSERT_EQ(alignment.size(), kCount) << extra;
    for (const auto& [i, j] : alignment) ASSERT_EQ(i, j + (j >= extra)) << extra;
  }
}

TEST(Align, GivesUpWhereNoBandFits) {
  // 100 against 40 needs 61 diagonals. 41 rows of 61 cells exceed 1000 cells.
  EXPECT_THAT(aligned(std::string(40, 'a'), std::string(100, 'b'), 1000), IsEmpty());
  EXPECT_EQ(aligned(std::string(40, 'a'), std::string(100, 'b'), 3000).size(), 40u);
}

}  // namespace
}  // namespace opbench
