#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>
#include <set>
#include <tuple>

#include "harness/report.h"
#include "kernels/elementwise.h"

namespace opbench {
namespace {

constexpr double kMiB = 1 << 20;

double geometric_mean(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum += std::log(value);
  return values.empty() ? 0 : std::exp(sum / static_cast<double>(values.size()));
}

// What one variant did over all cases with one number of threads.
struct VariantSummary {
  int timed = 0, failed = 0, skipped = 0;
  std::vector<double> speedups, percents, vendor_ratios;
};

using Key = std::pair<int, std::string>;  // threads, variant
// A case with one number of threads.
using Place = std::pair<std::string, int>;

// Times of the vendor's variant by case.
std::map<Place, double> vendor_times(std::span<const Record> records) {
  std::map<Place, double> times;
  for (const Record& record : records) {
    if (record.provider == "vendor" && record.is_timed()) {
      times[{record.case_id, record.threads}] = record.median_us;
    }
  }
  return times;
}

void add_record(VariantSummary& summary, const Record& record, bool only_large,
                const std::map<Place, double>& vendor) {
  summary.failed += record.status == Status::failed || record.status == Status::errored;
  summary.skipped += record.status == Status::skipped;
  if (!record.is_timed()) return;
  ++summary.timed;
  if (record.speedup_over_native > 0) summary.speedups.push_back(record.speedup_over_native);
  if (only_large && record.bytes <= static_cast<double>(last_level_cache_bytes())) return;
  if (record.percent_of_copy > 0) summary.percents.push_back(record.percent_of_copy);
  const auto found = vendor.find({record.case_id, record.threads});
  if (found != vendor.end()) summary.vendor_ratios.push_back(record.median_us / found->second);
}

std::string mean_and_worst(const std::vector<double>& values, double worst, const char* unit,
                           int digits) {
  if (values.empty()) return "-";
  return fmt::format("{:.{}f}{} ({:.{}f})", geometric_mean(values), digits, unit, worst, digits);
}

std::string smallest_of(const std::vector<double>& values, const char* unit, int digits) {
  return mean_and_worst(
      values, values.empty() ? 0 : *std::min_element(values.begin(), values.end()), unit, digits);
}

std::string largest_of(const std::vector<double>& values, const char* unit, int digits) {
  return mean_and_worst(
      values, values.empty() ? 0 : *std::max_element(values.begin(), values.end()), unit, digits);
}

void print_variants(std::ostream& out, const RunResult& result) {
  const double cache = static_cast<double>(last_level_cache_bytes());
  const bool has_large =
      std::any_of(result.records.begin(), result.records.end(),
                  [&](const Record& r) { return r.is_timed() && r.bytes > cache; });
  const auto vendor = vendor_times(result.records);
  std::set<std::string> ops;
  for (const Record& record : result.records) ops.insert(record.op);
  std::map<Key, VariantSummary> summaries;
  std::vector<Key> order;
  for (const Record& record : result.records) {
    const Key key{record.threads,
                  ops.size() > 1 ? record.op + "/" + record.variant : record.variant};
    if (!summaries.contains(key)) order.push_back(key);
    add_record(summaries[key], record, has_large, vendor);
  }
  out << fmt::format("\nOver all cases, geometric mean (worst){}:\n",
                     has_large ? fmt::format("; last two columns over cases beyond the {:.0f} MiB "
                                             "last-level cache",
                                             cache / kMiB)
                               : "");
  out << fmt::format("  {:<24} {:>7} {:>6} {:>7} {:>8}  {:>15}  {:>15}  {:>18}\n", "variant",
                     "threads", "timed", "failed", "skipped", "v. native", "% of copy",
                     "time / onednn");
  for (const Key& key : order) {
    const VariantSummary& s = summaries[key];
    out << fmt::format("  {:<24} {:>7} {:>6} {:>7} {:>8}  {:>15}  {:>15}  {:>18}\n", key.second,
                       key.first, s.timed, s.failed, s.skipped, smallest_of(s.speedups, "x", 2),
                       smallest_of(s.percents, "", 0), largest_of(s.vendor_ratios, "", 2));
  }
}

// Elements per second of the 16-bit types over fp32, where both ran the same case.
void print_dtype_ratios(std::ostream& out, std::span<const Record> records) {
  using CaseKey = std::tuple<std::string, std::string, std::string, std::string, int, bool>;
  std::map<CaseKey, double> fp32;
  const auto key = [](const Record& r) {
    return CaseKey{r.op, r.variant, r.shape, r.format, r.threads, r.backward};
  };
  for (const Record& r : records) {
    if (r.is_timed() && r.dtype == "fp32") fp32[key(r)] = r.gelements_per_s;
  }
  std::map<std::pair<std::string, std::string>, std::vector<double>> ratios;
  for (const Record& r : records) {
    const auto found = fp32.find(key(r));
    if (r.is_timed() && r.dtype != "fp32" && found != fp32.end() && found->second > 0) {
      ratios[{r.variant, r.dtype}].push_back(r.gelements_per_s / found->second);
    }
  }
  if (ratios.empty()) return;
  out << "Elements per second against fp32, geometric mean (worst):\n";
  for (const auto& [variant, values] : ratios) {
    out << fmt::format("  {:<24} {:>7} {:>15}\n", variant.first, variant.second,
                       smallest_of(values, "x", 2));
  }
}

void print_costs(std::ostream& out, const RunResult& result) {
  const PhaseTimes& t = result.times;
  out << fmt::format(
      "Took {:.1f} s: measuring {:.1f}, verifying {:.1f}, filling {:.1f}, allocating {:.1f}",
      t.total, t.measure, t.verify, t.fill, t.allocate);
  if (t.dump > 0) out << fmt::format(", dumping {:.1f}", t.dump);
  const double cases = std::max<double>(1, static_cast<double>(result.cases_run));
  out << fmt::format("; harness {:.2f} ms per case.\n", 1e3 * t.overhead() / cases);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double peak = static_cast<double>(usage.ru_maxrss) * 1024;
  const double largest = static_cast<double>(result.largest_case_bytes);
  out << fmt::format("Peak memory {:.0f} MiB: largest case {:.0f} MiB + {:.0f} MiB.\n", peak / kMiB,
                     largest / kMiB, (peak - largest) / kMiB);
}

void print_counts(std::ostream& out, const RunResult& result) {
  std::map<Status, int> counts;
  for (const Record& record : result.records) ++counts[record.status];
  out << fmt::format("{} case{}, {} result{}", result.cases_run, result.cases_run == 1 ? "" : "s",
                     result.records.size(), result.records.size() == 1 ? "" : "s");
  const char* separator = ": ";
  for (const auto& [status, count] : counts) {
    out << separator << fmt::format("{} {}", count, name(status));
    separator = ", ";
  }
  out << ".\n";
}

}  // namespace

void print_summary(std::ostream& out, const RunResult& result, const ConsoleStyle&) {
  print_variants(out, result);
  print_dtype_ratios(out, result.records);
  print_counts(out, result);
  print_costs(out, result);
  if (result.was_interrupted) out << "Interrupted: what was complete is kept.\n";
}

}  // namespace opbench
