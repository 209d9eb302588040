#pragma once

#include <array>
#include <cstdint>
#include <limits>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "harness/run/samples.h"
#include "harness/run/step_details.h"
#include "judge/pair_stats.h"
#include "text/cell.h"

namespace opbench {

class JsonValue;

enum class Status {
  passed,
  failed,      ///< wrong: never timed
  mistrusted,  ///< passed, but the data proves little
  suspicious,  ///< passed, but faster than the memory ceiling allows
  skipped,     ///< the variant does not take the case
  errored,     ///< threw, or did not fit in memory
  unverified,  ///< timed with --no-verify
  xfailed,     ///< failed, as its case file or a known limit of its kernel has it
};
inline constexpr std::array kAllStatuses = {Status::passed,     Status::failed,  Status::mistrusted,
                                            Status::suspicious, Status::skipped, Status::errored,
                                            Status::unverified, Status::xfailed};
std::string_view name(Status status);
/// The status of that name. Errors: throws Error that lists the names.
Status parse_status(std::string_view text);

/// What keeps a call from being faster.
enum class Bound {
  unknown,  ///< the ceilings were not measured
  memory,   ///< moving its bytes takes longer than its operations
  compute,
  latency,  ///< the call itself takes at least as long as both
};
inline constexpr std::array kAllBounds = {Bound::unknown, Bound::memory, Bound::compute,
                                          Bound::latency};
/// "memory", "compute", "latency"; empty for unknown.
std::string_view name(Bound bound);

/// What a variant's repetitions come to.
struct Times {
  std::vector<Sample> samples;  ///< at least one, in the order in which they were taken
  double median_us = 0, mad_us = 0, cv = 0, min_us = 0;
  double gb_per_s = 0, gflop_per_s = 0, gelements_per_s = 0;  ///< at the median
  double percent_of_copy = 0;  ///< 0 if the rate of a copy is not known
  /// Of the least time that the measured rates of memory and arithmetic allow; 0 without them.
  double percent_of_roofline = 0;
  double speedup_over_native = 0;  ///< 0 if native was not timed
  /// How often the system took a core from a thread during the samples (involuntary context
  /// switches of the process); none: the file that it was read from does not say.
  std::optional<std::int64_t> preemptions;
};

/// How far a variant is from its reference: the worst of every number over all verifications.
struct Accuracy {
  double max_ulp = 0, mean_ulp = 0, max_abs = 0;
  double inside_share = 1;  ///< of the elements inside the tolerance
  /// Least t with |actual - expected| <= t*scale + t*|expected| everywhere; see
  /// PairStats::tolerance_of_all.
  double min_tolerance = 0;
  std::int64_t nonfinite_mismatches = 0;
  double verified_share = 1;  ///< of the elements that were compared; large outputs are sampled

  bool operator==(const Accuracy&) const = default;
};

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
  double weight_us = 0;  ///< what all these calls took when profiled; 0: not known
  int threads = 1;
  std::string isa;
  bool cold = false;

  Status status = Status::errored;
  std::string reason;
  std::string formula;  ///< what its last output was held to; empty: nothing was verified

  double elements = 0;  ///< logical, of the first input
  double bytes = 0;     ///< moved per call, padding included
  double operations = 0;
  double copy_gb_per_s = 0;     ///< of the fastest way to move as many bytes; 0: not measured
  std::string copy_way;         ///< that way: "streamed copy"; empty: not known
  double copy_spread = 0;       ///< by how much its best was above that; of this run, not in files
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

/// Of fields that are written for readers of the file, and not read back.
inline constexpr int kDerived = std::numeric_limits<int>::max();

/// One column of CSV and JSON, in order. Adding a metric is one row of this table.
struct Field {
  std::string_view name;
  std::string_view unit;  ///< empty: none
  Cell (*value)(const Record& record);
  /// Takes the value back from JSON. The parts of the record that the file has (times, accuracy,
  /// step) and the fields before must be there already; a value of a part that is not is dropped,
  /// or refused if it is a step's. null where there should be a value means that it was not finite:
  /// an error is then infinite, anything else NaN.
  void (*read)(const JsonValue& value, Record& record);
  /// The version of the JSON format from which on files have it; kDerived: it follows from others.
  int since = 1;
};
std::span<const Field> record_fields();
/// Name of a field with its unit: "median_us".
std::string column_name(const Field& field);

/// Sets the times: medians and rates of `samples`; none if there are none. The record's bytes,
/// operations and ceilings must be there already.
void set_times(Record& record, std::vector<Sample> samples);

/// The least time of a call that its ceilings allow: its bytes at the rate of a copy, or its
/// operations at that of multiply-adds, whichever takes longer.
double least_us(const Record& record);

/// Sets `bound` by the ceilings, bytes and operations; unknown without the rate of a copy.
/// `is_latency`: copying so few bytes takes no longer than a call does.
void set_bound(Record& record, bool is_latency);

/// What a record may say of ceilings that it is beyond.
inline constexpr double kSuspiciousPercent = 200;
inline constexpr double kCeilingPercent = 105;

/// Says where a result that passed is faster than the ceilings of its machine: `suspicious` beyond
/// twice the fastest copy (of 1 MiB and more: what is shorter than the start of its threads proves
/// nothing), and with a reason beyond 105 % of the roofline, which is a defect of the measured
/// ceiling or of the bytes and operations that are counted.
void judge_rates(Record& record);

/// What the reason begins with of a record that passed where its case file expects a failure.
inline constexpr std::string_view kUnexpectedPass = "passed, but ";

/// Is that why it is `failed`? Then nothing is wrong with its numbers.
bool is_unexpected_pass(const Record& record);

/// Keeps the worst of each number over several verifications; nothing changes if `stats` has no
/// elements. `stats` may be of a sample of `elements`.
void keep_worst(std::optional<Accuracy>& accuracy, const PairStats& stats, std::int64_t elements);

/// Marks, among the records of one case and number of threads, the fastest timed one, and sets the
/// speed-up over native. Disturbed ones have neither.
void compare_variants(std::span<Record> records);

/// Whether the times are those of the machine's other work rather than of the variant, by the
/// samples alone: their median is far above the best of them, or they are whole ticks of the
/// scheduler that took the cores away. Such a median is compared with nothing: no ratio, no mean
/// over cases, no fastest variant.
bool is_disturbed(const Times& times);

/// The same of a record; false where it was not timed.
bool is_disturbed(const Record& record);

/// Timed, and not disturbed: its median may be compared.
bool is_comparable(const Record& record);

/// What other programs know a result by: "relu[64,fp32]/native/threads:2", "/cold" at its end where
/// caches were emptied. An empty variant is left out: all of the case.
std::string benchmark_name(std::string_view case_id, std::string_view variant, int threads,
                           bool is_cold);
std::string benchmark_name(const Record& record);
/// The names of all, in their order; "/isa:avx2" follows where the same was measured with several
/// instruction sets, so that other programs do not take one for a repetition of the other.
std::vector<std::string> benchmark_names(std::span<const Record> records);

}  // namespace opbench
