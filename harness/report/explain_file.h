#pragma once

#include <cstddef>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/run/results_file.h"
#include "text/fitted.h"
#include "text/json_reader.h"

namespace opbench::report {

/// The cases of a result in their order, each with its records in theirs.
struct CaseRecords {
  std::string id, name;
  std::vector<const Record*> records;
};
std::vector<CaseRecords> cases_of(const ResultsFile& results);

/// Cases whose id or name equals the given text; without such a case, those whose id or name
/// contains it.
std::vector<CaseRecords> find_cases(const ResultsFile& results, const std::string& wanted);

/// Prints a line for each case: its result and its fastest variant.
void list_cases(std::ostream& out, const ResultsFile& results, const ConsoleStyle& style);

/// Everything that the file has about a case: the call, the machine, and for every variant the
/// numbers of the run's table, the tolerance, the drift, the ceiling, and the line that repeats it.
void explain_case(std::ostream& out, const ResultsFile& results, const CaseRecords& one,
                  const ConsoleStyle& style);

/// Describes operators of a compare.json whose name, or name/number, contains the given text. For
/// each it prints the verdict and the origin of the error, and for each tensor the standard, the
/// finding and the symptoms. If the text is empty it takes those that fail, at most ten. Returns
/// the number of described operators. Errors: throws Error with the place in the file if a member
/// is missing or has the wrong type.
std::size_t explain_comparison(std::ostream& out, const JsonValue& comparison,
                               const std::string& wanted, const ConsoleStyle& style);

/// The result of explain_file.
struct Explained {
  bool is_of_operators = false;  ///< of a comparison or a judgement
  std::size_t told = 0;          ///< cases, or operators, in words
  std::size_t listed =
      0;              ///< cases in a line each, because there are several and none was asked for
  std::string first;  ///< the id of the first of these
};

/// Describes the operators of a comparison or a judgement as `explain_file` does. Returns false,
/// without output, for other JSON. Errors: as for explain_comparison.
bool explain_operators(std::ostream& out, const nlohmann::ordered_json& json,
                       const std::string& path, const std::string& wanted,
                       const ConsoleStyle& style, Explained& explained);

/// Describes the contents of a file of opbench, HDF5 or JSON: a case of a run, by its id, its name
/// or a part of either, or an operator of a comparison or a judgement. If the text is empty: the
/// only case, a list of all cases, or the operators that fail. Errors: throws Error if the file
/// cannot be read or is damaged.
Explained explain_file(std::ostream& out, const std::string& path, const std::string& wanted,
                       const ConsoleStyle& style);

}  // namespace opbench::report
