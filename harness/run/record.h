#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/run/counts.h"
#include "harness/run/samples.h"
#include "harness/run/step_details.h"
#include "judge/pair_stats.h"
#include "text/cell.h"

namespace opbench {

class JsonValue;

enum class Status {
  passed,
  failed,      ///< wrong result: not timed
  mistrusted,  ///< passed, but the data are weak evidence
  suspicious,  ///< passed, but faster than the memory ceiling allows
  skipped,     ///< the variant does not take the case
  errored,     ///< threw, or did not fit into memory
  unverified,  ///< timed with --no-verify
  xfailed,     ///< failed, as its case file expects or at a known limit of its kernel
};
inline constexpr std::array kAllStatuses = {Status::passed,     Status::failed,  Status::mistrusted,
                                            Status::suspicious, Status::skipped, Status::errored,
                                            Status::unverified, Status::xfailed};
std::string_view name(Status status);
/// The status of that name.
/// Errors: throws Error that lists the names.
Status parse_status(std::string_view text);

/// Resource that limits the speed of a call.
enum class Bound {
  unknown,  ///< the ceilings were not measured
  memory,   ///< moving its bytes takes longer than its operations
  compute,
  latency,  ///< the call overhead is at least as long as both
};
inline constexpr std::array kAllBounds = {Bound::unknown, Bound::memory, Bound::compute,
                                          Bound::latency};
/// "memory", "compute", "latency"; empty for unknown.
std::string_view name(Bound bound);

/// Statistics of a variant's repetitions.
struct Times {
  std::vector<Sample> samples;  ///< at least one, in measuring order
  double median_us = 0, mad_us = 0, cv = 0, min_us = 0;
  double gb_per_s = 0, gflop_per_s = 0, gelements_per_s = 0;  ///< at the median
  double percent_of_copy = 0;  ///< 0 if the rate of a copy is unknown
  /// Share of the minimum time that the measured rates of memory and arithmetic allow; 0 without
  /// them.
  double percent_of_roofline = 0;
  double speedup_over_native = 0;  ///< 0 if native was not timed
  /// Median of the host's time to launch a call on a device, not in the times above; 0: not on a
  /// device. Files have it in the reason.
  double launch_us = 0;
  /// Number of involuntary context switches of the process during the samples; none: the file does
  /// not state it.
  std::optional<std::int64_t> preemptions;
  /// Noise that was asked for, in percent; 0: a fixed number of samples.
  double noise_limit_percent = 0;
  double clock_before_mhz = 0, clock_after_mhz = 0;  ///< 0: not reported
  std::int64_t retaken = 0;      ///< samples that were taken again because of a reduced clock
  std::string throttled_by;      ///< reasons that a device gave, in its own words
  WarmUp warm_up;                ///< the first call is that of this process; 0: unknown
  std::optional<Counts> counts;  ///< of one call; none: without --counters, or not this process

  /// Samples that were kept although the clock was reduced.
  std::int64_t throttled() const;
  /// Noise that the samples reached (`noise_of`), in percent.
  double noise_percent() const { return 100 * noise_of(samples); }
};

/// Error of a variant against its reference: the worst of each number over all verifications.
struct Accuracy {
  double max_ulp = 0, mean_ulp = 0, max_abs = 0;
  double inside_share = 1;  ///< of the elements inside the tolerance
  /// Least t with |actual - expected| <= t*scale + t*|expected| for all elements; see
  /// PairStats::tolerance_of_all.
  double min_tolerance = 0;
  std::int64_t nonfinite_mismatches = 0;
  double verified_share = 1;  ///< of the elements that were compared; large outputs are sampled

  bool operator==(const Accuracy&) const = default;
};

/// Result of one variant on one case with one number of threads.
struct Record {
  std::string case_id;
  std::string case_name;
  std::string op;
  std::string variant;
  std::string provider;
  std::string kernels;  ///< of every node of the graph
  std::string shape;
  std::string attributes;  ///< those that differ from their defaults
  std::string dtype;
  std::string format;
  bool backward = false;
  int count = 1;
  double weight_us = 0;  ///< profiled time of all these calls; 0: unknown
  int threads = 1;
  std::string isa;
  bool cold = false;
  int input_copies = 1;  ///< places of the tensors, of which each sample used another

  Status status = Status::errored;
  std::string reason;
  std::string formula;  ///< criterion of its last verified output; empty: not verified

  double elements = 0;  ///< logical, of the first input
  double bytes = 0;     ///< moved per call, including padding
  double operations = 0;
  double copy_gb_per_s = 0;  ///< of the fastest method to move that many bytes; 0: not measured
  std::string copy_way;      ///< that method: "streamed copy"; empty: unknown
  /// Relative distance of its best sample to that rate; of this run, not in files
  double copy_spread = 0;
  double peak_gflop_per_s = 0;  ///< of multiply-adds in registers; 0: not measured
  Bound bound = Bound::unknown;
  int trans_data = 0;
  std::string reproduce;  ///< one command line

  std::optional<Times> times;        ///< none: it was not timed
  bool is_best = false;              ///< the fastest of its case
  std::optional<Accuracy> accuracy;  ///< none: it was not compared with its reference
  std::optional<StepDetails> step;   ///< none: a single operator

  bool is_timed() const { return times.has_value(); }
};

/// `since` of fields that are only written for readers of the file, and not read.
inline constexpr int kDerived = std::numeric_limits<int>::max();

/// One column of CSV and JSON, in order. A row of this table defines a metric.
struct Field {
  std::string_view name;
  std::string_view unit;  ///< empty: no unit
  Cell (*value)(const Record& record);
  /// Reads the value from JSON. The parts of the record that the file has (times, accuracy, step)
  /// and the preceding fields must be set. A value of a missing part is dropped; for a step it is
  /// refused. null in place of a value means that it was not finite: an error becomes infinite,
  /// anything else NaN.
  void (*read)(const JsonValue& value, Record& record);
  /// First version of the JSON format that has this field; kDerived: it is computed from others.
  int since = 1;
};
std::span<const Field> record_fields();
/// Name of a field with its unit: "median_us".
std::string column_name(const Field& field);

/// Sets the times: medians and rates of `samples`; none without samples. The record's bytes,
/// operations and ceilings must be set.
void set_times(Record& record, std::vector<Sample> samples);

/// Minimum time of a call by its ceilings: its bytes at the rate of a copy, or its operations at
/// the rate of multiply-adds, whichever takes longer.
double least_us(const Record& record);

/// Sets `bound` by the ceilings, bytes and operations; unknown without the rate of a copy.
/// `is_latency`: copying this number of bytes takes no longer than the call overhead.
void set_bound(Record& record, bool is_latency);

/// Limits of the ceilings' plausibility, in percent.
inline constexpr double kSuspiciousPercent = 200;
inline constexpr double kCeilingPercent = 105;

/// Marks a passed result that is faster than the ceilings of its machine. Beyond twice the fastest
/// copy it is `suspicious`. This applies from 1 MiB on, because shorter calls are dominated by the
/// start of their threads. Beyond 105 % of the roofline it gets a reason: the measured ceiling, or
/// the counted bytes and operations, are wrong.
void judge_rates(Record& record);

/// Beginning of the reason of a record that passed although its case file expects a failure.
inline constexpr std::string_view kUnexpectedPass = "passed, but ";

/// True if this is why the record is `failed`. Its numbers are correct then.
bool is_unexpected_pass(const Record& record);

/// Keeps the worst of each number over several verifications. Does nothing if `stats` has no
/// elements. `stats` may be of a sample of `elements`.
void keep_worst(std::optional<Accuracy>& accuracy, const PairStats& stats, std::int64_t elements);

/// Marks the fastest of the timed records of one case and number of threads, and sets the speed-up
/// over native. Disturbed records have neither.
void compare_variants(std::span<Record> records);

/// True if the samples show that other work of the machine disturbed the times: their median is far
/// above their minimum, or they are whole ticks of a scheduler that preempted the threads. Such a
/// median is excluded from ratios, means over cases and the fastest variant.
bool is_disturbed(const Times& times);

/// Like the overload above; false for a record that was not timed.
bool is_disturbed(const Record& record);

/// True if the record was timed and is not disturbed: its median may be compared.
bool is_comparable(const Record& record);

/// Name of a result for other programs: "relu[64,fp32]/native/threads:2", with "/cold" at its end
/// if caches were emptied. Without a variant, the name stands for all results of the case.
std::string benchmark_name(std::string_view case_id, std::string_view variant, int threads,
                           bool is_cold);
std::string benchmark_name(const Record& record);
/// Names of all records, in order. "/isa:avx2" is added if the same was measured with several
/// instruction sets, so that other programs do not treat them as repetitions.
std::vector<std::string> benchmark_names(std::span<const Record> records);

}  // namespace opbench
