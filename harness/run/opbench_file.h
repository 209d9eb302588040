#pragma once

#include <iosfwd>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "harness/run/results_file.h"

namespace opbench {

/// A JSON file that opbench wrote, of whatever kind.
struct OpbenchFile {
  nlohmann::ordered_json document;  ///< of results without their records
  std::optional<ResultsFile> results;
};

/// Reads it from its beginning to its end and holds no more than one record as JSON, which takes
/// ten times its text. `path` names it in messages. Errors: throws Error for what is no JSON, and
/// of results those of `read_results_file`.
OpbenchFile read_opbench_file(std::istream& in, const std::string& path);
/// The same of a file. Errors: also throws Error if it cannot be read or is above 2 GiB.
OpbenchFile read_opbench_file(const std::string& path);

}  // namespace opbench
