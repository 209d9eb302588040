#pragma once

#include <functional>
#include <iosfwd>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/run/results_file.h"

namespace opbench::report {

/// A form that results of a run can take.
struct ReportFormat {
  std::string_view name;  ///< for --format
  void (*write)(std::ostream& out, const ResultsFile& results);
};

/// Every form, the one for people first.
std::span<const ReportFormat> report_formats();

/// The form of that name. Errors: throws Error with the names that there are.
const ReportFormat& find_report_format(std::string_view name);

/// A report that is ready to be written.
struct FileReport {
  bool is_empty = false;  ///< the files hold nothing to report
  std::function<void(std::ostream&)> write;
};

/// Reads files that opbench wrote, all of one kind, and makes them into one report. Artefacts hold
/// results of a run, which any form is made from, or the files of one comparison, which are written
/// as they were. An empty `format` is the usual one: markdown, of a comparison the console.
/// `machine`: of results of unlike machines the one of this number, from 1; 0: all, where the
/// format takes them. Errors: throws Error for a file that cannot be read, a kind that is not
/// known, kinds that differ, results that cannot be joined, and a format that the kind does not
/// have.
FileReport report_of_files(const std::vector<std::string>& paths, const std::string& format,
                           int machine = 0);

}  // namespace opbench::report
