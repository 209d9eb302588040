#include "harness/report/explain_file.h"

#include <fmt/format.h>

#include <cstddef>
#include <iosfwd>
#include <map>
#include <nlohmann/json.hpp>
#include <ostream>
#include <sstream>
#include <string>

#include "compare/judge_report.h"
#include "harness/run/artefact.h"
#include "harness/run/results_file.h"
#include "tensor/utf8.h"
#include "text/json_reader.h"
#include "text/program.h"

namespace opbench::report {
namespace {

constexpr std::size_t kMostFailing = 10;

std::string text_or(const JsonValue& object, const char* key, const char* otherwise) {
  const JsonValue value = object.member(key);
  return value.is_null() ? otherwise : value.text();
}

void explain_tensor(std::ostream& out, const JsonValue& tensor) {
  const std::string verdict = tensor.member("verdict").text();
  say(out,
      fmt::format(
          "{} {}: {}{}", text_or(tensor, "side", "other"), text_or(tensor, "tensor", "?"), verdict,
          tensor.member("reason").is_null() ? ""
                                            : fmt::format(": {}", tensor.member("reason").text())),
      4);
  if (!tensor.member("formula").is_null()) {
    say(out, fmt::format("Checked against {}.", tensor.member("formula").text()), 6);
  }
  say_causes(out, tensor, 6);
}

bool is_looked_at(const JsonValue& tensor) {
  if (tensor.member("verdict").text() != "failed" || !tensor.has("error_map")) return true;
  bool has_causes = false;
  tensor.member("causes").elements([&](const JsonValue&) { has_causes = true; });
  return has_causes || !tensor.member("error_map").is_null();
}

std::string operator_name(const JsonValue& op) {
  return fmt::format("{}/{}", text_or(op, "operator", "?"), text_or(op, "seq", "?"));
}

void explain_operator(std::ostream& out, const JsonValue& op) {
  std::string text = op.member("verdict").text();
  if (!op.member("origin").is_null()) text += ", " + op.member("origin").text();
  if (!op.member("explanation").is_null()) text += ": " + op.member("explanation").text();
  say(out, text, 2);
}

/// An operator in words.
struct ToldOperator {
  std::ostringstream text;
  std::string path;
  bool is_looked_at = true;
};

// A comparison examines only the first failures, so this names the command that examines another
// one.
void name_look(std::ostream& out, const JsonValue& files, const std::string& path) {
  const auto dump = [&](const char* side) { return files.member(side).member("path").text(); };
  say(out,
      "What it looks like: " + shell_line({std::string(program_name()), "compare", dump("actual"),
                                           dump("expected"), "--only", '^' + path + '/'}),
      4);
}

}  // namespace

std::size_t explain_comparison(std::ostream& out, const JsonValue& comparison,
                               const std::string& wanted, const ConsoleStyle& style) {
  constexpr std::int64_t kMost = 1'000'000'000;
  const JsonValue files = comparison.member("files");
  say(out,
      fmt::format("{} against {}, standard {}: {}.", files.member("actual").member("path").text(),
                  files.member("expected").member("path").text(),
                  comparison.member("standard").text(), comparison.member("verdict").text()),
      0);
  std::map<std::int64_t, ToldOperator> told;  // by place in order of execution
  comparison.member("operators").elements([&](const JsonValue& op) {
    const std::string name = operator_name(op);
    const bool is_wanted =
        wanted.empty() ? op.member("verdict").text() == "failed" && told.size() < kMostFailing
                       : name.find(wanted) != std::string::npos;
    if (!is_wanted) return;
    ToldOperator& here = told[op.member("execution").integer(0, kMost)];
    here.path = '/' + name;
    here.text << '\n' << coloured(printable(name), kBold, style) << '\n';
    explain_operator(here.text, op);
  });
  comparison.member("tensors").elements([&](const JsonValue& tensor) {
    const auto found = told.find(tensor.member("execution").integer(0, kMost));
    if (found == told.end()) return;
    explain_tensor(found->second.text, tensor);
    found->second.is_looked_at &= is_looked_at(tensor);
  });
  for (const auto& [place, one] : told) {
    out << one.text.str();
    if (!one.is_looked_at) name_look(out, files, one.path);
  }
  return told.size();
}

namespace {

constexpr std::size_t kMostGuilty = 10;
constexpr std::int64_t kMostElements = std::int64_t{1} << 60;

std::size_t explain_dump(std::ostream& out, const JsonValue& dump, const std::string& wanted,
                         const ConsoleStyle& style) {
  // Files of earlier versions have the key `carries`.
  const auto count = [&](const char* key) { return dump.member(key).integer(0, kMostElements); };
  say(out,
      fmt::format("{}: {} GUILTY, {} OK, {} RANDOM, {} UNKNOWN.", dump.member("file").text(),
                  count("guilty"), count(dump.has("ok") ? "ok" : "carries"), count("random"),
                  count("unknown")),
      0);
  std::size_t told = 0;
  dump.member("records").elements([&](const JsonValue& record) {
    const bool is_wanted = wanted.empty()
                               ? record.member("verdict").text() == "GUILTY" && told < kMostGuilty
                               : record.member("path").text().find(wanted) != std::string::npos;
    if (!is_wanted) return;
    print_judged_record(out, record, true, style);
    ++told;
  });
  return told;
}

// Describes the operators in the JSON of `opbench judge`, of one dump or two, whose path
// ("/softplus/2") contains the given text. For each it prints the verdict, and for each output the
// standard, the finding and the symptoms. If the text is empty it takes those that are GUILTY, at
// most ten of a dump. Returns the number of described operators. Errors: throws Error with the
// place in the file if a member is missing or has the wrong type.
std::size_t explain_judgement(std::ostream& out, const JsonValue& judgement,
                              const std::string& wanted, const ConsoleStyle& style) {
  if (!judgement.has("pairs")) return explain_dump(out, judgement, wanted, style);
  const std::size_t first = explain_dump(out, judgement.member("first"), wanted, style);
  out << '\n';
  return first + explain_dump(out, judgement.member("second"), wanted, style);
}

Explained explain_run(std::ostream& out, const ResultsFile& results, const std::string& wanted,
                      const ConsoleStyle& style) {
  Explained explained;
  const std::vector<CaseRecords> cases = find_cases(results, wanted);
  if (cases.empty()) return explained;
  if (wanted.empty() && cases.size() > 1) {
    list_cases(out, results, style);
    explained.listed = cases.size();
    explained.first = cases.front().id;
    return explained;
  }
  for (const CaseRecords& one : cases) {
    if (explained.told++ > 0) out << '\n';
    explain_case(out, results, one, style);
  }
  return explained;
}

}  // namespace

bool explain_operators(std::ostream& out, const nlohmann::ordered_json& json,
                       const std::string& path, const std::string& wanted,
                       const ConsoleStyle& style, Explained& explained) {
  const auto has = [&](const char* key) { return json.is_object() && json.contains(key); };
  const bool is_judgement =
      (has("guilty") && has("records")) || (has("first") && has("second") && has("pairs"));
  if (!is_judgement && !has("opbench_compare")) return false;
  explained.is_of_operators = true;
  const JsonValue root(json, path);
  explained.told = is_judgement ? explain_judgement(out, root, wanted, style)
                                : explain_comparison(out, root, wanted, style);
  if (explained.told == 0 && wanted.empty()) out << "No operator is wrong.\n";
  return true;
}

Explained explain_file(std::ostream& out, const std::string& path, const std::string& wanted,
                       const ConsoleStyle& style) {
  if (Artefact::is_hdf5(path)) {
    Artefact artefact(path);
    if (!artefact.has(kComparisonName)) {
      return explain_run(out, artefact.results(), wanted, style);
    }
    Explained explained;
    explain_operators(out, parse_json(artefact.text(kComparisonName), path), path, wanted, style,
                      explained);
    return explained;
  }
  const OpbenchFile file = read_opbench_file(path);
  Explained explained;
  if (explain_operators(out, *file.document, path, wanted, style, explained)) return explained;
  const ResultsFile results =
      file.results ? *file.results : parse_results(JsonValue(*file.document, path), path);
  return explain_run(out, results, wanted, style);
}

}  // namespace opbench::report
