#include "judge/error_map.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <random>
#include <vector>

#include "tests/support/non_finite.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;
using testing::Each;
using testing::ElementsAre;

// A tensor of ones, with 2 added if `is_wrong(row, column)`.
template <class IsWrong>
ErrorMap map_with(const Dims& shape, IsWrong is_wrong) {
  std::size_t count = 1;
  for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
  const auto width = static_cast<std::size_t>(shape.back());
  const std::vector<double> expected(count, 1);
  std::vector<double> actual = expected;
  for (std::size_t i = 0; i < count; ++i) {
    if (is_wrong(i / width, i % width)) actual[i] = 3;
  }
  return error_map(actual, expected, shape);
}

}  // namespace

TEST(ErrorJson, HasTheCountsFromTheFirstBucketToTheLastThatHoldAny) {
  ErrorHistogram histogram;
  histogram.exact = 7;
  // Bucket b begins at 2^(b - 1 + kLowest). The buckets used begin at 2^-3 and 2^0.
  histogram.counts.add(static_cast<std::size_t>(-3 + 1 - ErrorHistogram::kLowest), 2);
  histogram.counts.add(static_cast<std::size_t>(1 - ErrorHistogram::kLowest), 1);
  Json value;
  add_histogram(&histogram, value);
  EXPECT_EQ(value, Json::parse(R"({"histogram_exact": 7, "histogram_first_exponent": -3,
                                   "histogram": [2, 0, 0, 1]})"));
}

TEST(ErrorJson, HasNoExponentWithoutAnErrorAndNothingUnmeasured) {
  ErrorHistogram histogram;
  histogram.exact = 3;
  Json equal, unmeasured;
  add_histogram(&histogram, equal);
  add_histogram(nullptr, unmeasured);
  EXPECT_EQ(equal, Json::parse(R"({"histogram_exact": 3, "histogram_first_exponent": null,
                                   "histogram": []})"));
  EXPECT_EQ(unmeasured, Json::parse(R"({"histogram_exact": null, "histogram_first_exponent": null,
                                        "histogram": []})"));
}

TEST(ErrorJson, HasTheMapInTwoDigitsAndNullForNaN) {
  const std::vector<double> actual = {1, 2.125, NAN, 4}, expected = {1, 2, 3, 4};
  const Json value = error_map_value(error_map(actual, expected, {2, 2}));
  EXPECT_EQ(value, Json::parse(R"({"shape": "2x2", "row_step": 1, "column_step": 1,
      "errors": [[0.0, 0.12], [null, 0.0]],
      "axes": [{"by_remainder": [0.12, null], "last": null, "before_last": 0.12},
               {"by_remainder": [null, 0.12], "last": 0.12, "before_last": null}]})"));
}

// The map shows the places of errors in a tensor. Expected values are computed by hand from the
// definition in the header.
TEST(ErrorMap, SmallTensorsHaveACellForEachElement) {
  const std::vector<double> actual = {1, 2, 3, 4, 5, 6}, expected = {1, 2.5, 3, 4, 5, 4};
  const ErrorMap map = error_map(actual, expected, {2, 3});
  EXPECT_EQ(map.rows, 2u);
  EXPECT_EQ(map.columns, 3u);
  EXPECT_THAT(map.errors, ElementsAre(0, 0.5, 0, 0, 0, 2));
  ASSERT_EQ(map.axes.size(), 2u);
  EXPECT_THAT(map.axes[0].by_remainder, ElementsAre(0.5, 2));
  EXPECT_THAT(map.axes[1].by_remainder, ElementsAre(0, 0.5, 2));
  EXPECT_EQ(map.axes[0].last, 2);
  EXPECT_EQ(map.axes[0].before_last, 0.5);
}

// 100 columns of 300 rows give cells of 2 columns and 16 rows. Every 16th column is wrong.
TEST(ErrorMap, TilesStayVisible) {
  const ErrorMap map =
      map_with({3, 100, 100}, [](std::size_t, std::size_t column) { return column % 16 == 15; });
  EXPECT_EQ(map.column_step, 2u);
  EXPECT_EQ(map.row_step, 16u);
  EXPECT_EQ(map.rows, 19u);
  for (std::size_t column = 0; column < map.columns; ++column) {
    EXPECT_EQ(map.errors[column], column % 8 == 7 ? 2 : 0) << column;
  }
  for (std::size_t place = 0; place < 32; ++place) {
    EXPECT_EQ(map.axes[2].by_remainder[place], place % 16 == 15 ? 2 : 0) << place;
  }
  EXPECT_EQ(map.axes[2].last, 0) << "99 % 16 is 3";
  EXPECT_EQ(map.axes[2].before_last, 2);
}

// 64 channels of 56 rows are 3584 rows. A cell holds two whole channels, never parts of three.
TEST(ErrorMap, RowsOfACellAreWholeInnerAxes) {
  const ErrorMap map = map_with({1, 64, 56, 56}, [](std::size_t row, std::size_t) {
    return row / 56 >= 48;  // channels from 48 on
  });
  EXPECT_EQ(map.row_step, 112u);
  ASSERT_EQ(map.rows, 32u);
  for (std::size_t row = 0; row < map.rows; ++row) {
    EXPECT_EQ(map.errors[row * map.columns], row >= 24 ? 2 : 0) << row;
  }
  EXPECT_EQ(map.axes[1].last, 2);
  EXPECT_THAT(map.axes[0].by_remainder, ElementsAre(2));
  EXPECT_EQ(map.axes[0].before_last, 0) << "there is one place";
}

TEST(ErrorMap, TheLastRowAndColumnAreApart) {
  const ErrorMap map = map_with(
      {70, 1000}, [](std::size_t row, std::size_t column) { return row == 69 || column == 999; });
  EXPECT_EQ(map.axes[0].last, 2);
  EXPECT_EQ(map.axes[0].before_last, 2) << "in the last column";
  EXPECT_EQ(map.errors.back(), 2);
  EXPECT_EQ(map.errors.front(), 0);
}

// Errors are above 0 everywhere, so a cell with 0 would be a cell without elements.
TEST(ErrorMap, HasFewCellsAndTheLargestErrorForAnyShape) {
  const std::vector<Dims> shapes = {{1},       {100003},        {3, 1, 5},
                                    {1000, 3}, {2, 3, 5, 7},    {33, 65},
                                    {1, 1, 1}, {129, 1, 1, 64}, {7, 40, 9, 33}};
  std::mt19937 random(7);
  for (const Dims& shape : shapes) {
    std::size_t count = 1;
    for (const std::int64_t extent : shape) count *= static_cast<std::size_t>(extent);
    std::vector<double> actual(count), expected(count);
    for (double& value : actual) value = std::uniform_real_distribution<>(0, 1)(random);
    const ErrorMap map = error_map(actual, expected, shape);
    const double most = *std::max_element(actual.begin(), actual.end());
    EXPECT_LE(map.rows, ErrorMap::kMostRows) << to_string(shape);
    EXPECT_LE(map.columns, ErrorMap::kMostColumns) << to_string(shape);
    EXPECT_EQ(map.errors.size(), map.rows * map.columns);
    EXPECT_GT(*std::min_element(map.errors.begin(), map.errors.end()), 0) << "every cell is filled";
    EXPECT_EQ(*std::max_element(map.errors.begin(), map.errors.end()), most);
    for (const AxisErrors& axis : map.axes) EXPECT_EQ(std::max(axis.last, axis.before_last), most);
  }
}

TEST(ErrorMap, WhatIsNotFiniteOnOneSideIsInfinite) {
  const std::vector<double> actual = {kNan, kInf, kNan, kInf, 1, -kInf},
                            expected = {kNan, kInf, 1, 1, kNan, kInf};
  EXPECT_THAT(error_map(actual, expected, {6}).errors, ElementsAre(0, 0, kInf, kInf, kInf, kInf));
}

TEST(ErrorMap, AScalarIsOneCellAndNothingIsNone) {
  const std::vector<double> one = {2}, other = {1};
  const ErrorMap map = error_map(one, other, {});
  EXPECT_THAT(map.errors, ElementsAre(1));
  EXPECT_THAT(map.shape, Each(1));
  EXPECT_EQ(error_map({}, {}, {0, 3}).errors.size(), 0u);
}

}  // namespace opbench
