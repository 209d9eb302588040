#include "cli/progress.h"

#include <gtest/gtest.h>

namespace opbench {
namespace {

using std::chrono::seconds;

TEST(TimeLeft, IsToldAfterTheSecondCase) {
  const TimeLeft left({1, 1, 2, 6});
  const auto start = TimeLeft::Clock::now();
  EXPECT_EQ(left.text(0, start + seconds(10)), "");
  EXPECT_EQ(left.text(1, start + seconds(10)), "");
  EXPECT_EQ(left.text(2, start + seconds(1)), "");
  // The expected share of the time counts, not the number of cases: 2 of 10 are done.
  EXPECT_EQ(left.text(2, start + seconds(90)), ", about 6 min left");
  EXPECT_EQ(left.text(3, start + seconds(20)).substr(0, 8), ", about ");
  EXPECT_EQ(left.text(9, start + seconds(20)), "");
}

TEST(TimeLeft, NothingIsSaidOfCasesThatCostNothing) {
  EXPECT_EQ(TimeLeft({0, 0, 1}).text(2, TimeLeft::Clock::now() + seconds(10)), "");
}

TEST(Duration, HasAUnitThatSuitsIt) {
  EXPECT_EQ(duration_text(12), "12 s");
  EXPECT_EQ(duration_text(3720), "62 min");
  EXPECT_EQ(duration_text(12600), "3.5 h");
}

}  // namespace
}  // namespace opbench
