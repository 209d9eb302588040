#include "harness/report/explain_file.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "harness/report/case_words.h"
#include "harness/report/compare_words.h"
#include "harness/report/judge_words.h"
#include "harness/run/artefact.h"
#include "harness/run/opbench_file.h"
#include "text/json_reader.h"

namespace opbench::report {
namespace {

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

// A comparison or a judgement, if it is one.
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
  return true;
}

}  // namespace

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
  if (explain_operators(out, file.document, path, wanted, style, explained)) return explained;
  const ResultsFile results =
      file.results ? *file.results : parse_results(JsonValue(file.document, path), path);
  return explain_run(out, results, wanted, style);
}

}  // namespace opbench::report
