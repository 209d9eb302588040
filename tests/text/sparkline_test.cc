#include <gtest/gtest.h>

#include <vector>

#include "text/fitted.h"

namespace opbench {
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

}  // namespace
}  // namespace opbench
