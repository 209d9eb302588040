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

/// Attaches results to a dump, which becomes an artefact. It writes results.json like `write_json`,
/// and every sample, in order, with its time stamps. Samples are arrays of equal length:
/// samples/record (index of the record; those of other machines follow), start_us, duration_us,
/// ns_per_call, iterations, preemptions.
void attach_results(DumpWriter& file, const ResultsFile& results);

/// Attaches a file unchanged. Its name must not be a path.
void attach_file(DumpWriter& file, std::string_view name, std::string_view text);

/// A file's name without its folder, and its contents.
struct NamedText {
  std::string name, text;
};

/// The JSON of results or of a comparison, with its file name. `path` is that file, or an artefact
/// that holds it.
/// Errors: throws Error if it cannot be read.
NamedText read_results_text(const std::string& path);

/// A file of `run --artefact` or `compare -o FILE.h5`, opened for reading. All contents are
/// validated.
class Artefact {
 public:
  /// True if the file begins with the signature of HDF5; false if it cannot be read.
  static bool is_hdf5(const std::string& path);

  /// Errors: throws Error if the file is not an artefact or is damaged.
  explicit Artefact(const std::string& path);

  bool has(std::string_view name) const { return find("files", name) != nullptr; }
  /// Names of its files, in byte order.
  std::vector<std::string> files() const;
  /// Contents of a file.
  /// Errors: throws Error if the name is unknown, or the file is larger than results may be.
  std::string text(std::string_view name);
  /// The results with the time stamps of samples.
  /// Errors: throws Error if the results are missing, if they are damaged, or if they do not match
  /// their samples.
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
