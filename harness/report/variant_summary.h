#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "harness/run/record.h"
#include "text/table.h"

namespace opbench::report {

/// A case with one number of threads: records of one place can be compared.
using Place = std::pair<std::string, int>;
inline Place place_of(const Record& record) { return {record.case_id, record.threads}; }

/// The median of the vendor's variant at every place with such a time.
std::map<Place, double> vendor_medians(std::span<const Record> records);

/// The results of one variant over all cases with one number of threads.
struct VariantSummary {
  std::string variant;  ///< "op/variant" where there are several operators
  int threads = 1;
  int timed = 0, failed = 0, skipped = 0;
  std::vector<double> speedups, percents, vendor_ratios;

  /// Geometric mean; 0 without speed-ups.
  double mean_speedup() const;
};

struct VariantComparison {
  std::vector<VariantSummary> variants;  ///< in the order of the records
  /// Size of the last-level cache in bytes if shares of the copy and vendor ratios are those of
  /// cases beyond it. 0 if there are no such cases and the values are those of all cases.
  double beyond_bytes = 0;
  /// "Over all cases, geometric mean (worst)", and the cases that are not included.
  std::string title() const;
  /// A row for each variant, with the worst value after the mean: "5.38x (5.28)"; "-" without a
  /// value.
  TextTable table() const;
};
/// Compares single operators; steps of contexts are skipped.
VariantComparison compare_over_cases(std::span<const Record> records);

/// "1.32x (1.25)": geometric mean and smallest value.
std::string smallest_text(const std::vector<double>& values, const char* unit, int digits);

/// A result that is slower than the result it should beat.
struct SlowResult {
  const Record* record;
  const Record* faster;
  double ratio;  ///< of the medians, above 1
};

/// Variants of the NPU or of the user that are slower than `native` of the same case and threads,
/// and cases whose best such variant is slower than the vendor's. The difference exceeds noise: 5 %
/// of the faster median plus three times the larger MAD. Steps of contexts and disturbed times are
/// skipped. Pointers point into `records`.
std::vector<SlowResult> slower_than_expected(std::span<const Record> records);

/// The time of a network that runs every case `count` times, with one number of threads: sums of
/// count times median over profiled cases.
struct NetworkTotal {
  int threads = 1;
  std::size_t cases = 0;    ///< with a weight
  std::size_t untimed = 0;  ///< of these, those of which no variant was timed: in no sum
  std::int64_t calls = 0;   ///< of those that were timed
  double best_us = 0;       ///< of the fastest variant of each
  double native_us = 0;     ///< of the native variant of each, the fastest where it was not timed
  double weight_us = 0;     ///< what the timed ones took when they were profiled
};

/// A total for each number of threads in the order of the records; empty if no case has a weight.
/// Steps of contexts are skipped.
std::vector<NetworkTotal> network_totals(std::span<const Record> records);

/// "Network, 23 cases in 187 calls: 12.345 ms with the fastest variants, 15.000 ms native; 8.873 ms
/// when profiled".
std::string network_text(const NetworkTotal& total);

}  // namespace opbench::report
