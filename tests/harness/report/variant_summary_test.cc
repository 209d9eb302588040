#include "harness/report/variant_summary.h"

#include <gtest/gtest.h>

#include "tests/support/records.h"

namespace opbench::report {
namespace {

Record weighted(std::vector<double> us, const std::string& id, const std::string& variant,
                int count, double weight_us) {
  Record record = us.empty() ? record_of(id, variant) : timed_record(std::move(us), id, variant);
  record.count = count;
  record.weight_us = weight_us;
  return record;
}

// By hand: native takes 3 * 10 + 2 * 7, the best variants take 3 * 4 + 2 * 7.
TEST(NetworkTotal, IsTheSumOfCountsTimesMedians) {
  const std::vector<Record> records = {
      weighted({10}, "relu[1,fp32]", "native", 3, 50), weighted({4}, "relu[1,fp32]", "relu", 3, 50),
      weighted({7}, "add[1,1,fp32]", "native", 2, 5), weighted({}, "mul[1,1,fp32]", "native", 9, 8),
      timed_record({1000}, "tanh[1,fp32]")};
  const std::vector<NetworkTotal> totals = network_totals(records);
  ASSERT_EQ(totals.size(), 1U);
  EXPECT_DOUBLE_EQ(totals[0].native_us, 44);
  EXPECT_DOUBLE_EQ(totals[0].best_us, 26);
  EXPECT_DOUBLE_EQ(totals[0].weight_us, 55);
  EXPECT_EQ(totals[0].calls, 5);
  EXPECT_EQ(totals[0].untimed, 1U);
  EXPECT_EQ(network_text(totals[0]),
            "Network, 2 cases in 5 calls, 1 thread: 26.00 us with the fastest variants, 44.00 us "
            "native; 55.00 us when profiled; 1 cases were not timed or are disturbed");
}

TEST(NetworkTotal, IsNoneWithoutWeights) {
  EXPECT_TRUE(network_totals(std::vector{timed_record({1})}).empty());
}

}  // namespace
}  // namespace opbench::report
