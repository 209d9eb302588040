#pragma once

#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/run/results_file.h"

namespace opbench::report {

/// A format for the results of a run.
struct ReportFormat {
  std::string_view name;  ///< for --format
  void (*write)(std::ostream& out, const ResultsFile& results);
};

/// All formats; the format for people is first.
std::span<const ReportFormat> report_formats();

/// The format of that name. Errors: throws Error with the available names.
const ReportFormat& find_report_format(std::string_view name);

/// A report that is ready to be written.
struct FileReport {
  bool is_empty = false;  ///< the files hold nothing to report
  std::function<void(std::ostream&)> write;
};

/// Reads files of opbench, all of one kind, and makes one report of them. Artefacts contain results
/// of a run, which have all formats, or the files of one comparison, which are written unchanged.
/// An empty `format` is the usual one: markdown, and the console for a comparison. `machine`: the
/// number of the machine, from 1, if results are of different machines; 0: all machines, if the
/// format allows them. Errors: throws Error for an unreadable file, an unknown kind, different
/// kinds, results that cannot be joined, and a format that the kind does not have.
FileReport report_of_files(const std::vector<std::string>& paths, const std::string& format,
                           int machine = 0);

}  // namespace opbench::report
