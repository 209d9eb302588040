#include "harness/report/files.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <ostream>
#include <sstream>

#include "harness/report/count_table.h"
#include "harness/report/explain_file.h"
#include "harness/report/report.h"
#include "harness/report/step_table.h"
#include "harness/report/variant_summary.h"
#include "harness/run/artefact.h"
#include "harness/run/join_results.h"
#include "harness/run/results_file.h"
#include "tensor/error.h"
#include "text/cell.h"
#include "text/fitted.h"

namespace opbench::report {
namespace {

// Writes the tables and the summary of the run without colours.
void write_console(std::ostream& out, const ResultsFile& file) {
  const std::span<const Record> records = file.run.records;
  if (!only_steps(records)) print_heading(out, {});
  std::size_t end = 0;
  for (std::size_t first = 0; first < records.size(); first = end) {
    const Record& r = records[first];
    end = first + 1;
    while (end < records.size() && place_of(records[end]) == place_of(r) &&
           records[end].isa == r.isa && records[end].cold == r.cold &&
           !records[end].step == !r.step) {
      ++end;
    }
    print_case(out, records.subspan(first, end - first), {});
  }
  print_summary(out, file.run, {});
}

// Needs the start times of samples, which JSON does not have.
void write_trace_of(std::ostream& out, const ResultsFile& file) {
  for (const Record& record : file.run.records) {
    if (!record.times || record.times->samples.front().duration_us > 0) continue;
    throw Error(
        fmt::format("{}: does not say when samples began; a file of `opbench run "
                    "--artefact` does",
                    file.path));
  }
  write_trace(out, file.run.records);
}

constexpr ReportFormat kFormats[] = {
    {"markdown", [](std::ostream& out,
                    const ResultsFile& f) { write_markdown(out, f.run, f.machine, f.command); }},
    {"csv", [](std::ostream& out, const ResultsFile& f) { write_csv(out, f.run.records); }},
    {"json", [](std::ostream& out, const ResultsFile& f) { write_json(out, f); }},
    {"junit", [](std::ostream& out,
                 const ResultsFile& f) { write_junit(out, f.run, f.machine, f.command); }},
    {"gbench", [](std::ostream& out,
                  const ResultsFile& f) { write_gbench(out, f.run, f.machine, f.command); }},
    {"smaller-is-better",
     [](std::ostream& out, const ResultsFile& f) {
       write_smaller_is_better(out, f.run.records, f.machine);
     }},
    {"console", write_console},
    {"trace", write_trace_of},
    {"op-summary",
     [](std::ostream& out, const ResultsFile& f) { write_op_summary(out, f.run.records); }},
    {"op-statistic",
     [](std::ostream& out, const ResultsFile& f) { write_op_statistic(out, f.run.records); }},
};

struct Document {
  std::string path;
  nlohmann::ordered_json json;
  std::optional<ResultsFile> results;
};

// The results of one machine; numbers begin at 1.
ResultsFile results_of(ResultsFile file, int machine) {
  const int last = static_cast<int>(file.others.size()) + 1;
  if (machine < 1 || machine > last) {
    throw Error(
        fmt::format("{}: --machine is {}; its results are of {}, so it must be "
                    "from 1 to {}",
                    file.path, machine, counted(last, "machine"), last));
  }
  if (machine > 1)
    file = std::move(ResultsFile(file).others[static_cast<std::size_t>(machine) - 2]);
  file.others.clear();
  return file;
}

// Writes a section for each machine. Formats for other programs allow a single machine.
void write_all_machines(std::ostream& out, const ResultsFile& file, const ReportFormat& format) {
  format.write(out, file);
  if (format.name == "json") return;
  for (const ResultsFile& other : file.others) {
    out << '\n';
    format.write(out, other);
  }
}

void require_one_machine(const ResultsFile& file, const ReportFormat& format) {
  const bool takes_all =
      format.name == "json" || format.name == "markdown" || format.name == "console";
  if (file.others.empty() || takes_all) return;
  throw Error(
      fmt::format("{}: results are of {} different machines, and {} is for one; choose it with "
                  "--machine, from 1 to {}",
                  file.path, file.others.size() + 1, format.name, file.others.size() + 1));
}

FileReport report_of_runs(const std::vector<Document>& documents, const std::string& format_name,
                          int machine) {
  const ReportFormat& format = find_report_format(format_name);
  std::vector<ResultsFile> files;
  for (const Document& document : documents) {
    files.push_back(*document.results);
  }
  FileReport report;
  ResultsFile whole = join_results(std::move(files));
  if (machine != 0) whole = results_of(std::move(whole), machine);
  require_one_machine(whole, format);
  const auto joined = std::make_shared<const ResultsFile>(std::move(whole));
  report.is_empty = joined->run.records.empty();
  report.write = [joined, &format](std::ostream& out) { write_all_machines(out, *joined, format); };
  return report;
}

bool is_of_opbench(const nlohmann::ordered_json& document) {
  if (!document.is_object()) return false;
  for (const auto& item : document.items()) {  // "opbench_check": 1, "command": "opbench judge ..."
    if (item.key().starts_with("opbench")) return true;
    if (item.value().is_string() && item.value().get<std::string>().starts_with("opbench")) {
      return true;
    }
  }
  return false;
}

// Errors: throws Error that names the command for this file, or the files that are allowed.
void require_results(const Document& document) {
  if (document.results) return;
  if (is_of_opbench(document.json)) {
    throw Error(
        fmt::format("{0}: is of opbench, but no results of `opbench run`; `opbench report {0} "
                    "--html page.html` shows files of compare, judge, check and ingest, too",
                    document.path));
  }
  throw Error(
      fmt::format("{}: no results of `opbench run --json`: it must be an object with the "
                  "key 'opbench'",
                  document.path));
}

// The files of `opbench compare`, unchanged.
FileReport report_of_comparison(Artefact& artefact, const std::string& format) {
  constexpr std::pair<std::string_view, std::string_view> kFiles[] = {
      {"json", kComparisonName}, {"csv", "compare.csv"}, {"console", "compare.txt"}};
  std::vector<std::string> names;
  for (const auto& [known, file] : kFiles) {
    if (known == format || (known == "console" && format.empty())) {
      return {false, [text = artefact.text(file)](std::ostream& out) { out << text; }};
    }
    names.emplace_back(known);
  }
  throw Error(fmt::format("{}: a comparison has no form '{}'; it has {}", artefact.path(), format,
                          fmt::join(names, ", ")));
}

Document read_document(const std::string& path) {
  if (Artefact::is_hdf5(path)) return {path, {}, Artefact(path).results()};
  OpbenchFile file = read_opbench_file(path);
  return {path, std::move(*file.document), std::move(file.results)};
}

// Describes a comparison or a judgement; empty for other files.
std::string words_on_operators(const Document& document) {
  std::ostringstream out;
  Explained ignored;
  if (!document.results) explain_operators(out, document.json, document.path, "", {}, ignored);
  return out.str();
}

}  // namespace

std::span<const ReportFormat> report_formats() { return kFormats; }

const ReportFormat& find_report_format(std::string_view name) {
  std::vector<std::string> names;
  for (const ReportFormat& format : kFormats) {
    if (format.name == name) return format;
    names.emplace_back(format.name);
  }
  throw Error(fmt::format("unknown report format '{}'{}", name, suggestion(name, names)));
}

FileReport report_of_files(const std::vector<std::string>& paths, const std::string& format,
                           int machine) {
  if (paths.size() == 1 && Artefact::is_hdf5(paths.front())) {
    Artefact artefact(paths.front());
    if (artefact.has(kComparisonName)) return report_of_comparison(artefact, format);
  }
  const std::string form = format.empty() ? "markdown" : format;
  std::vector<Document> documents;
  for (const std::string& path : paths) {
    documents.push_back(read_document(path));
    if (paths.size() == 1 && format.empty()) {
      if (std::string words = words_on_operators(documents.back()); !words.empty()) {
        return {false, [words = std::move(words)](std::ostream& out) { out << words; }};
      }
    }
    require_results(documents.back());
  }
  if (documents.empty()) throw Error("there is no file to report");
  return report_of_runs(documents, form, machine);
}

void write_csv(std::ostream& out, std::span<const Record> records) {
  std::vector<Cell> cells;
  const std::vector<CountColumn> counted = counted_columns(records);
  for (const Field& field : record_fields()) cells.emplace_back(column_name(field));
  for (const CountColumn& column : counted) cells.emplace_back(std::string(column.name));
  write_csv_row(out, cells);
  for (const Record& record : records) {
    cells.clear();
    for (const Field& field : record_fields()) cells.push_back(field.value(record));
    for (const CountColumn& column : counted) cells.emplace_back(count_of(record, column));
    write_csv_row(out, cells);
  }
}

}  // namespace opbench::report
