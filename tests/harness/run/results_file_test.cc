// Results that are read and written again have the same text.
#include "harness/run/results_file.h"

#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <limits>
#include <nlohmann/json.hpp>
#include <random>
#include <sstream>

#include "tests/harness/run/results_text.h"
#include "tests/support/source_tree.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

std::string written(const ResultsFile& file) {
  return results_text(file.run, file.machine, file.command);
}

/// Values of every kind; unusual ones are more frequent than in practice.
class Anything {
 public:
  explicit Anything(unsigned seed) : random_(seed) {}

  bool yes() { return random_() % 2 == 0; }
  int whole(int least, int most) {
    return std::uniform_int_distribution<int>(least, most)(random_);
  }
  double number() {
    const double odd[] = {0, 1e-300, 5e-324, 1e300, 0.1, 1.0 / 3};
    if (whole(0, 3) == 0) return odd[whole(0, 5)];
    return std::ldexp(std::uniform_real_distribution<double>(0.5, 1)(random_), whole(-40, 40));
  }
  double number_or_lost(double lost) { return whole(0, 9) == 0 ? lost : number(); }
  std::string text() {
    const char* odd[] = {"",  "native",     "a \"quoted\", 'text'\n",   "\x01\x1f\\",
                         "<", "\xC3\xA4ge", "softplus[2x3,fp32,beta=2]"};
    return odd[whole(0, 6)];
  }
  Record record();
  Machine machine();
  RunResult run();

 private:
  Times times();
  Accuracy accuracy();

  std::mt19937 random_;
};

Record Anything::record() {
  Record r;
  for (std::string* text :
       {&r.case_id, &r.case_name, &r.op, &r.variant, &r.provider, &r.kernels, &r.shape,
        &r.attributes, &r.dtype, &r.format, &r.isa, &r.reason, &r.reproduce, &r.copy_way}) {
    *text = this->text();
  }
  r.backward = yes(), r.cold = yes(), r.is_best = yes();
  r.count = whole(1, 1000), r.threads = whole(1, 64), r.trans_data = whole(0, 9);
  r.input_copies = whole(1, 64);
  r.status = static_cast<Status>(whole(0, 7));
  r.bound = static_cast<Bound>(whole(0, 3));
  for (double* value :
       {&r.elements, &r.bytes, &r.operations, &r.copy_gb_per_s, &r.peak_gflop_per_s})
    *value = number();
  if (yes()) r.times = times();
  if (yes()) r.accuracy = accuracy();
  return r;
}

Times Anything::times() {
  constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
  Times t;
  for (int i = whole(1, 4); i > 0; --i) t.samples.push_back({0, 0, number(), whole(0, 1 << 30)});
  for (double* value : {&t.median_us, &t.mad_us, &t.cv, &t.min_us, &t.gb_per_s, &t.percent_of_copy,
                        &t.gflop_per_s, &t.gelements_per_s, &t.percent_of_roofline}) {
    *value = number_or_lost(kNaN);
  }
  if (yes()) t.preemptions = whole(0, 1 << 30);
  if (yes()) t.warm_up = {whole(1, 1000), number(), number()};
  if (yes()) t.noise_limit_percent = number();
  if (yes()) t.clock_before_mhz = number(), t.clock_after_mhz = number(), t.retaken = whole(0, 9);
  for (Sample& sample : t.samples) sample.is_throttled = whole(0, 9) == 0;
  t.throttled_by = text();
  t.speedup_over_native = number();
  return t;
}

Accuracy Anything::accuracy() {
  Accuracy a;
  for (double* value : {&a.max_ulp, &a.mean_ulp, &a.max_abs, &a.min_tolerance}) {
    *value = number_or_lost(std::numeric_limits<double>::infinity());
  }
  a.inside_share = number_or_lost(std::numeric_limits<double>::quiet_NaN());
  a.nonfinite_mismatches = whole(0, 5);
  return a;
}

Machine Anything::machine() {
  Machine m;
  for (std::string* text : {&m.cpu, &m.governor, &m.turbo, &m.os, &m.isa, &m.version, &m.revision,
                            &m.compiler, &m.flags, &m.build_type, &m.date}) {
    *text = this->text();
  }
  m.cores = whole(0, 512);
  m.l1d_bytes = 49152, m.memory_bytes = std::size_t{1} << 62;
  m.is_virtual = yes();
  m.load = number();
  for (int i = whole(0, 3); i > 0; --i) m.isas.push_back(text());
  if (yes()) m.libraries = {{"zlib", "1"}, {"", text()}, {"Eigen", "3.4"}};
  return m;
}

RunResult Anything::run() {
  RunResult run;
  for (int i = whole(0, 5); i > 0; --i) run.records.push_back(record());
  run.times = {number(), number(), number(), number(), number(), number()};
  run.cases_run = static_cast<std::size_t>(whole(0, 1000));
  run.largest_case_bytes = std::size_t{1} << whole(0, 62);
  run.was_interrupted = yes();
  return run;
}

}  // namespace

TEST(ResultsFile, GivesWhatWasWritten) {
  const ResultsFile file = parse_results(good_results(), "old.json");
  EXPECT_EQ(file.path, "old.json");
  EXPECT_EQ(file.version, kResultsVersion);
  EXPECT_EQ(file.command, "opbench --case x");
  ASSERT_EQ(file.run.records.size(), 2u);
  const Record& record = file.run.records[1];
  EXPECT_EQ(record.case_id, "relu[64,fp32]");
  EXPECT_EQ(record.status, Status::passed);
  ASSERT_TRUE(record.times);
  EXPECT_EQ(record.times->median_us, 2);
  ASSERT_EQ(record.times->samples.size(), 2u);
  EXPECT_EQ(record.times->samples[1].ns_per_call, 2500);
  EXPECT_EQ(record.times->samples[1].iterations, 20);
  ASSERT_TRUE(record.accuracy);
  EXPECT_EQ(record.accuracy->max_ulp, 2);
}

TEST(ResultsFile, WritesTheSameTextAgain) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    Anything anything(seed);
    const std::string text = results_text(anything.run(), anything.machine(), anything.text());
    ASSERT_EQ(written(parse_results(text, "x.json")), text) << seed;
  }
}

TEST(ResultsFile, EverySampleKeepsItsBits) {
  Anything anything(1);
  RunResult run;
  run.records.resize(1);
  std::vector<Sample> samples;
  for (int i = 0; i < 50000; ++i) samples.push_back({0, 0, anything.number(), 1});
  set_times(run.records[0], std::move(samples));
  const std::string text = results_text(run, Machine{}, "");
  EXPECT_TRUE(written(parse_results(text, "x.json")) == text);
}

TEST(ResultsFile, ReadsTheCommittedSample) {
  const std::string path = source_file("results/samples/results.json");
  const ResultsFile file = read_results_file(path);
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  EXPECT_EQ(written(file), text.str());
  EXPECT_FALSE(file.run.records.empty());
}

TEST(ResultsFile, WhatWasNotFiniteIsAsBadAsItCanBe) {
  Json json = Json::parse(good_results());
  json["records"][0]["max_ulp"] = nullptr;
  json["records"][0]["median_us"] = nullptr;
  const ResultsFile file = parse_results(json.dump(), "old.json");
  EXPECT_TRUE(std::isinf(file.run.records[0].accuracy->max_ulp));
  EXPECT_TRUE(std::isnan(file.run.records[0].times->median_us));
}

}  // namespace opbench
