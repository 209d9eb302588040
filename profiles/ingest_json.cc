#include <algorithm>
#include <nlohmann/json.hpp>
#include <ostream>

#include "profiles/ingest_report.h"
#include "tensor/utf8.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

Json time_value(const DeviceTime& time, const HotSpots& spots) {
  return {{"count", time.count},        {"total_us", in_us(time.total_ps)},
          {"share", spots.share(time)}, {"least_us", in_us(time.least_ps)},
          {"mean_us", time.mean_us()},  {"longest_us", in_us(time.most_ps)}};
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

Json pipes_value(const HotOperator& one) {
  constexpr std::string_view kNames[kPipes] = {"mac",  "vec",  "scalar", "mte1",
                                               "mte2", "mte3", "fixpipe"};
  Json value = Json::object();
  for (std::size_t i = 0; i < kPipes; ++i) {
    if (const auto ratio = one.pipe(static_cast<Pipe>(i))) value[std::string(kNames[i])] = *ratio;
  }
  return value.empty() ? Json(nullptr) : value;
}

Json metrics_value(const HotOperator& one, const HotSpots& spots) {
  if (one.metrics.empty()) return nullptr;
  Json value = Json::object();
  for (const MetricSum& metric : one.metrics) {
    value[printable(spots.metric_names()[metric.metric])] = metric.mean();
  }
  return value;
}

Json operator_value(const HotOperator& one, const HotSpots& spots, const TraceProfile& trace) {
  Json value = {{"type", printable(one.type)}, {"core", printable(one.core)}};
  value.update(time_value(one.time, spots));
  value["wait_us"] = in_us(one.wait_ps);
  value["step_us"] = in_us(one.step_ps);
  value["pipes"] = pipes_value(one);
  value["metrics"] = metrics_value(one, spots);
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

/// Writes an object key by key, so the lists of a large profile are never in memory as JSON.
class ObjectWriter {
 public:
  explicit ObjectWriter(std::ostream& out) : out_(out) {}

  void value(std::string_view key, const Json& value) { begin(key) << text(value); }
  template <class List, class ValueOf>
  void list(std::string_view key, const List& list, ValueOf value_of) {
    begin(key) << '[';
    bool is_first = true;
    for (const auto& one : list) {
      out_ << (is_first ? "\n" : ",\n") << text(value_of(one));
      is_first = false;
    }
    out_ << ']';
  }
  /// Begins an object as the value of `key`; the returned writer writes it, and its `end` closes
  /// it.
  ObjectWriter object(std::string_view key) {
    begin(key);
    return ObjectWriter(out_);
  }
  void end() { out_ << '}'; }

 private:
  static std::string text(const Json& value) {
    return value.dump(-1, ' ', false, Json::error_handler_t::replace);
  }
  std::ostream& begin(std::string_view key) {
    out_ << separator_ << '"' << key << "\": ";
    separator_ = ",\n";
    return out_;
  }

  std::ostream& out_;
  const char* separator_ = "{\n";
};

Json type_value(const HotType& type, const HotSpots& spots) {
  Json value = {{"type", printable(type.type)}, {"core", printable(type.core)}};
  value.update(time_value(type.time, spots));
  return value;
}

Json slow_value(const SlowTask& task) {
  return {{"name", printable(task.name)},    {"type", printable(task.type)},
          {"core", printable(task.core)},    {"duration_us", in_us(task.duration_ps)},
          {"file", printable(task.at.file)}, {"line", task.at.line}};
}

void write_spots(ObjectWriter writer, const HotSpots& spots, const TraceProfile& trace) {
  writer.value("computing", time_value(spots.computing(), spots));
  writer.value("communication", {{"count", spots.communication().count},
                                 {"total_us", in_us(spots.communication().total_ps)}});
  writer.value("groups", groups_value(spots));
  writer.value("groups_by_name", !spots.has_types());
  writer.value("long_waits", {{"count", spots.long_waits().count},
                              {"total_us", in_us(spots.long_waits().total_ps)},
                              {"share_of_duration_and_wait", spots.wait_share()}});
  writer.value("tasks_by_core", counts_value(spots.tasks_by_core()));
  writer.value("largest_block_dim", counts_value(spots.most_blocks()));
  writer.value("states", counts_value(spots.states()));
  writer.list("types", spots.types(), [&](const HotType& type) { return type_value(type, spots); });
  writer.list("operators", spots.operators(),
              [&](const HotOperator& one) { return operator_value(one, spots, trace); });
  writer.list("slowest", spots.slowest(), slow_value);
  writer.end();
}

Json timeline_value(const StepTasks& step) {
  Json tasks = Json::array();
  for (const StepTask& task : step.tasks()) {
    tasks.push_back({{"name", printable(task.name)},
                     {"type", printable(task.type)},
                     {"stream", printable(task.stream)},
                     {"communication", task.is_communication},
                     {"start_us", task.start_us},
                     {"duration_us", in_us(task.duration_ps)}});
  }
  if (tasks.empty()) return nullptr;
  return {
      {"step", printable(step.step())}, {"left_out", step.left_out()}, {"tasks", std::move(tasks)}};
}

Json check_value(const std::optional<StatisticCheck>& check) {
  if (!check) return nullptr;
  return {{"groups", check->groups},
          {"exact", check->exact},
          {"within_rounding", check->within_rounding},
          {"differences", check->differences}};
}

}  // namespace

Json counts_value(const std::map<std::string, std::int64_t>& counts) {
  Json value = Json::object();
  for (const auto& [key, count] : counts) value[printable(key)] = count;
  return value;
}

void write_ingest_json(std::ostream& out, const IngestResult& result,
                       const std::vector<Finding>& findings, const std::string& command_line) {
  ObjectWriter document(out);
  document.value("schema", "opbench-ingest");
  document.value("schema_version", 1);
  document.value("command_line", printable(command_line));
  document.list("files", result.files, file_value);
  document.value("headline", headline(result));
  document.value("step", step_value(result));
  write_spots(document.object("hot_spots"), result.hot_spots, result.trace);
  document.value("order", order_value(result.hot_spots.order()));
  document.value("timeline", timeline_value(result.hot_spots.step_tasks()));
  document.value("findings", findings_value(findings));
  document.value("logs", logs_value(result.logs, result.hot_spots.rules().warm_steps));
  document.value("trace", trace_value(result.trace));
  document.value("check", check_value(result.check));
  document.value("warnings", result.warnings);
  document.end();
  out << '\n';
}

}  // namespace opbench
