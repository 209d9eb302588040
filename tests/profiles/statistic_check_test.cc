#include <gmock/gmock.h>

#include "profiles/ingest.h"
#include "tests/profiles/profiles.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

StatisticCheck check_pair(const std::string& tasks, const std::string& statistic) {
  const IngestResult result = ingest_samples({tasks, statistic});
  EXPECT_TRUE(result.check);
  return result.check.value_or(StatisticCheck{});
}

TEST(StatisticCheck, TasksOfARunReproduceItsStatistic) {
  const StatisticCheck llm =
      check_pair("kernel_details/llm_bf16_st_rank0.csv", "op_statistic/llm_bf16_st_rank0.csv");
  EXPECT_EQ(llm.groups, 35);
  EXPECT_EQ(llm.exact, 35);
  const StatisticCheck resnet =
      check_pair("op_summary/op_summary_0_1_1_SYNTHETIC_cann51_resnet50_bs16.csv",
                 "op_statistic/op_statistic_0_1_1_SYNTHETIC_cann51_resnet50_bs16.csv");
  EXPECT_EQ(resnet.exact, resnet.groups);
  // Durations of this run were rounded to ns before they were written. 57 TransData take 1423.202
  // us by their rows and 1423.208 us by the statistic.
  const StatisticCheck alexnet = check_pair("kernel_details/alexnet_level1_rank0.csv",
                                            "op_statistic/alexnet_level1_rank0.csv");
  EXPECT_EQ(alexnet.groups, 33);
  EXPECT_EQ(alexnet.exact, 24);
  EXPECT_EQ(alexnet.within_rounding, 9);
  EXPECT_THAT(alexnet.differences, IsEmpty());
}

TEST(StatisticCheck, SaysWhatDiffers) {
  const std::vector<HotType> types = {{"Add", "AI_CORE", {2, 3'000'000, 1'000'000, 2'000'000, 3}},
                                      {"Cast", "AI_CPU", {1, 5'000'000, 5'000'000, 5'000'000, 3}}};
  const Decimal one{1'000'000, 3}, two{2'000'000, 3}, three{3'000'000, 3};
  const StatisticCheck check = check_statistic(
      types, {{"Add", "AI_CORE", 2, three, one, two}, {"Mul", "AI_CORE", 1, one, one, one}});
  EXPECT_EQ(check.exact, 1);
  EXPECT_THAT(
      check.differences,
      ElementsAre("Cast on AI_CPU: tasks 1 in 5.000 us (5.000 to 5.000), op_statistic none",
                  "Mul on AI_CORE: tasks none, op_statistic 1 in 1.000 us (1.000 to 1.000)"));
}

TEST(StatisticCheck, AMicrosecondIsNoRounding) {
  const Decimal two{2'000'000, 3};
  const StatisticCheck check =
      check_statistic({{"Add", "AI_CORE", {1, 1'000'000, 1'000'000, 1'000'000, 3}}},
                      {{"Add", "AI_CORE", 1, two, two, two}});
  EXPECT_FALSE(check.agrees());
}

}  // namespace
}  // namespace opbench
