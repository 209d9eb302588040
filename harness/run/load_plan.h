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

/// What of a dump is run again, and by which variants.
struct LoadSelection {
  /// Finds something in "relu" or in "relu/2"; empty: all records.
  std::function<bool(std::string_view)> only;
  /// Names of variants or families. Empty: all where calls are timed, else what the device takes.
  std::vector<std::string> variants;
  std::vector<Format> formats;     ///< empty: the first that a variant takes
  bool dumps = false;              ///< one variant of each call is written
  bool times = true;               ///< all variants that are wanted run, not only the first
  std::vector<std::string> words;  ///< of a command line that names the dump
};

/// Records that are not run, for one reason.
struct LeftOut {
  std::string op, reason;
  std::int64_t records = 0, elements = 0;  ///< elements: of all their outputs
};

struct LoadPlan {
  std::string file;
  /// In the order in which the records ran: a case for each storage format that the variants of a
  /// recorded call want. Of calls with the same shapes, dtypes and attributes the first is timed.
  std::vector<WorkUnit> units;
  std::size_t calls = 0;                   ///< that the units are of
  std::vector<LeftOut> left_out;           ///< by operator
  std::vector<std::string> problems;       ///< what in the file could not be read
  std::int64_t records = 0, elements = 0;  ///< of all records that are wanted, and of their outputs
  std::int64_t run_records = 0, run_elements = 0;  ///< of those that are run
};

/// Reads numbers and lists of the dump, but no tensors: the units read their inputs from `file`
/// whenever they are wanted, which must outlive them. Errors: those of DumpSource; throws Error for
/// a variant that no operator of the dump has, and for names of operators that cannot be dumped.
LoadPlan plan_load(DumpSource& file, const OpTable& table, const LoadSelection& selection);

/// Which records of the dump are run, with their share of the elements, and which are not, by
/// operator and reason; what of the file could not be read.
void print_coverage(std::ostream& out, const LoadPlan& plan);

/// What would run: each call with its case, its variants, and which of them is dumped.
void print_loaded_cases(std::ostream& out, const LoadPlan& plan);

}  // namespace opbench
