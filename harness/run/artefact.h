#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "dump/dump_file.h"
#include "dump/dump_writer.h"
#include "harness/run/results_file.h"

namespace opbench {

/// Names of an artefact's files.
inline constexpr std::string_view kResultsName = "results.json";
inline constexpr std::string_view kComparisonName = "compare.json";

/// Attaches results to a dump, which they make an artefact: results.json as `write_json` has it,
/// and every sample, in order, with its time stamps, as arrays of as many elements:
/// samples/record (its place among the records, those of other machines after), start_us,
/// duration_us, ns_per_call, iterations, preemptions.
void attach_results(DumpWriter& file, const ResultsFile& results);

/// Attaches a file as it is. Its name is no path.
void attach_file(DumpWriter& file, std::string_view name, std::string_view text);

/// A file's name without its folder, and what it holds.
struct NamedText {
  std::string name, text;
};

/// The JSON of results or of a comparison, whether `path` is that file or an artefact that holds
/// it, with the name that it has there. Errors: throws Error if it cannot be read.
NamedText read_results_text(const std::string& path);

/// A file of `run --artefact` or `compare -o FILE.h5`, opened for reading; nothing in it is
/// trusted.
class Artefact {
 public:
  /// Does the file begin as HDF5 does? False if it cannot be read.
  static bool is_hdf5(const std::string& path);

  /// Errors: throws Error if the file is none, or is damaged.
  explicit Artefact(const std::string& path);

  bool has(std::string_view name) const { return find("files", name) != nullptr; }
  /// Names of its files, in the order of their bytes.
  std::vector<std::string> files() const;
  /// What a file holds. Errors: throws Error if there is none of that name, or it is larger than
  /// results may be.
  std::string text(std::string_view name);
  /// The results with the time stamps of samples. Errors: throws Error if it holds none, or they
  /// are damaged or do not go with their samples.
  ResultsFile results();

  const std::string& path() const { return path_; }

 private:
  const DumpEntry* find(std::string_view folder, std::string_view name) const;
  template <class Value>
  std::vector<Value> column(std::string_view name, StoredType stored);
  void take_samples(ResultsFile& results);

  std::string path_;
  DumpFile file_;
  const std::vector<DumpEntry>& entries_;
};

}  // namespace opbench
