#pragma once

#include <array>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "compare/judge/stats.h"
#include "harness/record/samples.h"
#include "harness/record/step_details.h"
#include "text/cell.h"

namespace opbench {

enum class Status {
  passed,
  failed,      ///< wrong: never timed
  mistrusted,  ///< passed, but the data proves little
  suspicious,  ///< passed, but faster than the memory ceiling allows
  skipped,     ///< the variant does not take the case
  errored,     ///< threw, or did not fit in memory
  unverified,  ///< timed with --no-verify
};
inline constexpr std::array kAllStatuses = {Status::passed,     Status::failed,  Status::mistrusted,
                                            Status::suspicious, Status::skipped, Status::errored,
                                            Status::unverified};
std::string_view name(Status status);
/// The status of that name. Errors: throws Error that lists the names.
Status parse_status(std::string_view text);

/// What one variant did on one case with one number of threads.
struct Record {
  std::string case_id;
  std::string case_name;
  std::string op;
  std::string variant;
  std::string provider;
  std::string kernels;  ///< of every node of the graph
  std::string shape;
  std::string attributes;  ///< those that are not at their defaults
  std::string dtype;
  std::string format;
  bool backward = false;
  int count = 1;
  int threads = 1;
  std::string isa;
  bool cold = false;

  Status status = Status::errored;
  std::string reason;

  std::vector<Sample> samples;
  double median_us = 0, mad_us = 0, cv = 0, min_us = 0;
  double elements = 0;  ///< logical, of the first input
  double bytes = 0;     ///< moved per call, padding included
  double operations = 0;
  double gb_per_s = 0, gflop_per_s = 0, gelements_per_s = 0;
  double copy_gb_per_s = 0, percent_of_copy = 0;
  double speedup_over_native = 0;
  bool is_best = false;
  int trans_data = 0;

  bool is_compared = false;  ///< the accuracy numbers below are meant
  double max_ulp = 0, mean_ulp = 0, max_abs = 0, inside_share = 0, min_tolerance = 0;
  std::int64_t nonfinite_mismatches = 0;

  std::string reproduce;  ///< one command line

  /// Of a step of a context; none for a single operator.
  std::shared_ptr<const StepDetails> step;

  bool is_timed() const { return !samples.empty(); }
};

class JsonValue;

/// One column of CSV and JSON, in order. Adding a metric is one row of this table.
struct Field {
  std::string_view name;
  std::string_view unit;  ///< empty: none
  Cell (*value)(const Record& record);
  /// Takes the value back from JSON. Whether others can be absent depends on the samples, on
  /// `is_compared` and on the fields before, which must be there already. null where there should
  /// be a value means that it was not finite: an error is then infinite, anything else NaN.
  void (*read)(const JsonValue& value, Record& record);
  int since = 1;  ///< the version of the JSON format from which on files have it
};
std::span<const Field> record_fields();
/// Name of a field with its unit: "median_us".
std::string column_name(const Field& field);

/// Medians and rates from the samples.
void summarise_samples(Record& record);

/// Keeps the worst of each accuracy number over the verifications of a record.
void keep_worst(Record& record, const Stats& stats);

/// Marks, among the records of one case and number of threads, the fastest timed one, and sets the
/// speed-up over native.
void compare_variants(std::span<Record> records);

}  // namespace opbench
