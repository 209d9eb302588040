#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <string>
#include <string_view>
#include <vector>

#include "dump/dump_source.h"
#include "harness/plan/recorded_call.h"
#include "harness/plan/work_unit.h"

namespace opbench {

/// Selects the records of a dump that are run again, and their variants.
struct LoadSelection {
  /// Matches "relu" or "relu/2"; empty: all records.
  std::function<bool(std::string_view)> only;
  /// Names of variants or families. Empty: all if calls are timed, else the variants of the device.
  std::vector<std::string> variants;
  std::vector<Format> formats;     ///< empty: the first that a variant takes
  bool dumps = false;              ///< one variant of each call is written
  bool times = true;               ///< all selected variants run, not only the first
  std::vector<std::string> words;  ///< of a command line that names the dump
};

/// Records that are left out for one reason.
struct LeftOut {
  std::string op, reason;
  std::int64_t records = 0, elements = 0;  ///< elements: of all their outputs
};

struct LoadPlan {
  std::string file;
  /// In the order in which the records ran: a case for each storage format that the variants of a
  /// recorded call require. Of calls with equal shapes, dtypes and attributes, only the first is
  /// timed.
  std::vector<WorkUnit> units;
  std::size_t calls = 0;                   ///< number of calls that the units were made from
  std::vector<LeftOut> left_out;           ///< by operator
  std::vector<std::string> problems;       ///< parts of the file that could not be read
  std::int64_t records = 0, elements = 0;  ///< of all selected records, and of their outputs
  std::int64_t run_records = 0, run_elements = 0;  ///< of the records that are run
};

/// Plans a dump. It reads numbers and lists, but no tensors: the units read their inputs from
/// `file` on demand. `file` must outlive them.
/// Errors: those of DumpSource; throws Error for a variant that no operator of the dump has, and
/// for names of operators that cannot be dumped.
LoadPlan plan_load(DumpSource& file, const OpTable& table, const LoadSelection& selection);

/// Prints the records of the dump that are run, with their share of the elements; those that are
/// left out, by operator and reason; and the parts of the file that could not be read.
void print_coverage(std::ostream& out, const LoadPlan& plan);

/// Prints the plan: each call with its case, its variants, and the variant that is dumped.
void print_loaded_cases(std::ostream& out, const LoadPlan& plan);

}  // namespace opbench
