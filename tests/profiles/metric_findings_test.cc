// Metrics of msprof besides those of pipes: their means, and the operators that they bound.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include "profiles/finding_rules.h"
#include "tests/profiles/profiles.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

/// One operator of `us` on 8 blocks with these columns, and one that fills up 1000 us.
IngestResult profile_of(const std::string& columns, const std::string& values, double us = 500) {
  return ingest_text(
      "Name,Type,Accelerator Core,Duration(us),Block Dim," + columns +
      fmt::format("\nn,One,MIX_AIC,{},8,{}\nn,Rest,AI_CPU,{},0{}\n", us, values, 1000 - us,
                  std::string(std::count(columns.begin(), columns.end(), ',') + 1, ',')));
}

std::vector<std::string> found_in(const IngestResult& result, const CoreCounts& cores = {}) {
  std::vector<Finding> found;
  find_metric_bounds(ProfileView(result), cores, found);
  std::vector<std::string> texts;
  for (const Finding& one : found) texts.push_back(one.rule + ": " + one.evidence.at(0).text);
  return texts;
}

// Two tasks of 1 and 3 us with 0.5 and 0.9: (0.5 + 2.7) / 4.
TEST(Metrics, AreMeansByTime) {
  const IngestResult result = ingest_text(
      "Name,Type,Accelerator Core,Duration(us),aic_mac_fp16_ratio,aic_cube_fops,aic_mac_ratio\n"
      "n,One,MIX_AIC,1,0.5,123456789012345678,0.1\nn,One,MIX_AIC,3,0.9,N/A,0.1\n");
  EXPECT_THAT(result.hot_spots.metric_names(),
              ElementsAre("aic_mac_fp16_ratio", "aic_cube_fops"));  // the last is of a pipe
  const HotOperator one = result.hot_spots.operators()[0];
  EXPECT_NEAR(one.metrics[0].mean(), 0.8, 1e-12);
  EXPECT_EQ(one.metrics[1].mean(), 123456789012345678.0);
}

// ZerosLike of a real table with the set ArithmeticUtilization.
TEST(Metrics, AreReadFromARealTable) {
  const IngestResult result = ingest_samples({"kernel_details/gpt_fp16_aicpu_arith.csv"});
  const std::string names[] = {"vec_int32_ratio"};
  for (const HotOperator& one : result.hot_spots.operators()) {
    if (one.name != "ZerosLike46") continue;
    EXPECT_NEAR(result.hot_spots.metric(one, names).value_or(0), 0.0822, 1e-9);
    return;
  }
  ADD_FAILURE() << "no ZerosLike46";
}

TEST(MetricBounds, AreOfTheCubeAndOfTheVectorUnit) {
  const std::string columns =
      "aic_mac_fp16_ratio,aic_mac_int8_ratio,aiv_vec_fp32_ratio,aiv_vec_misc_ratio";
  EXPECT_THAT(found_in(profile_of(columns, "0.5,0.3,0,0")),
              ElementsAre("cube_bound: 50.0 % One; mac_fp16_ratio 0.5"));
  EXPECT_THAT(found_in(profile_of(columns, "0.1,0,0.3,0.45")),
              ElementsAre("vector_bound: 50.0 % One; vec_misc_ratio 0.45"));
  EXPECT_THAT(found_in(profile_of(columns, "0.79,0,0.69,0")), IsEmpty());
  EXPECT_THAT(found_in(profile_of(columns, "0.9,0,0,0", 9)), IsEmpty());
}

// The column is of one core. 60 + 60 GB/s on 8 blocks are 960 GB/s, on 4 cores 480.
TEST(MetricBounds, AreOfTheMainMemoryOfAllCores) {
  const IngestResult result = profile_of("main_mem_read_bw(GB/s),main_mem_write_bw(GB/s)", "60,60");
  EXPECT_THAT(found_in(result), ElementsAre("bandwidth_bound: 50.0 % One; 960 GB/s on 8 cores"));
  EXPECT_THAT(found_in(result, {4, 0}), IsEmpty());
}

TEST(MetricBounds, AreConflicts) {
  const std::string columns = "vec_bankgroup_cflt_ratio,vec_bank_cflt_ratio,vec_resc_cflt_ratio";
  EXPECT_THAT(found_in(profile_of(columns, "0.01,0.05,0")),
              ElementsAre("conflict_bound: 50.0 % One; vec_bank_cflt_ratio 0.05"));
  EXPECT_THAT(found_in(profile_of(columns, "0.01,0.02,0")), IsEmpty());
}

}  // namespace
}  // namespace opbench
