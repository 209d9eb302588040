#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <nlohmann/json.hpp>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "harness/plan/plan_tasks.h"
#include "harness/report/prof_files.h"
#include "harness/report/report.h"
#include "harness/report/step_table.h"

namespace opbench::report {
namespace {

using Json = nlohmann::ordered_json;

Json metadata(const char* what, int process, std::size_t thread, Json args) {
  return {
      {"name", what}, {"ph", "M"}, {"pid", process}, {"tid", thread}, {"args", std::move(args)}};
}

Json slice(const Record& record, const Sample& sample, std::size_t repetition, std::size_t thread) {
  return {{"name", record.case_id},
          {"cat", record.op},
          {"ph", "X"},
          {"ts", sample.start_us},
          {"dur", sample.duration_us},
          {"pid", 1},
          {"tid", thread},
          {"args",
           {{"variant", record.variant},
            {"kernels", record.kernels},
            {"repetition", repetition},
            {"iterations", sample.iterations},
            {"us_per_call", sample.ns_per_call / 1e3},
            {"GB/s", record.bytes / sample.ns_per_call},
            {"threads", record.threads},
            {"status", name(record.status)},
            {"reproduce", record.reproduce}}}};
}

}  // namespace

void write_trace(std::ostream& out, std::span<const Record> records) {
  std::vector<std::string> variants;
  Json events = Json::array();
  events.push_back(metadata("process_name", 1, 0, {{"name", "opbench"}}));
  for (const Record& record : records) {
    auto found = std::find(variants.begin(), variants.end(), record.variant);
    if (found == variants.end()) {
      variants.push_back(record.variant);
      events.push_back(metadata("thread_name", 1, variants.size(), {{"name", record.variant}}));
      found = variants.end() - 1;
    }
    const auto thread = static_cast<std::size_t>(found - variants.begin()) + 1;
    for (std::size_t i = 0; record.times && i < record.times->samples.size(); ++i) {
      events.push_back(slice(record, record.times->samples[i], i, thread));
    }
  }
  add_task_slices(events, records, 2);
  const Json document = {{"displayTimeUnit", "ms"}, {"traceEvents", std::move(events)}};
  out << document.dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
}

// The tasks of a context's steps in a Chrome trace.
namespace {

Json slice(const TaskTime& task, int process, std::size_t thread) {
  Json args = {{"type", task.type}, {"kernel", task.kernel}};
  if (task.is_inserted()) args["cause"] = task.cause;
  args["inputs"] = tensors_text(task.inputs);
  args["outputs"] = tensors_text(task.outputs);
  return {{"name", task.name},   {"cat", task.type},        {"ph", "X"},
          {"ts", task.start_us}, {"dur", task.duration_us}, {"pid", process},
          {"tid", thread},       {"args", std::move(args)}};
}

}  // namespace

void add_task_slices(nlohmann::ordered_json& events, std::span<const Record> records,
                     int first_process) {
  int process = first_process;
  for (const ContextSteps& steps : steps_by_context(records)) {
    const Record& first = *steps.front();
    events.push_back(
        metadata("process_name", process, 0,
                 {{"name", fmt::format("{}, {}", context_title(first), context_details(first))}}));
    for (std::size_t i = 0; i < steps.size(); ++i) {
      const StepDetails& step = *steps[i]->step;
      if (step.tasks.empty()) continue;
      const std::size_t thread = i + 1;
      events.push_back(metadata("thread_name", process, thread,
                                {{"name", fmt::format("{} {}", thread, steps[i]->variant)}}));
      events.push_back(metadata("thread_sort_index", process, thread, {{"sort_index", thread}}));
      for (const TaskTime& task : step.tasks) events.push_back(slice(task, process, thread));
    }
    ++process;
  }
}

// A file for each case, as the guides' profiling scripts write them.
namespace {

// "npu" for the variant torch:npu:0; the variants of this processor are on "cpu".
std::string device_of(const Record& record) {
  constexpr std::string_view kTorch = "torch:";
  const std::string_view variant = record.variant;
  if (!variant.starts_with(kTorch)) return "cpu";
  return std::string(
      variant.substr(kTorch.size(), variant.find(':', kTorch.size()) - kTorch.size()));
}

// "8x64,8x32" as "8_64_8_32", "beta=2" as "beta_2".
std::string underscored(std::string text) {
  for (char& letter : text) {
    if (std::string_view("x,= []()").find(letter) != std::string_view::npos) letter = '_';
  }
  return text;
}

std::string prof_stem(const Record& record) {
  const bool is_origin =
      record.format == "ND" || record.format == "NCHW" || record.format == "NCDHW";
  const std::string format = record.format == "NC1HWC0" ? "5HD" : record.format;
  return fmt::format(
      "{}_device_{}_dtype_{}_shape_{}{}{}", record.op, device_of(record), record.dtype,
      underscored(record.shape), is_origin ? "" : "_" + format,
      record.attributes.empty() ? "" : fmt::format("_{}", underscored(record.attributes)));
}

Json prof_event(const Record& record, const Sample& sample, std::size_t thread) {
  const std::string device = device_of(record);
  const std::string functions = device == "cpu" ? "CPU" : device == "cuda" ? "CUDA" : "NPU";
  return {
      {"name", fmt::format("{}/{}", record.op, record.variant)},
      {"ph", "X"},
      {"ts", sample.start_us},
      {"dur", sample.ns_per_call / 1e3},
      {"tid", thread},
      {"pid", functions + " functions"},
      {"args",
       {{"case", record.case_id}, {"calls", sample.iterations}, {"reproduce", record.reproduce}}}};
}

}  // namespace

std::vector<ProfFile> prof_files(std::span<const Record> records) {
  std::vector<ProfFile> files;
  std::set<std::string> names;
  for (const Record& record : records) {
    if (!record.times || record.step) continue;
    const auto found = std::find_if(files.begin(), files.end(), [&](const ProfFile& file) {
      const Record& other = *file.records.front();
      return other.case_id == record.case_id && other.threads == record.threads &&
             device_of(other) == device_of(record);
    });
    if (found != files.end()) {
      found->records.push_back(&record);
      continue;
    }
    const std::string stem = prof_stem(record);
    std::string name = stem;
    for (int number = 2; !names.insert(name).second; ++number)
      name = fmt::format("{}_{}", stem, number);
    files.push_back({name + ".prof", {&record}});
  }
  return files;
}

void write_prof(std::ostream& out, const ProfFile& file) {
  Json events = Json::array();
  for (std::size_t i = 0; i < file.records.size(); ++i) {
    for (const Sample& sample : file.records[i]->times->samples) {
      events.push_back(prof_event(*file.records[i], sample, i + 1));
    }
  }
  out << events.dump(-1, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace opbench::report
