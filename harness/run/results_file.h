#pragma once

#include <cstddef>
#include <iosfwd>
#include <map>
#include <memory>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/run/machine.h"
#include "harness/run/run_result.h"

namespace opbench {

class JsonValue;

/// Version of the JSON result format. Readers refuse later versions. Since version 2 records have
/// the columns of steps, and "step" if they belong to a step.
inline constexpr int kResultsVersion = 7;

/// Limit of a results file: a million records of 2 KB. Records are read one by one, and take about
/// as much memory as their text.
inline constexpr std::size_t kLargestResultsFile = std::size_t{2} << 30;
/// Samples take up to 20 times the memory of their text.
inline constexpr std::size_t kMostSamples = std::size_t{32} << 20;

/// Limit for a document that is parsed as a whole: it takes ten times the memory of its text.
inline constexpr std::size_t kLargestDocument = std::size_t{256} << 20;

/// Writes all results: format version, command line, machine, phases, records with every sample.
/// Shape: {"opbench": 2, "command": ..., "machine": {...}, "run": {...}, "records": [{...}, ...]}.
/// Units are in the field names of `record_fields` ("median_us"). Absent values are null. A record
/// of a context's step also has "step" (step_value in harness/run/results_json.h).
/// `read_results_file` reads it.
void write_json(std::ostream& out, const RunResult& result, const Machine& machine,
                const std::string& command);

/// Contents of a file of `write_json`. The start and duration of samples and the available memory
/// are not in the file; they keep their defaults.
struct ResultsFile {
  std::string path;
  int version = 0;
  std::string command;  ///< command line of the run
  Machine machine;
  RunResult run;  ///< `run.records` has the results; it can be empty
  /// Results of other machines, which differ from this one and from each other. Their own `others`
  /// are empty. Their numbers are not comparable with each other. `path` is this file's.
  std::vector<ResultsFile> others;
};

/// Writes a file with its others, which are in "others": a list of such documents.
void write_json(std::ostream& out, const ResultsFile& file);

/// Reads a file of `opbench run --json`. Writing it again gives the same text; an older format is
/// written in the present version. Unknown keys are ignored.
/// Errors: throws Error with the file, the place such as records[3].median_us, the value found and
/// the allowed values, if a value is missing, of a wrong type or out of range, or if the file is of
/// a later version, truncated, or above 2 GiB.
ResultsFile read_results_file(const std::string& path);

/// Like `read_results_file`, from text.
ResultsFile parse_results(const std::string& text, const std::string& path);
ResultsFile parse_results(std::istream& in, const std::string& path);

/// Records that were taken out of a document while it was parsed. The key is the place of the
/// results: "" or "others[0]".
using RecordLists = std::map<std::string, std::vector<Record>>;

/// Like `read_results_file`, from the parsed document and the records that were taken out of it.
ResultsFile parse_results(const JsonValue& root, const std::string& path, RecordLists taken = {});

/// A JSON file of opbench, of any kind.
struct OpbenchFile {
  std::shared_ptr<nlohmann::ordered_json> document;  ///< results without their records
  std::optional<ResultsFile> results;
};

/// Parses a stream. Keeps at most one record as JSON, which takes ten times the memory of its text.
/// `path` names it in messages.
/// Errors: throws Error if it is not JSON, and for results those of `read_results_file`.
OpbenchFile read_opbench_file(std::istream& in, const std::string& path);
/// Like the overload above, for a file.
/// Errors: also throws Error if it cannot be read or is above 2 GiB.
OpbenchFile read_opbench_file(const std::string& path);

}  // namespace opbench
