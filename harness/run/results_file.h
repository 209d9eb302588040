#pragma once

#include <cstddef>
#include <iosfwd>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <vector>

#include "harness/run/machine.h"
#include "harness/run/run_result.h"

namespace opbench {

class JsonValue;

/// Version of the JSON result format. Readers refuse later ones. Since version 2 records have the
/// columns of steps and, where they are of one, "step".
inline constexpr int kResultsVersion = 6;

/// Results beyond are not read: a million records of 2 KB. Records are read one by one, and take
/// about as much memory as their text.
inline constexpr std::size_t kLargestResultsFile = std::size_t{2} << 30;
/// Samples take up to 20 times their text.
inline constexpr std::size_t kMostSamples = std::size_t{32} << 20;

/// What is held as a whole document is not read beyond: it takes ten times its text.
inline constexpr std::size_t kLargestDocument = std::size_t{256} << 20;

/// Everything: format version, command line, machine, phases, records with every sample.
/// Shape: {"opbench": 2, "command": ..., "machine": {...}, "run": {...}, "records": [{...}, ...]};
/// units are in the field names of `record_fields` ("median_us"), absent values are null. A record
/// of a context's step has "step" too (step_value in harness/run/results_json.h).
/// `read_results_file` reads it back.
void write_json(std::ostream& out, const RunResult& result, const Machine& machine,
                const std::string& command);

/// What `write_json` wrote. Not in the file and left at their defaults: when samples began and how
/// long they lasted, and the memory that was available.
struct ResultsFile {
  std::string path;
  int version = 0;
  std::string command;  ///< the line that made it
  Machine machine;
  RunResult run;  ///< `run.records` is what most are after; it can be empty
  /// The same of other machines, which are unlike this one and each other; each has none itself.
  /// Numbers of one have nothing to do with those of another. `path` is this file's.
  std::vector<ResultsFile> others;
};

/// The same of a file with its others, which are in "others": a list of such documents.
void write_json(std::ostream& out, const ResultsFile& file);

/// Reads a file of `opbench run --json`. Writing what was read gives the same text, that of an
/// older version of the format in today's. Keys that this version does not know are passed over.
/// Errors: throws Error with the file, the place such as records[3].median_us, what was found and
/// what is allowed, for anything that is missing, of a wrong type, out of range, of a later
/// version, truncated, or above 2 GiB.
ResultsFile read_results_file(const std::string& path);

/// The same from the file's text.
ResultsFile parse_results(const std::string& text, const std::string& path);
ResultsFile parse_results(std::istream& in, const std::string& path);

/// Records that were taken out of a document while it was read, by the place of what held them: ""
/// or "others[0]".
using RecordLists = std::map<std::string, std::vector<Record>>;

/// The same from what it holds, and what was taken out of it.
ResultsFile parse_results(const JsonValue& root, const std::string& path, RecordLists taken = {});

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
