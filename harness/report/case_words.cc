#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <ostream>
#include <string_view>

#include "harness/report/console.h"
#include "harness/report/explain_file.h"
#include "harness/report/text.h"
#include "harness/run/record.h"
#include "tensor/utf8.h"
#include "text/fitted.h"
#include "text/table.h"

namespace opbench::report {

namespace {

// Adds a row unless the file does not hold the fact.
void add(TextTable& facts, const char* name, const std::string& value) {
  if (!value.empty() && value != "-") facts.rows.push_back({name, value});
}

TextTable facts_of(const Machine& machine, const Record& first) {
  TextTable facts{columns_of("|")};
  add(facts, "operator", first.op + (first.backward ? ", forward+backward" : ""));
  add(facts, "dtype", first.dtype);
  add(facts, "format", first.format);
  add(facts, "attributes", first.attributes);
  if (first.bytes > 0) {
    add(facts, "a call",
        fmt::format("{}, {:.4g} operations", byte_size_text(first.bytes), first.operations));
  }
  if (first.count > 1) add(facts, "in a network", fmt::format("{} times", first.count));
  add(facts, "machine",
      fmt::format("{}, {}, {}", machine.cpu, counted(std::max(machine.cores, 0), "core"),
                  machine.os));
  add(facts, "measured",
      fmt::format("{}, by opbench {} ({})", machine.date, machine.version, machine.revision));
  return facts;
}

void add_accuracy(TextTable& facts, const Record& record) {
  if (!record.accuracy) return;
  const Accuracy& a = *record.accuracy;
  add(facts, "inside", fmt::format("{} of the elements", inside_text(record)));
  add(facts, "tolerance", record.formula);
  if (a.verified_share < 1) {
    add(facts, "compared",
        fmt::format("{:.2g} % of the elements, spread over the output", 100 * a.verified_share));
  }
  constexpr double kManyUlp = 1e6;  // inside the tolerance only near 0
  add(facts, "max ULP",
      fmt::format("{}, mean {:.3g}{}", ulp_text(record), a.mean_ulp,
                  record.status == Status::passed && a.max_ulp > kManyUlp
                      ? "; so many only where values are small"
                      : ""));
  add(facts, "max error",
      a.nonfinite_mismatches == 0
          ? fmt::format("{:.4g}; all elements would pass with a tolerance of {:.2g}", a.max_abs,
                        a.min_tolerance)
          : fmt::format("{:.4g}; {} NaN or Inf on one side only", a.max_abs,
                        a.nonfinite_mismatches));
}

double median_of_part(const std::vector<Sample>& samples, std::size_t first, std::size_t end) {
  std::vector<double> values;
  for (std::size_t i = first; i < end; ++i) values.push_back(samples[i].ns_per_call);
  return median_of(std::move(values));
}

// The difference of the last samples from the first, if it is larger than the spread.
std::string drift_text(const Times& times) {
  const std::size_t third = times.samples.size() / 3;
  if (third < 2) return {};
  const double early = median_of_part(times.samples, 0, third);
  const double late =
      median_of_part(times.samples, times.samples.size() - third, times.samples.size());
  const double change = early > 0 ? late / early - 1 : 0;
  if (std::abs(change) < std::max(0.03, 3 * relative_spread(times))) return {};
  return fmt::format(
      "the last samples are {:.0f} % {} than the first: the machine changed, or a cache filled",
      100 * std::abs(change), change > 0 ? "slower" : "faster");
}

// The confidence interval of the median.
std::string interval_text(const Times& times) {
  const double noise = times.noise_percent();
  if (!std::isfinite(noise)) return {};
  return fmt::format("the median has a noise of {:.2g} %, by its 95 % confidence interval", noise);
}

std::string warm_up_text(const WarmUp& warm_up) {
  if (warm_up.calls == 0) return {};
  return fmt::format("{} in {}, the first in {}", counted(warm_up.calls, "call"),
                     time_text(warm_up.us), time_text(warm_up.first_us));
}

std::string clock_text(const Times& times) {
  if (!(times.clock_before_mhz > 0)) return {};
  const std::string retaken =
      times.retaken > 0 ? fmt::format(", {} taken again", counted(times.retaken, "sample")) : "";
  return fmt::format("{:.0f} MHz before, {:.0f} MHz after{}", times.clock_before_mhz,
                     times.clock_after_mhz, retaken);
}

std::string ceiling_text(const Record& record) {
  const std::string share = roofline_text(record);
  if (record.bound == Bound::memory) {
    return fmt::format("{}: the fastest copy moves {:.1f} GB/s", share, record.copy_gb_per_s);
  }
  if (record.bound != Bound::compute) return share;
  return fmt::format("{}: {:.1f} GFLOP/s, multiply-adds reach {:.1f}", share,
                     record.times->gflop_per_s, record.peak_gflop_per_s);
}

void add_times(TextTable& facts, const Record& record) {
  if (!record.times) return;
  const Times& times = *record.times;
  const Sample &first = times.samples.front(), &last = times.samples.back();
  double longest = 0;
  for (const Sample& sample : times.samples) longest = std::max(longest, sample.ns_per_call / 1e3);
  add(facts, "time",
      fmt::format("{}, median of {}, {} to {}{}", time_text(times.median_us),
                  counted(times.samples.size(), "sample"), time_text(times.min_us),
                  time_text(longest), record.cold ? ", with empty caches" : ""));
  if (first.duration_us > 0) {
    add(facts, "measured",
        fmt::format("{:.3f} s to {:.3f} s of the run", first.start_us / 1e6,
                    (last.start_us + last.duration_us) / 1e6));
  }
  add(facts, "spread", spread_text(record));
  add(facts, "interval", interval_text(times));
  add(facts, "warm-up", warm_up_text(times.warm_up));
  add(facts, "clock", clock_text(times));
  add(facts, "drift", drift_text(times));
  add(facts, "noise", disturbance_text(record));
  add(facts, "v. native", ratio_text(record, times.speedup_over_native));
  if (times.gb_per_s > 0) add(facts, "GB/s", fmt::format("{:.1f}", times.gb_per_s));
  if (percent_of_ceiling(record) > 0) add(facts, "roofline", ceiling_text(record));
}

void explain_record(std::ostream& out, const Record& record, const ConsoleStyle& style) {
  out << "\n  " << coloured(printable(record.variant), kBold, style)
      << fmt::format(" on {}: ", counted(std::max(record.threads, 0), "thread"))
      << coloured(status_text(record), status_colour(record.status), style)
      << (record.is_best ? ", the fastest\n" : "\n");
  TextTable facts{columns_of("|")};
  add(facts, "reason", record.reason);
  add_accuracy(facts, record);
  add_times(facts, record);
  if (record.step && record.step->nodes > 0) {
    add(facts, "tasks",
        fmt::format("{}: {} TransData, {} Cast, {} copies", record.step->nodes,
                    record.step->trans_data, record.step->casts, record.step->copies));
  }
  print_table(out, facts, style, 4);
  out << "    again: " << wrapped_command(printable(record.reproduce), style.width, 6, 11) << '\n';
}

bool holds(const CaseRecords& one, const std::string& wanted) {
  return one.id.find(wanted) != std::string::npos || one.name.find(wanted) != std::string::npos ||
         shown_id(*one.records.front()).find(wanted) != std::string::npos;
}

}  // namespace

std::vector<CaseRecords> cases_of(const ResultsFile& results) {
  std::vector<CaseRecords> cases;
  std::map<std::string_view, std::size_t> places;
  for (const Record& record : results.run.records) {
    const auto [place, is_new] = places.try_emplace(record.case_id, cases.size());
    if (is_new) cases.push_back({record.case_id, record.case_name, {}});
    cases[place->second].records.push_back(&record);
  }
  return cases;
}

std::vector<CaseRecords> find_cases(const ResultsFile& results, const std::string& wanted) {
  std::vector<CaseRecords> exact, near;
  for (CaseRecords& one : cases_of(results)) {
    if (one.id == wanted || one.name == wanted) exact.push_back(one);
    if (holds(one, wanted)) near.push_back(std::move(one));
  }
  return exact.empty() ? near : exact;
}

void list_cases(std::ostream& out, const ResultsFile& results, const ConsoleStyle& style) {
  TextTable table{columns_of("verdict|>time|fastest|case")};
  for (const CaseRecords& one : cases_of(results)) {
    const Record* worst = one.records.front();
    const Record* best = nullptr;
    for (const Record* record : one.records) {
      if (record->status == Status::failed) worst = record;
      if (record->is_best) best = record;
    }
    table.rows.push_back({status_text(*worst),
                          best == nullptr ? "-" : time_text(best->times->median_us),
                          best == nullptr ? "-" : best->variant, shown_id(*one.records.front())});
    table.colours.push_back(status_colour(worst->status));
  }
  print_table(out, table, style, 0);
}

void explain_case(std::ostream& out, const ResultsFile& results, const CaseRecords& one,
                  const ConsoleStyle& style) {
  out << coloured(printable(one.id), kBold, style);
  if (!one.name.empty()) out << "  (" << printable(one.name) << ')';
  out << '\n';
  print_table(out, facts_of(results.machine, *one.records.front()), style);
  std::vector<Record> skipped;
  for (const Record* record : one.records) {
    if (record->status == Status::skipped) {
      skipped.push_back(*record);
    } else {
      explain_record(out, *record, style);
    }
  }
  if (!skipped.empty()) out << '\n';
  for (const SkippedGroup& group : skipped_groups(skipped)) say(out, skipped_text(group));
}

}  // namespace opbench::report
