#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <array>
#include <map>
#include <ostream>
#include <string_view>
#include <tuple>
#include <utility>

#include "harness/report/console.h"
#include "harness/report/step_table.h"
#include "harness/report/text.h"
#include "harness/report/variant_summary.h"
#include "harness/run/record.h"
#include "text/fitted.h"

namespace opbench::report {
namespace {

void print_variants(std::ostream& out, const RunResult& result, const ConsoleStyle& style) {
  std::array<std::string_view, 5> least = {"threads", "% of roofline", "skipped", "failed",
                                           "timed"};
  const VariantComparison comparison = compare_over_cases(result.records);
  const auto& variants = comparison.variants;
  const bool has_several = std::any_of(variants.begin(), variants.end(), [&](const auto& one) {
    return one.threads != variants.front().threads;
  });
  // Rows of one variant differ by their threads only.
  if (has_several) std::rotate(least.begin(), least.begin() + 1, least.end());
  out << '\n';
  say(out, comparison.title() + ":", 0, 2, style.width);
  print_table(out, fitted(comparison.table(), style.width - 2, least), style);
}

// Elements per second of the 16-bit types over fp32, where both ran the same case.
void print_dtype_ratios(std::ostream& out, std::span<const Record> records,
                        const ConsoleStyle& style) {
  using CaseKey = std::tuple<std::string, std::string, std::string, std::string, int, bool>;
  std::map<CaseKey, double> fp32;
  const auto key = [](const Record& r) {
    return CaseKey{r.op, r.variant, r.shape, r.format, r.threads, r.backward};
  };
  for (const Record& r : records) {
    if (!r.step && is_comparable(r) && r.dtype == "fp32") fp32[key(r)] = r.times->gelements_per_s;
  }
  std::map<std::pair<std::string, std::string>, std::vector<double>> ratios;
  for (const Record& r : records) {
    const auto found = fp32.find(key(r));
    if (!r.step && is_comparable(r) && r.dtype != "fp32" && found != fp32.end() &&
        found->second > 0) {
      ratios[{r.variant, r.dtype}].push_back(r.times->gelements_per_s / found->second);
    }
  }
  if (ratios.empty()) return;
  out << "Elements per second against fp32, geometric mean (worst):\n";
  TextTable table{columns_of("|>|>")};
  for (const auto& [variant, values] : ratios) {
    table.rows.push_back({variant.first, variant.second, smallest_text(values, "x", 2)});
  }
  print_table(out, table, style);
}

void print_costs(std::ostream& out, const RunResult& result, RowDetail detail) {
  const PhaseTimes& t = result.times;
  out << fmt::format("Took {:.1f} s: measuring {:.1f}, verifying {:.1f}, filling {:.1f}", t.total,
                     t.measure, t.verify, t.fill);
  if (t.dump > 0) out << fmt::format(", dumping {:.1f}", t.dump);
  out << ".\n";
  if (detail == RowDetail::usual) return;
  const double cases = std::max<double>(1, static_cast<double>(result.cases_run));
  out << fmt::format("Allocating {:.1f} s; harness {:.2f} ms per case.\n", t.allocate,
                     1e3 * t.overhead() / cases);
  rusage usage{};
  getrusage(RUSAGE_SELF, &usage);
  const double peak = static_cast<double>(usage.ru_maxrss) * 1024;
  const double largest = static_cast<double>(result.largest_case_bytes);
  const double rest = std::max(0., peak - largest);  // of a case that did not fit
  out << fmt::format("Peak memory {}: largest case {} + {}.\n", byte_size_text(peak),
                     byte_size_text(largest), byte_size_text(rest));
}

void print_counts(std::ostream& out, const RunResult& result) {
  std::map<Status, int> counts;
  for (const Record& record : result.records) ++counts[record.status];
  out << counted(result.cases_run, "case") << ", " << counted(result.records.size(), "result");
  const char* separator = ": ";
  for (const auto& [status, count] : counts) {
    out << separator << fmt::format("{} {}", count, name(status));
    separator = ", ";
  }
  out << ".\n";
}

// Large outputs are verified on some of their blocks.
void print_sampled(std::ostream& out, const RunResult& result, const ConsoleStyle& style) {
  const auto sampled =
      std::count_if(result.records.begin(), result.records.end(),
                    [](const Record& r) { return r.accuracy && r.accuracy->verified_share < 1; });
  if (sampled == 0) return;
  say(out,
      fmt::format("{} verified on a sample of large outputs; --verify all checks every element.",
                  sampled == 1 ? "1 result is" : fmt::format("{} results are", sampled)),
      0, 2, style.width);
}

}  // namespace

void print_summary(std::ostream& out, const RunResult& result, const ConsoleStyle& style,
                   RowDetail detail) {
  if (result.records.empty() || !only_steps(result.records)) print_variants(out, result, style);
  print_context_summary(out, result.records, style);
  print_dtype_ratios(out, result.records, style);
  for (const NetworkTotal& total : network_totals(result.records)) {
    say(out, network_text(total), 0, 2, style.width);
  }
  print_end_of_run(out, result, style, detail);
}

void print_end_of_run(std::ostream& out, const RunResult& result, const ConsoleStyle& style,
                      RowDetail detail) {
  print_counts(out, result);
  print_costs(out, result, detail);
  print_sampled(out, result, style);
  const std::string busy = disturbance_text(result);
  if (!busy.empty()) out << coloured(wrapped(busy, style.width, 2), kYellow, style) << '\n';
  if (result.was_interrupted) out << "Interrupted: what was complete is kept.\n";
}

}  // namespace opbench::report
