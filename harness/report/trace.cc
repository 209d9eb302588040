#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>
#include <vector>

#include "harness/report/context.h"
#include "harness/report/report.h"

namespace opbench::report {
namespace {

using Json = nlohmann::ordered_json;

Json metadata(const char* what, std::size_t thread, const std::string& name) {
  return {{"name", what}, {"ph", "M"}, {"pid", 1}, {"tid", thread}, {"args", {{"name", name}}}};
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
  events.push_back(metadata("process_name", 0, "opbench"));
  for (const Record& record : records) {
    auto found = std::find(variants.begin(), variants.end(), record.variant);
    if (found == variants.end()) {
      variants.push_back(record.variant);
      events.push_back(metadata("thread_name", variants.size(), record.variant));
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

}  // namespace opbench::report
