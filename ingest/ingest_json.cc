#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "ingest/findings_report.h"
#include "ingest/ingest_report.h"
#include "ingest/log_report.h"
#include "ingest/trace_report.h"
#include "tensor/printable.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

Json time_value(const DeviceTime& time, const HotSpots& spots) {
  return {{"count", time.count},        {"total_us", in_us(time.total_ps)},
          {"share", spots.share(time)}, {"least_us", in_us(time.least_ps)},
          {"mean_us", time.mean_us()},  {"longest_us", in_us(time.most_ps)}};
}

Json counts_value(const std::map<std::string, std::int64_t>& counts) {
  Json value = Json::object();
  for (const auto& [key, count] : counts) value[printable(key)] = count;
  return value;
}

Json file_value(const IngestedFile& file) {
  Json value = {
      {"path", printable(file.path)}, {"kind", nullptr},         {"rows", file.rows},
      {"columns", file.columns},      {"skipped", file.skipped}, {"problems", Json::array()}};
  if (!file.kind.empty()) value["kind"] = file.kind;
  for (const std::string& problem : file.problems) value["problems"].push_back(printable(problem));
  return value;
}

Json side_value(const std::string& shapes, const std::string& dtypes, const std::string& formats) {
  return {{"shapes", printable(shapes)},
          {"dtypes", printable(dtypes)},
          {"formats", printable(formats)}};
}

Json operator_value(const HotOperator& one, const HotSpots& spots, const TraceProfile& trace) {
  Json value = {{"type", printable(one.type)}, {"core", printable(one.core)}};
  value.update(time_value(one.time, spots));
  value["wait_us"] = in_us(one.wait_ps);
  value["step_us"] = in_us(one.step_ps);
  value["inputs"] = value["outputs"] = nullptr;
  if (one.has_tensors) {
    value["inputs"] = side_value(one.input_shapes, one.input_dtypes, one.input_formats);
    value["outputs"] = side_value(one.output_shapes, one.output_dtypes, one.output_formats);
  }
  value["host"] = nullptr;
  if (one.host) {
    const TraceOperator& host = trace.operators()[*one.host];
    value["host"] = {{"name", printable(host.name)},
                     {"shapes", printable(host.input_shapes)},
                     {"dtypes", printable(host.input_dtypes)},
                     {"values", printable(host.input_values)}};
  }
  value["first"] = {
      {"name", printable(one.name)}, {"file", printable(one.first.file)}, {"line", one.first.line}};
  return value;
}

Json groups_value(const HotSpots& spots) {
  Json groups = Json::object();
  for (std::size_t i = 0; i < spots.groups().size(); ++i) {
    groups[spots.rules().groups[i].name] = time_value(spots.groups()[i], spots);
  }
  return groups;
}

Json spots_value(const HotSpots& spots, const TraceProfile& trace) {
  Json value = {{"computing", time_value(spots.computing(), spots)},
                {"communication",
                 {{"count", spots.communication().count},
                  {"total_us", in_us(spots.communication().total_ps)}}},
                {"groups", groups_value(spots)},
                {"groups_by_name", !spots.has_types()},
                {"long_waits",
                 {{"count", spots.long_waits().count},
                  {"total_us", in_us(spots.long_waits().total_ps)},
                  {"share_of_duration_and_wait", spots.wait_share()}}},
                {"tasks_by_core", counts_value(spots.tasks_by_core())},
                {"largest_block_dim", counts_value(spots.most_blocks())},
                {"states", counts_value(spots.states())},
                {"types", Json::array()},
                {"operators", Json::array()},
                {"slowest", Json::array()}};
  for (const HotType& type : spots.types()) {
    Json one = {{"type", printable(type.type)}, {"core", printable(type.core)}};
    one.update(time_value(type.time, spots));
    value["types"].push_back(std::move(one));
  }
  for (const HotOperator& one : spots.operators()) {
    value["operators"].push_back(operator_value(one, spots, trace));
  }
  for (const SlowTask& task : spots.slowest()) {
    value["slowest"].push_back({{"name", printable(task.name)},
                                {"type", printable(task.type)},
                                {"core", printable(task.core)},
                                {"duration_us", in_us(task.duration_ps)},
                                {"file", printable(task.at.file)},
                                {"line", task.at.line}});
  }
  return value;
}

Json timeline_value(const StepTasks& step) {
  Json tasks = Json::array();
  for (const StepTask& task : step.tasks()) {
    tasks.push_back({{"name", printable(task.name)},
                     {"type", printable(task.type)},
                     {"stream", printable(task.stream)},
                     {"start_us", task.start_us},
                     {"duration_us", in_us(task.duration_ps)}});
  }
  if (tasks.empty()) return nullptr;
  return {
      {"step", printable(step.step())}, {"left_out", step.left_out()}, {"tasks", std::move(tasks)}};
}

}  // namespace

void write_ingest_json(std::ostream& out, const IngestResult& result,
                       const std::vector<Finding>& findings, const std::string& command_line) {
  Json document = {{"schema", "opbench-ingest"},
                   {"schema_version", 1},
                   {"command_line", printable(command_line)},
                   {"files", Json::array()}};
  for (const IngestedFile& file : result.files) document["files"].push_back(file_value(file));
  document["hot_spots"] = spots_value(result.hot_spots, result.trace);
  document["order"] = order_value(result.hot_spots.order());
  document["timeline"] = timeline_value(result.hot_spots.step_tasks());
  document["findings"] = findings_value(findings);
  document["logs"] = logs_value(result.logs, result.hot_spots.rules().warm_steps);
  document["trace"] = trace_value(result.trace);
  document["check"] = nullptr;
  if (result.check) {
    document["check"] = {{"groups", result.check->groups},
                         {"exact", result.check->exact},
                         {"within_rounding", result.check->within_rounding},
                         {"differences", result.check->differences}};
  }
  document["warnings"] = result.warnings;
  out << document.dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace opbench
