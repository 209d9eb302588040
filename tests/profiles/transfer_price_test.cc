#include "profiles/transfer_price.h"

#include <gmock/gmock.h>

#include "tests/profiles/profiles.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

IngestResult sampled(const std::string& name) {
  return ingest_files(
      {test_data("profiles") / name}, [](const std::string&) {}, [] { return false; },
      HotSpotRules::builtin(), 64);
}

// 3 us and 2 us for each byte; one point of nine is far off and changes nothing.
TEST(LinearTime, IsTheLineOfMostPoints) {
  std::vector<MeasuredTransfer> points;
  for (int i = 1; i < 10; ++i) points.push_back({double(i), 3 + 2.0 * i});
  points[4].us = 1000;
  const LinearTime time = fit_time(points);
  EXPECT_DOUBLE_EQ(time.call_us, 3);
  EXPECT_DOUBLE_EQ(time.us_per_byte, 2);
  EXPECT_DOUBLE_EQ(time.us({10, 50}), 130);
  EXPECT_NEAR(half_error(points), 0, 1e-12);
}

// By hand: times fall with the bytes, or would be negative without bytes.
TEST(LinearTime, IsNeverNegative) {
  const LinearTime falls = fit_time(std::vector<MeasuredTransfer>{{1, 9}, {2, 8}, {3, 7}});
  EXPECT_EQ(falls.us_per_byte, 0);
  EXPECT_EQ(falls.call_us, 8);
  const LinearTime steep = fit_time(std::vector<MeasuredTransfer>{{2, 1}, {3, 3}, {4, 5}});
  EXPECT_EQ(steep.call_us, 0);
  EXPECT_EQ(steep.us_per_byte, 1);
}

// The numbers of alexnet are those of a Python script over the same rows.
TEST(TransferPrices, OfSamplesPredictTheOtherHalf) {
  const TransferPrices alexnet =
      transfer_prices(sampled("kernel_details/alexnet_level1_rank0.csv"));
  EXPECT_EQ(alexnet.trans_data.kernels, 57);
  ASSERT_TRUE(alexnet.trans_data.time);
  EXPECT_NEAR(alexnet.trans_data.time->call_us, 17.26, 0.01);
  EXPECT_NEAR(alexnet.trans_data.time->us_per_byte * 1048576, 0.223, 0.001);
  EXPECT_NEAR(alexnet.trans_data.error, 0.286, 0.001);
  EXPECT_FALSE(alexnet.casts.time);  // 4 kernels
  EXPECT_NEAR(alexnet.step_us.value_or(0), 136581, 1);
  const TransferPrices llm = transfer_prices(sampled("kernel_details/llm_bf16_st_rank0.csv"));
  EXPECT_NEAR(llm.casts.error, 0.0447, 0.001);
  EXPECT_THAT(price_lines(llm),
              ElementsAre(HasSubstr("TransData: 0 kernels of 0 sizes, no price"),
                          HasSubstr("each half predicts the other"), HasSubstr("us/MiB")));
}

// TransData costs 10 us and 2 us for each byte, Cast has no price. The steps save two TransData
// with 30 bytes, then one with 10 for a Cast, then only this Cast.
TEST(TransferPrices, EstimateTheStepsOfARemedy) {
  TransferPrices prices;
  prices.trans_data.time = LinearTime{10, 2};
  prices.step_us = 160;
  Remedy remedy;
  remedy.work_before.trans_data = {3, 40};
  prices.casts.kind = "Cast";
  remedy.steps.resize(3);
  remedy.steps[0].work.trans_data = {1, 10};
  remedy.steps[1].work = {{0, 0}, {1, 8}, {}};
  estimate_savings(prices, remedy);
  ASSERT_TRUE(remedy.steps[0].estimate);
  EXPECT_EQ(remedy.steps[0].estimate->us, 80);
  EXPECT_EQ(remedy.steps[0].estimate->step_share, 0.5);
  EXPECT_EQ(remedy.steps[0].estimate->without, "");
  ASSERT_TRUE(remedy.steps[1].estimate);
  EXPECT_EQ(remedy.steps[1].estimate->us, 30);
  EXPECT_EQ(remedy.steps[1].estimate->without, "Cast");
  EXPECT_FALSE(remedy.steps[2].estimate);
}

}  // namespace
}  // namespace opbench
