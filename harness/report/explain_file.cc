#include "harness/report/explain_file.h"

#include <nlohmann/json.hpp>
#include <ostream>

#include "harness/record/artefact.h"
#include "harness/record/opbench_file.h"
#include "harness/report/case_words.h"
#include "harness/report/compare_words.h"
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

Explained explain_compared(std::ostream& out, const nlohmann::ordered_json& json,
                           const std::string& path, const std::string& wanted,
                           const ConsoleStyle& style) {
  Explained explained;
  explained.is_comparison = true;
  explained.told = explain_comparison(out, JsonValue(json, path), wanted, style);
  return explained;
}

}  // namespace

Explained explain_file(std::ostream& out, const std::string& path, const std::string& wanted,
                       const ConsoleStyle& style) {
  if (Artefact::is_hdf5(path)) {
    Artefact artefact(path);
    if (!artefact.has(kComparisonName)) {
      return explain_run(out, artefact.results(), wanted, style);
    }
    return explain_compared(out, parse_json(artefact.text(kComparisonName), path), path, wanted,
                            style);
  }
  const OpbenchFile file = read_opbench_file(path);
  if (file.document.is_object() && file.document.contains("opbench_compare")) {
    return explain_compared(out, file.document, path, wanted, style);
  }
  const ResultsFile results =
      file.results ? *file.results : parse_results(JsonValue(file.document, path), path);
  return explain_run(out, results, wanted, style);
}

}  // namespace opbench::report
