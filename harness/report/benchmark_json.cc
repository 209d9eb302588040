#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <numeric>
#include <ostream>

#include "harness/report/report.h"
#include "harness/report/text.h"
#include "harness/run/record.h"

namespace opbench::report {
namespace {

using Json = nlohmann::ordered_json;

std::vector<double> times_us(const Record& record) {
  std::vector<double> times;
  for (const Sample& sample : record.times->samples) times.push_back(sample.ns_per_call / 1e3);
  return times;
}

// Only elapsed time is measured, but readers require both times.
void set_times(Json& entry, double us) {
  entry["real_time"] = us;
  entry["cpu_time"] = us;
  entry["time_unit"] = "us";
}

/// Members that all entries of a record share.
struct Run {
  const Record& record;
  const std::string& name;
  std::size_t family;
};

Json entry_of(const Run& run, const std::string& suffix) {
  const Record& record = run.record;
  return {{"name", run.name + suffix},
          {"family_index", run.family},
          {"per_family_instance_index", 0},
          {"run_name", run.name},
          {"run_type", suffix.empty() ? "iteration" : "aggregate"},
          {"repetitions", record.times->samples.size()},
          {"threads", record.threads}};
}

Json repetition_of(const Run& run, std::size_t index) {
  const Record& record = run.record;
  const Sample& sample = record.times->samples[index];
  Json entry = entry_of(run, "");
  entry["repetition_index"] = index;
  entry["iterations"] = sample.iterations;
  // Starts from microseconds, as in results files: a later report has the same bits.
  const double us = sample.ns_per_call / 1e3;
  set_times(entry, us);
  if (us > 0) {
    entry["bytes_per_second"] = record.bytes * 1e6 / us;
    entry["items_per_second"] = record.elements * 1e6 / us;
  }
  entry["label"] = name(record.status);
  return entry;
}

Json aggregate_of(const Run& run, const char* aggregate, double value) {
  Json entry = entry_of(run, std::string("_") + aggregate);
  entry["aggregate_name"] = aggregate;
  entry["aggregate_unit"] = std::string_view(aggregate) == "cv" ? "percentage" : "time";
  entry["iterations"] = run.record.times->samples.size();
  set_times(entry, value);
  return entry;
}

// Uses the sample standard deviation, like Google Benchmark.
void append_aggregates(Json& benchmarks, const Run& run) {
  const std::vector<double> times = times_us(run.record);
  const auto count = static_cast<double>(times.size());
  if (times.size() < 2) return;
  const double mean = std::accumulate(times.begin(), times.end(), 0.0) / count;
  double squares = 0;
  for (const double time : times) squares += (time - mean) * (time - mean);
  const double deviation = std::sqrt(squares / (count - 1));
  benchmarks.push_back(aggregate_of(run, "mean", mean));
  benchmarks.push_back(aggregate_of(run, "median", median_of(times)));
  benchmarks.push_back(aggregate_of(run, "stddev", deviation));
  benchmarks.push_back(aggregate_of(run, "cv", mean > 0 ? deviation / mean : 0));
}

Json context_of(const Machine& m, const std::string& command) {
  Json caches = Json::array();
  const auto add_cache = [&](const char* type, int level, std::size_t bytes) {
    if (bytes > 0) caches.push_back({{"type", type}, {"level", level}, {"size", bytes}});
  };
  add_cache("Data", 1, m.l1d_bytes);
  add_cache("Unified", 2, m.l2_bytes);
  add_cache("Unified", 3, m.l3_bytes);
  return {{"date", m.date},
          {"executable", "opbench"},
          {"num_cpus", m.cores},
          {"caches", std::move(caches)},
          {"load_avg", Json::array({m.load})},
          {"library_build_type", m.build_type == "Debug" ? "debug" : "release"},
          {"opbench_command", command},
          {"opbench_version", m.version},
          {"opbench_revision", m.revision},
          {"opbench_compiler", m.compiler},
          {"opbench_isa", m.isa},
          {"cpu", m.cpu}};
}

}  // namespace

void write_gbench(std::ostream& out, const RunResult& result, const Machine& machine,
                  const std::string& command) {
  Json benchmarks = Json::array();
  const std::vector<std::string> names = benchmark_names(result.records);
  std::size_t family = 0;
  for (std::size_t place = 0; place < names.size(); ++place) {
    const Run run{result.records[place], names[place], family};
    if (!run.record.is_timed()) continue;
    for (std::size_t i = 0; i < run.record.times->samples.size(); ++i) {
      benchmarks.push_back(repetition_of(run, i));
    }
    append_aggregates(benchmarks, run);
    ++family;
  }
  const Json document = {{"context", context_of(machine, command)},
                         {"benchmarks", std::move(benchmarks)}};
  out << document.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

namespace {

std::string extra_of(const Record& r, const Machine& machine) {
  const Times& times = *r.times;
  std::string text = fmt::format("{}\n{} repetitions, {:.1f} GB/s", r.reproduce,
                                 times.samples.size(), times.gb_per_s);
  if (r.copy_gb_per_s > 0) text += fmt::format(", roofline {}", roofline_text(r));
  return text +
         fmt::format("\n{}\n{}, {} cores, {}", name(r.status), machine.cpu, machine.cores, r.isa);
}

}  // namespace

void write_smaller_is_better(std::ostream& out, std::span<const Record> records,
                             const Machine& machine) {
  Json list = Json::array();
  const std::vector<std::string> names = benchmark_names(records);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const Record& r = records[i];
    if (!r.is_timed() || !std::isfinite(r.times->median_us)) continue;
    list.push_back({{"name", names[i]},
                    {"unit", "us"},
                    {"value", r.times->median_us},
                    {"range", fmt::format("± {:.4g}", r.times->mad_us)},
                    {"extra", extra_of(r, machine)}});
  }
  out << list.dump(2, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace opbench::report
