#include <nlohmann/json.hpp>
#include <ostream>

#include "harness/run/results_file.h"
#include "harness/run/results_values.h"
#include "harness/run/step_json.h"
#include "text/json_cell.h"

namespace opbench {

using Json = nlohmann::ordered_json;

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
  if (record.step) value["step"] = step_value(*record.step);
  return value;
}

Json machine_value(const Machine& m) {
  Json libraries = Json::object();
  for (const auto& [name, version] : m.libraries) libraries[name] = version;
  return {{"cpu", m.cpu},
          {"cores", m.cores},
          {"l1d_bytes", m.l1d_bytes},
          {"l2_bytes", m.l2_bytes},
          {"l3_bytes", m.l3_bytes},
          {"memory_bytes", m.memory_bytes},
          {"governor", m.governor},
          {"turbo", m.turbo},
          {"virtual", m.is_virtual},
          {"load", m.load},
          {"os", m.os},
          {"isa", m.isa},
          {"isas", m.isas},
          {"version", m.version},
          {"revision", m.revision},
          {"compiler", m.compiler},
          {"flags", m.flags},
          {"build_type", m.build_type},
          {"libraries", libraries},
          {"date", m.date}};
}

Json run_value(const RunResult& result) {
  const PhaseTimes& t = result.times;
  return {{"cases", result.cases_run},
          {"interrupted", result.was_interrupted},
          {"largest_case_bytes", result.largest_case_bytes},
          {"seconds",
           {{"total", t.total},
            {"allocate", t.allocate},
            {"fill", t.fill},
            {"verify", t.verify},
            {"measure", t.measure},
            {"dump", t.dump},
            {"overhead", t.overhead()}}}};
}

namespace {

// A name from a file may hold bytes that are no UTF-8; they are replaced rather than the file lost.
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

// As one document would be written, but a record at a time: in memory it takes ten times its text.
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
