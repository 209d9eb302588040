// Tests Google Benchmark's JSON and the list of the tracking action.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

#include "harness/report/report.h"
#include "tests/support/records.h"

namespace opbench::report {
namespace {

using Json = nlohmann::ordered_json;

Record timed() {
  Record record = record_of();
  record.threads = 2;
  record.bytes = 512;
  record.elements = 64;
  record.copy_gb_per_s = 1;
  set_times(record, {{0, 0, 1e3, 100}, {0, 0, 2e3, 100}, {0, 0, 6e3, 100}});
  return record;
}

Json gbench(const std::vector<Record>& records) {
  RunResult result;
  result.records = records;
  Machine machine;
  machine.cores = 4;
  machine.l2_bytes = 2 << 20;
  machine.build_type = "Debug";
  std::ostringstream out;
  write_gbench(out, result, machine, "opbench \xFF");
  return Json::parse(out.str());
}

}  // namespace

TEST(GoogleBenchmarkJson, EveryRepetition) {
  const Json entry = gbench({timed()})["benchmarks"][1];
  EXPECT_EQ(entry["name"], "relu[64,fp32]/native/threads:2");
  EXPECT_EQ(entry["run_name"], entry["name"]);
  EXPECT_EQ(entry["run_type"], "iteration");
  EXPECT_EQ(entry["repetitions"], 3);
  EXPECT_EQ(entry["repetition_index"], 1);
  EXPECT_EQ(entry["threads"], 2);
  EXPECT_EQ(entry["iterations"], 100);
  EXPECT_EQ(entry["real_time"], 2.0);
  EXPECT_EQ(entry["cpu_time"], 2.0);
  EXPECT_EQ(entry["time_unit"], "us");
  EXPECT_EQ(entry["bytes_per_second"], 256e6);
  EXPECT_EQ(entry["items_per_second"], 32e6);
  EXPECT_EQ(entry["label"], "passed");
}

TEST(GoogleBenchmarkJson, AggregatesOfOneTwoSix) {
  const Json benchmarks = gbench({timed()})["benchmarks"];
  ASSERT_EQ(benchmarks.size(), 7u);
  const double deviation = std::sqrt(7.0);  // ((1-3)^2 + (2-3)^2 + (6-3)^2) / (3-1)
  const std::tuple<const char*, double, const char*> expected[] = {
      {"mean", 3, "time"},
      {"median", 2, "time"},
      {"stddev", deviation, "time"},
      {"cv", deviation / 3, "percentage"}};
  for (std::size_t i = 0; i < 4; ++i) {
    const auto& [aggregate, value, unit] = expected[i];
    const Json& entry = benchmarks[3 + i];
    EXPECT_EQ(entry["name"], std::string("relu[64,fp32]/native/threads:2_") + aggregate);
    EXPECT_EQ(entry["run_name"], "relu[64,fp32]/native/threads:2");
    EXPECT_EQ(entry["run_type"], "aggregate");
    EXPECT_EQ(entry["aggregate_name"], aggregate);
    EXPECT_EQ(entry["aggregate_unit"], unit);
    EXPECT_EQ(entry["iterations"], 3);
    EXPECT_DOUBLE_EQ(entry["real_time"].get<double>(), value);
  }
}

TEST(GoogleBenchmarkJson, OneRepetitionHasNoAggregates) {
  Record record = timed();
  record.times->samples.resize(1);
  EXPECT_EQ(gbench({record})["benchmarks"].size(), 1u);
}

TEST(GoogleBenchmarkJson, LeavesOutWhatWasNotTimed) {
  Record failed = timed();
  failed.status = Status::failed;
  failed.times.reset();
  Record cold = timed();
  cold.cold = true;
  const Json benchmarks = gbench({failed, timed(), cold})["benchmarks"];
  ASSERT_EQ(benchmarks.size(), 14u);
  EXPECT_EQ(benchmarks[0]["family_index"], 0);
  EXPECT_EQ(benchmarks[7]["family_index"], 1);
  EXPECT_EQ(benchmarks[7]["name"], "relu[64,fp32]/native/threads:2/cold");
  EXPECT_EQ(gbench({failed})["benchmarks"], Json::array());
}

// compare.py treats two entries with the same name as repetitions.
TEST(GoogleBenchmarkJson, SeveralInstructionSetsHaveNamesOfTheirOwn) {
  Record avx2 = timed(), avx3 = timed(), other = timed();
  avx2.isa = "avx2";
  avx3.isa = "avx3";
  other.isa = "avx3";
  other.variant = "relu";
  const Json benchmarks = gbench({avx2, avx3, other})["benchmarks"];
  EXPECT_EQ(benchmarks[0]["name"], "relu[64,fp32]/native/threads:2/isa:avx2");
  EXPECT_EQ(benchmarks[7]["name"], "relu[64,fp32]/native/threads:2/isa:avx3");
  EXPECT_EQ(benchmarks[10]["name"], "relu[64,fp32]/native/threads:2/isa:avx3_mean");
  EXPECT_EQ(benchmarks[14]["name"], "relu[64,fp32]/relu/threads:2") << "as ever where it is alone";
}

TEST(GoogleBenchmarkJson, Context) {
  const Json context = gbench({})["context"];
  EXPECT_EQ(context["num_cpus"], 4);
  EXPECT_EQ(context["library_build_type"], "debug");
  EXPECT_EQ(context["caches"],
            Json::parse(R"([{"type": "Unified", "level": 2, "size": 2097152}])"));
  EXPECT_EQ(context["opbench_command"], "opbench \xEF\xBF\xBD");
}

TEST(SmallerIsBetter, MedianWithItsSpread) {
  Record skipped = timed();
  skipped.times.reset();
  Machine machine;
  machine.cpu = "CPU";
  machine.cores = 4;
  std::ostringstream out;
  const std::vector<Record> records = {skipped, timed()};
  write_smaller_is_better(out, records, machine);
  // 512 bytes take 2 us. |1-2|, 0 and |6-2| have the median 1.
  EXPECT_EQ(Json::parse(out.str()), Json::parse(R"([{
    "name": "relu[64,fp32]/native/threads:2", "unit": "us", "value": 2.0, "range": "± 1",
    "extra": "opbench --case 'relu[64,fp32]'\n3 repetitions, 0.3 GB/s, roofline 26 %\npassed\nCPU, 4 cores, "}])"));
}

}  // namespace opbench::report
