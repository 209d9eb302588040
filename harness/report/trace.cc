#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <vector>

#include "harness/plan/plan_tasks.h"
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

}  // namespace opbench::report
