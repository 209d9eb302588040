#include "harness/run/results_json.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <ostream>

#include "harness/run/results_file.h"
#include "tensor/error.h"
#include "text/cell.h"
#include "text/json_members.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

constexpr int kMostCount = std::numeric_limits<int>::max();
// Null for tensors that are given. Tasks are in execution order.
Json sources_value(const std::vector<int>& sources) {
  Json list = Json::array();
  for (const int source : sources) list.push_back(source < 0 ? Json(nullptr) : Json(source));
  return list;
}

int whole(const JsonValue& value, int least, int most) {
  return static_cast<int>(value.integer(least, most));
}

}  // namespace

template <class V>
void each_member(V& v, FieldsOf<TensorDesc> auto& desc) {
  constexpr int kMostC0 = 1024;
  v("dtype", desc.dtype);
  v.as_text(
      "shape", desc.shape, [](const Dims& shape) { return to_string(shape); }, parse_dims);
  v("origin", desc.origin);
  v("format", desc.format);
  if (is_private(desc.format))
    v("c0", desc.c0, {1, kMostC0});
  else if constexpr (V::kReads)
    desc.c0 = default_c0(desc.dtype);
  if (desc.format == Format::FRACTAL_Z) v("groups", desc.groups, {1, kAnyCount.most});
  // Computes the storage shape, because reports use it.
  if constexpr (V::kReads) v.check([&] { desc.storage_elements(); });
}

template <class V>
void each_member(V& v, FieldsOf<TaskTime> auto& task) {
  v("name", task.name);
  v("type", task.type);
  v("kernel", task.kernel);
  v("cause", task.cause);
  v("start_us", task.start_us);
  v("duration_us", task.duration_us);
  v("inputs", task.inputs);
  v("outputs", task.outputs);
}

template <class V>
void each_member(V& v, FieldsOf<TypeTime> auto& type) {
  v("type", type.type);
  v("count", type.count);
  v("total_us", type.total_us);
  v("min_us", type.min_us);
  v("avg_us", type.avg_us);
  v("max_us", type.max_us);
  v("share", type.share, kAnyShare);
}

template <class V>
void each_member(V& v, FieldsOf<PublishedTime> auto& published) {
  v("ms", published.ms);
  v("samples", published.samples, {1, kMostCount});
  v("source", published.source);
  v("gb_per_s", published.gb_per_s);
}

nlohmann::ordered_json step_value(const StepDetails& step) {
  Json types = Json::array(), tasks = Json::array();
  for (const TypeTime& type : step.types) types.push_back(json_of(type));
  for (const TaskTime& task : step.tasks) {
    tasks.push_back(json_of(task));
    if (!task.sources.empty()) tasks.back()["from"] = sources_value(task.sources);
  }
  Json value = {{"context", step.context},
                {"summary", step.summary},
                {"after", step.after},
                {"index", step.index},
                {"samples", step.samples}};
  if (step.published.ms > 0) value["published"] = json_of(step.published);
  value["types"] = std::move(types);
  value["tasks"] = std::move(tasks);
  return value;
}

StepDetails read_step_texts(const JsonValue& value) {
  StepDetails step;
  step.context = value.member("context").text();
  step.summary = value.member("summary").text();
  step.after = value.member("after").text();
  step.index = whole(value.member("index"), 0, kMostCount);
  if (value.has("samples")) step.samples = whole(value.member("samples"), 1, kMostCount);
  if (value.has("published")) step.published = read_json<PublishedTime>(value.member("published"));
  return step;
}

void read_step_lists(const JsonValue& value, StepDetails& step) {
  value.member("types").elements(
      [&](const JsonValue& type) { step.types.push_back(read_json<TypeTime>(type)); });
  value.member("tasks").elements([&](const JsonValue& task) {
    TaskTime& read = step.tasks.emplace_back(read_json<TaskTime>(task));
    // Index of the last task before this one.
    const int last = static_cast<int>(step.tasks.size()) - 2;
    if (!task.has("from")) return;
    task.member("from").elements([&](const JsonValue& source) {
      read.sources.push_back(source.is_null() ? -1 : whole(source, 0, last));
    });
  });
}

// Counts of one call. Those that were not counted are missing.
Json counters_value(const Record& record) {
  Json value = Json::object();
  for (const CountColumn& column : count_columns()) {
    const double count = column.value(*record.times->counts, record.bytes);
    if (!std::isnan(count)) value[std::string(column.name)] = count;
  }
  return value;
}

Json record_value(const Record& record) {
  Json value;
  for (const Field& field : record_fields()) {
    value[column_name(field)] = cell_value(field.value(record));
  }
  Json samples = Json::array(), iterations = Json::array();
  if (record.times) {
    for (const Sample& sample : record.times->samples) {
      samples.push_back(sample.ns_per_call / 1e3);
      iterations.push_back(sample.iterations);
    }
  }
  value["samples_us"] = std::move(samples);
  value["iterations"] = std::move(iterations);
  if (record.times && record.times->throttled() > 0) {
    Json places = Json::array();
    for (std::size_t i = 0; i < record.times->samples.size(); ++i) {
      if (record.times->samples[i].is_throttled) places.push_back(i);
    }
    value["throttled_samples"] = std::move(places);
  }
  if (record.times && record.times->counts) value["counters"] = counters_value(record);
  if (record.step) value["step"] = step_value(*record.step);
  return value;
}

template <class V>
void each_member(V& v, FieldsOf<Machine> auto& m) {
  v("cpu", m.cpu);
  v("cores", m.cores);
  v("l1d_bytes", m.l1d_bytes);
  v("l2_bytes", m.l2_bytes);
  v("l3_bytes", m.l3_bytes);
  v("memory_bytes", m.memory_bytes);
  v("governor", m.governor);
  v("turbo", m.turbo);
  v("virtual", m.is_virtual);
  v("load", m.load);
  v("os", m.os);
  v("isa", m.isa);
  v("isas", m.isas);
  v("version", m.version);
  v("revision", m.revision);
  v("compiler", m.compiler);
  v("flags", m.flags);
  v("build_type", m.build_type);
  v("libraries", m.libraries);
  v("date", m.date);
}

template <class V>
void each_member(V& v, FieldsOf<PhaseTimes> auto& times) {
  v("total", times.total);
  v("allocate", times.allocate);
  v("fill", times.fill);
  v("verify", times.verify);
  v("measure", times.measure);
  v("dump", times.dump);
  if constexpr (!V::kReads) v("overhead", times.overhead());
}

template <class V>
void each_member(V& v, FieldsOf<RunResult> auto& run) {
  v("cases", run.cases_run);
  v("interrupted", run.was_interrupted);
  v("largest_case_bytes", run.largest_case_bytes);
  v("seconds", run.times);
}

Json machine_value(const Machine& machine) { return json_of(machine); }
Json run_value(const RunResult& result) { return json_of(result); }
Machine read_machine(const JsonValue& value) { return read_json<Machine>(value); }
RunResult read_run(const JsonValue& value) { return read_json<RunResult>(value); }

namespace {

// Replaces invalid UTF-8 in names from files, so that the file can be written.
std::string text_of(const Json& value, std::size_t indent) {
  const std::string plain = value.dump(2, ' ', false, Json::error_handler_t::replace);
  if (indent == 0) return plain;
  std::string text;
  for (const char letter : plain) {
    text += letter;
    if (letter == '\n') text.append(indent, ' ');
  }
  return text;
}

// Writes the document record by record, because a whole document takes ten times the memory of its
// text.
void write_document(std::ostream& out, const ResultsFile& file, std::size_t indent) {
  const std::string margin(indent, ' ');
  const Json head = {{"opbench", kResultsVersion},
                     {"command", file.command},
                     {"machine", machine_value(file.machine)},
                     {"run", run_value(file.run)}};
  const std::string text = text_of(head, indent);
  out << text.substr(0, text.rfind('\n')) << ",\n" << margin << "  \"records\": [";
  const char* separator = "\n";
  for (const Record& record : file.run.records) {
    out << separator << margin << "    " << text_of(record_value(record), indent + 4);
    separator = ",\n";
  }
  if (!file.run.records.empty()) out << '\n' << margin << "  ";
  out << ']';
  if (!file.others.empty()) {
    out << ",\n" << margin << "  \"others\": [\n";
    for (std::size_t i = 0; i < file.others.size(); ++i) {
      out << margin << "    ";
      write_document(out, file.others[i], indent + 4);
      out << (i + 1 < file.others.size() ? ",\n" : "\n");
    }
    out << margin << "  ]";
  }
  out << '\n' << margin << '}';
}

}  // namespace

void write_json(std::ostream& out, const RunResult& result, const Machine& machine,
                const std::string& command) {
  write_json(out, ResultsFile{"", kResultsVersion, command, machine, result, {}});
}

void write_json(std::ostream& out, const ResultsFile& file) {
  write_document(out, file, 0);
  out << '\n';
}

}  // namespace opbench
