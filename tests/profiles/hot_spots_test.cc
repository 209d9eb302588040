// Compares profiles of real devices with the results of Python's csv module and exact sums:
// tests/data/profiles/expected_hotspots.json.
#include "profiles/hot_spots.h"

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/profiles/profiles.h"

namespace opbench {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::SizeIs;

json expected_hot_spots() {
  std::ifstream file(test_data("profiles/expected_hotspots.json"));
  return json::parse(file).at("files");
}

// Half a unit of the rounded expected values.
constexpr double kShare = 5.1e-7;

void expect_group(const HotSpots& spots, const std::string& name, const json& wanted) {
  SCOPED_TRACE(name);
  for (std::size_t i = 0; i < spots.groups().size(); ++i) {
    if (spots.rules().groups[i].name != name) continue;
    EXPECT_EQ(spots.groups()[i].count, wanted.at("count"));
    EXPECT_NEAR(in_us(spots.groups()[i].total_ps), wanted.at("total_us"), kHalfNs);
    EXPECT_NEAR(spots.share(spots.groups()[i]), wanted.at("share"), kShare);
    return;
  }
  ADD_FAILURE() << "no such group";
}

void expect_types(const HotSpots& spots, const json& wanted) {
  const std::vector<HotType> types = spots.types();
  ASSERT_GE(types.size(), wanted.size());
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    SCOPED_TRACE(wanted[i].dump());
    EXPECT_EQ(types[i].type.empty() ? std::string("N/A") : types[i].type, wanted[i].at("type"));
    EXPECT_EQ(types[i].time.count, wanted[i].at("count"));
    EXPECT_NEAR(in_us(types[i].time.total_ps), wanted[i].at("total_us"), kHalfNs);
    EXPECT_NEAR(in_us(types[i].time.least_ps), wanted[i].at("min_us"), kHalfNs);
    EXPECT_NEAR(in_us(types[i].time.most_ps), wanted[i].at("max_us"), kHalfNs);
    EXPECT_NEAR(spots.share(types[i].time), wanted[i].at("share"), kShare);
  }
}

void expect_counts(const std::map<std::string, std::int64_t>& found, const json& wanted) {
  std::map<std::string, std::int64_t> counts;
  if (wanted.is_object()) {
    for (const auto& [key, count] : wanted.items()) counts[key == "N/A" ? "" : key] = count;
  }
  EXPECT_EQ(found, counts);
}

class Samples : public testing::TestWithParam<std::string> {};

TEST_P(Samples, HaveTheHotSpotsThatWereCounted) {
  const IngestResult result = ingest_samples({GetParam()});
  const HotSpots& spots = result.hot_spots;
  const json wanted = expected_hot_spots().at(GetParam());
  const auto malformed = std::ssize(wanted.at("malformed_lines"));
  ASSERT_THAT(result.files, SizeIs(1));
  EXPECT_EQ(result.files[0].columns, wanted.at("columns"));
  EXPECT_EQ(result.files[0].rows + result.files[0].skipped, wanted.at("rows"));
  EXPECT_EQ(result.files[0].skipped, malformed);
  EXPECT_NEAR(in_us(spots.computing().total_ps), wanted.at("compute_total_us"), kHalfNs);
  EXPECT_NEAR(in_us(spots.communication().total_ps), wanted.at("communication_total_us"), kHalfNs);
  EXPECT_EQ(spots.communication().count, wanted.at("communication_rows"));
  expect_types(spots, wanted.at("top_types"));
  const std::vector<SlowTask> slowest = spots.slowest();
  for (std::size_t i = 0; i < wanted.at("slowest_rows").size(); ++i) {
    EXPECT_NEAR(in_us(slowest[i].duration_ps), wanted["slowest_rows"][i].at("dur_us"), kHalfNs);
  }
  expect_counts(spots.tasks_by_core(), wanted.at("rows_by_core"));
  expect_counts(spots.most_blocks(), wanted.at("max_block_by_core"));
  expect_counts(spots.states(), wanted.at("op_state"));
  EXPECT_EQ(spots.long_waits().count, wanted["wait_over_10us"].at("count"));
  EXPECT_NEAR(in_us(spots.long_waits().total_ps), wanted["wait_over_10us"].at("total_us"), kHalfNs);
  EXPECT_NEAR(spots.wait_share(), wanted["wait_over_10us"].at("share_of_duration_plus_wait"),
              kShare);
  if (!spots.has_types()) return;  // the groups go by names instead
  expect_group(spots, "TransData", wanted.at("transdata"));
  expect_group(spots, "Cast", wanted.at("cast"));
  expect_group(spots, "Transpose", wanted.at("transpose"));
  expect_group(spots, "AI_CPU", wanted.at("aicpu"));
  std::set<std::vector<std::string>> different;  // distinguished by inputs only
  for (const HotOperator& one : spots.operators()) {
    if (one.input_dtypes.empty()) continue;
    different.insert({one.type, one.input_shapes, one.input_dtypes, one.input_formats});
  }
  EXPECT_EQ(std::ssize(different), wanted.at("distinct_type_shape_dtype_format"));
}

INSTANTIATE_TEST_SUITE_P(
    Profiles, Samples,
    testing::Values(
        "op_summary/op_summary_0_1_1_SYNTHETIC_cann51_resnet50_bs16.csv",
        "op_summary/op_summary_cann6_mskpp_1row.csv", "op_summary/op_summary_ffts_910b.csv",
        "kernel_details/alexnet_level1_rank0.csv", "kernel_details/block_num_renamed_DERIVED.csv",
        "kernel_details/fa_matmul_quoted_start.csv", "kernel_details/gpt_fp16_aicpu_arith.csv",
        "kernel_details/level0_8col_crlf.csv", "kernel_details/llm_bf16_st_rank0.csv",
        "kernel_details/minimal_7col.csv"));

TEST(HotSpots, GuessGroupsByNamesWhereThereAreNoTypes) {
  // AlexNet without types has 57 TransData, 4 Cast and 5 Transpose, like the run with types.
  const HotSpots spots = ingest_samples({"kernel_details/level0_8col_crlf.csv"}).hot_spots;
  EXPECT_FALSE(spots.has_types());
  std::vector<std::int64_t> counts;
  for (const DeviceTime& group : spots.groups()) counts.push_back(group.count);
  EXPECT_THAT(counts, ElementsAre(57, 4, 5, 11, 0));
}

// No network has this many types. Types beyond the limit still count in the step.
TEST(HotSpots, KeepABoundedNumberOfTypes) {
  HotSpots spots;
  constexpr std::int64_t kTasks = 250'000;
  DeviceTask task;
  task.duration_ps = 1'000'000;
  for (std::int64_t i = 0; i < kTasks; ++i) {
    const std::string type = "Type" + std::to_string(i);
    task.type = type;
    task.start_ns = 2000 * i;
    spots.add(task);
  }
  spots.end_file();
  EXPECT_EQ(spots.computing().count, kTasks);
  EXPECT_EQ(spots.types().size(), 200'000u);
  EXPECT_EQ(spots.unlisted().count, 50'000);
  EXPECT_TRUE(spots.order().is_known());
  EXPECT_EQ(spots.order().busy_ps(), kTasks * 1'000'000);
}

// Names of 1 MiB are kept up to 64 MiB.
TEST(HotSpots, KeepBoundedNames) {
  HotSpots spots;
  for (int i = 0; i < 100; ++i) {
    const std::string type(std::size_t{1} << 20, static_cast<char>('a' + i % 26));
    const std::string whole = type + std::to_string(i);
    DeviceTask task;
    task.type = whole;
    task.duration_ps = 1;
    spots.add(task);
  }
  EXPECT_EQ(spots.types().size(), 64u);
  EXPECT_EQ(spots.unlisted().count, 36);
}

TEST(HotSpots, AddUpOverSlicesThatRepeatTheHeader) {
  const std::string rows = "Name,Type,Accelerator Core,Duration(us)\na,Add,AI_CORE,1.5\n";
  const HotSpots spots = ingest_text(rows + rows).hot_spots;
  EXPECT_EQ(spots.computing().count, 2);
  EXPECT_EQ(spots.computing().total_ps, 3'000'000);
}

TEST(HotSpots, ReadTheBasicInfoOfASingleOperator) {
  const IngestResult result = ingest_text(
      "Op Name,Op Type,Task Duration(us),Block Dim,Mix Block Dim,Device Id,Pid,Current Freq,Rated "
      "Freq,\nadd_kernel,vector,12.250000,8,16,0,77,1650,1800,\n");
  EXPECT_EQ(result.files[0].kind, "OpBasicInfo");
  EXPECT_EQ(result.files[0].columns, 9);
  EXPECT_EQ(result.hot_spots.computing().total_ps, 12'250'000);
}

TEST(HotSpots, SkipRowsWithoutADurationAndSaySo) {
  const IngestResult result = ingest_text(
      "Name,Type,Accelerator Core,Duration(us)\na,Add,AI_CORE,N/A\nb,Add,AI_CORE,-1\n"
      "c,Add,AI_CORE,\x1b[31m\nd,Add,AI_CORE,2\n");
  EXPECT_EQ(result.files[0].rows, 1);
  EXPECT_THAT(
      result.files[0].problems,
      ElementsAre("t.csv:2: duration '' is not a number", "t.csv:3: duration '-1' is not a number",
                  "t.csv:4: duration '\\x1b[31m' is not a number"));
}

}  // namespace
}  // namespace opbench
