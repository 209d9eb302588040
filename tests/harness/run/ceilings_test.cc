// Shares of ceilings, with synthetic rates.
#include <gmock/gmock.h>

#include "tests/support/records.h"

namespace opbench {
namespace {

// 1e6 bytes and 2e6 operations in `us`, with copies at 10 GB/s (100 us) and multiply-adds at 40
// GFLOP/s (50 us).
Record rated(double us, double bytes = 1e6, double operations = 2e6, bool is_latency = false) {
  Record record = record_of();
  record.bytes = bytes;
  record.operations = operations;
  record.copy_gb_per_s = 10;
  record.peak_gflop_per_s = 40;
  set_bound(record, is_latency);
  set_times(record, {{0, 0, 1e3 * us, 1}});
  judge_rates(record);
  return record;
}

}  // namespace

TEST(Ceilings, TheSlowerOfBothBounds) {
  EXPECT_EQ(rated(200).bound, Bound::memory);
  EXPECT_DOUBLE_EQ(rated(200).times->percent_of_roofline, 50);
  const Record computed = rated(400, 1e6, 8e6);  // the operations need 200 us
  EXPECT_EQ(computed.bound, Bound::compute);
  EXPECT_DOUBLE_EQ(computed.times->percent_of_roofline, 50);
  EXPECT_DOUBLE_EQ(computed.times->percent_of_copy, 25);
  EXPECT_EQ(rated(200, 1e6, 2e6, true).bound, Bound::latency);
  EXPECT_EQ(rated(400, 1e6, 8e6, true).bound, Bound::compute) << "long enough";
}

TEST(Ceilings, WithoutThemThereIsNoShare) {
  Record record = record_of();
  record.bytes = 1e6;
  set_bound(record, false);
  EXPECT_EQ(record.bound, Bound::unknown);
  set_times(record, {{0, 0, 1e3, 1}});
  judge_rates(record);
  EXPECT_EQ(record.times->percent_of_roofline, 0);
  EXPECT_EQ(record.reason, "");
  record.copy_gb_per_s = 10;  // integers have no multiply-adds
  set_bound(record, false);
  EXPECT_EQ(record.bound, Bound::memory);
}

TEST(Ceilings, BeyondThemIsADefectOfTheCeiling) {
  EXPECT_EQ(rated(96).reason, "") << "104 %";
  EXPECT_EQ(rated(94).status, Status::passed);
  EXPECT_EQ(rated(94).reason,
            "106% of the roofline: the ceiling was measured too low, or less is moved than is "
            "counted");
  EXPECT_THAT(rated(180, 1e6, 8e6).reason, testing::StartsWith("111% of the roofline"));
}

TEST(Ceilings, BeyondTwiceTheCopyNothingIsReal) {
  const Record record = rated(80, 2e6);  // 25 GB/s, with copies at 10
  EXPECT_EQ(record.status, Status::suspicious);
  EXPECT_EQ(record.reason, "250% of the fastest copy; no more than 200% can be real");
  EXPECT_EQ(rated(40).status, Status::passed) << "less than 1 MiB";
}

}  // namespace opbench
