#include "judge/indices.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace opbench {
namespace {

using Values = std::vector<double>;

// The two greatest of 7 3 7 7.
constexpr IndexedLines kTwoOfFour{.extent = 4, .places = 2, .are_distinct = true};
const Values kLine = {7, 3, 7, 7};

bool is_right(const Values& actual) {
  return name_equal_elements(kTwoOfFour, kLine, actual, Values{0, 2});
}

TEST(Indices, OfEqualElementsAnyIsRight) {
  EXPECT_TRUE(is_right({0, 2}));
  EXPECT_TRUE(is_right({3, 0}));
}

TEST(Indices, OfOthersNone) {
  EXPECT_FALSE(is_right({0, 1}));
  EXPECT_FALSE(is_right({2, 2})) << "named twice";
  for (const double beyond : {-1.0, 4.0, 0.5, std::nan("")}) EXPECT_FALSE(is_right({0, beyond}));
}

TEST(Indices, NanIsEqualToNan) {
  EXPECT_TRUE(name_equal_elements({.extent = 3}, Values{NAN, 1, NAN}, Values{2}, Values{0}));
  EXPECT_FALSE(name_equal_elements({.extent = 3}, Values{NAN, 1, NAN}, Values{1}, Values{0}));
}

// The two greatest of four computed scores, each within 2^-18.
TEST(Indices, ScoresWithinTheirBoundAreEqual) {
  const Values scores = {1, 1.000001, 0.5, 0.99999905}, bounds(4, 0x1p-18);
  const auto is_accepted = [&](const Values& actual) {
    return name_equal_elements(kTwoOfFour, scores, actual, Values{1, 0}, bounds);
  };
  EXPECT_TRUE(is_accepted({1, 0}));
  EXPECT_TRUE(is_accepted({0, 3}));
  EXPECT_FALSE(is_accepted({1, 2}));
  EXPECT_FALSE(is_accepted({1, 1})) << "named twice";
}

// A finished token has the number of experts in place of an expert.
TEST(Indices, AnExpectedIndexOutsideOfTheLineIsExact) {
  EXPECT_TRUE(name_equal_elements(kTwoOfFour, kLine, Values{4, 4}, Values{4, 4}));
  EXPECT_FALSE(name_equal_elements(kTwoOfFour, kLine, Values{0, 4}, Values{4, 4}));
}

// Columns of [[5 1] [5 2]]. Lines along the first axis are two elements apart.
TEST(Indices, LinesMayBeAnyAxis) {
  const IndexedLines columns{.extent = 2, .inner = 2};
  EXPECT_TRUE(name_equal_elements(columns, Values{5, 1, 5, 2}, Values{1, 1}, Values{0, 1}));
  EXPECT_FALSE(name_equal_elements(columns, Values{5, 1, 5, 2}, Values{1, 0}, Values{0, 1}));
}

// Several windows of a pool may name the same place.
TEST(Indices, PlacesOfAPlaneMayRepeat) {
  const IndexedLines plane{.extent = 4, .places = 2};
  EXPECT_TRUE(name_equal_elements(plane, Values{1, 9, 9, 0}, Values{2, 2}, Values{1, 1}));
}

}  // namespace
}  // namespace opbench
