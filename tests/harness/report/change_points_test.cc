#include "harness/report/change_points.h"

#include <gmock/gmock.h>

#include <random>

namespace opbench::check {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

/// Adds `count` values of N(mean, 1), times `scale`.
void add(std::vector<double>& series, int count, double mean, double scale, std::mt19937& random) {
  for (int i = 0; i < count; ++i) {
    double sum = -6;  // Irwin-Hall: the sum of twelve uniform values has variance 1
    for (int j = 0; j < 12; ++j) sum += static_cast<double>(random()) / 4294967296.0;
    series.push_back(scale * (mean + sum));
  }
}

}  // namespace

TEST(ChangePoints, ByHand) {
  EXPECT_THAT(change_points(std::vector<double>{1, 1, 1, 1, 1, 2, 2, 2, 2, 2}), ElementsAre(5));
  EXPECT_THAT(change_points(
                  std::vector<double>{5, 5, 5, 5, 5, 5, 1, 1, 1, 1, 1, 1, 1, 3, 3, 3, 3, 3, 3, 3}),
              ElementsAre(6, 13));
}

TEST(ChangePoints, NothingChangesWhereNothingDoes) {
  EXPECT_THAT(change_points({}), IsEmpty());
  EXPECT_THAT(change_points(std::vector<double>{1, 2, 3, 4, 5}), IsEmpty()) << "too few";
  EXPECT_THAT(change_points(std::vector<double>(50, 3.0)), IsEmpty());
  EXPECT_THAT(change_points(std::vector<double>{1, 1, 1, 1, 1, 1, 9, 1, 1, 1, 1, 1, 1, 1, 1}),
              IsEmpty())
      << "one run is no change";
  // Three values of one kind and three of another are one of 20 orders, so no test at 5% can
  // decide.
  EXPECT_THAT(change_points(std::vector<double>{1, 1, 1, 2, 2, 2}), IsEmpty());
}

// At 5%, about 5 of 100 series without a change report one. 13 or more occur in one of a thousand
// cases.
TEST(ChangePoints, ATestAtFivePercentErrsInFivePercent) {
  std::mt19937 random(7);
  int found = 0;
  for (int i = 0; i < 100; ++i) {
    std::vector<double> series;
    add(series, 40, 0, 1, random);
    found += !change_points(series).empty();
  }
  EXPECT_LT(found, 13);
}

// The shift is three standard deviations, with 20 runs on each side.
TEST(ChangePoints, AShiftIsFoundWhereItIs) {
  std::mt19937 random(11);
  int found = 0;
  for (int i = 0; i < 50; ++i) {
    std::vector<double> series;
    add(series, 20, 0, 0.01, random);
    add(series, 20, 3, 0.01, random);
    const std::vector<std::size_t> places = change_points(series);
    found += std::any_of(places.begin(), places.end(),
                         [](std::size_t place) { return place >= 19 && place <= 21; });
  }
  EXPECT_GE(found, 48);
}

TEST(ChangePoints, UnitsDoNotMatter) {
  std::mt19937 random(3);
  std::vector<double> series, scaled;
  add(series, 15, 0, 1, random);
  add(series, 15, 4, 1, random);
  for (const double value : series) scaled.push_back(1e-6 * value + 7);
  EXPECT_THAT(change_points(series), ElementsAre(15));
  EXPECT_EQ(change_points(scaled), change_points(series));
}

}  // namespace opbench::check
