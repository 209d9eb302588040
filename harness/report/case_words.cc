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

namespace opbench::report {

void say(std::ostream& out, const std::string& text, std::size_t indent) {
  constexpr std::size_t kWidth = 80;
  out << std::string(indent, ' ') << wrapped(printable(text), kWidth, indent, indent) << '\n';
}

void say_causes(std::ostream& out, const JsonValue& output, std::size_t indent) {
  if (!output.has("causes")) return;  // of an older version, or there are none
  output.member("causes").elements([&](const JsonValue& cause) {
    say(out, fmt::format("Looks like: {}.", cause.member("text").text()), indent);
  });
}

namespace {

// Only of small values an error inside the tolerance comes to as many.
constexpr double kManyUlp = 1e6;

void say_what_it_is(std::ostream& out, const ResultsFile& results, const CaseRecords& one) {
  const Record& first = *one.records.front();
  std::string text =
      fmt::format("It is {}{} in {}", first.op, first.backward ? " and back" : "", first.dtype);
  if (!first.format.empty()) text += fmt::format(", {}", first.format);
  if (!first.attributes.empty()) text += fmt::format(", with {}", first.attributes);
  if (first.bytes > 0) {
    text += fmt::format("; a call moves {} and does {:.4g} operations", byte_size_text(first.bytes),
                        first.operations);
  }
  say(out, text + ".");
  if (first.count > 1) say(out, 2, "The network runs it {} times.", first.count);
  const Machine& machine = results.machine;
  say(out, 2, "Run on {}, {}, {}, on {}, by opbench {} ({}).", machine.cpu,
      counted(std::max(machine.cores, 0), "core"), machine.os, machine.date, machine.version,
      machine.revision);
}

void say_verdict(std::ostream& out, const Record& record) {
  const bool is_wrong = (record.status == Status::failed && !is_unexpected_pass(record)) ||
                        record.status == Status::xfailed;
  if (!record.accuracy) return;
  const Accuracy& a = *record.accuracy;
  std::string text = fmt::format("{}: {} of its elements are inside the tolerance",
                                 is_wrong ? "It is wrong" : "It is right", inside_text(record));
  if (!record.formula.empty()) text += fmt::format(", {}", record.formula);
  if (a.verified_share < 1) {
    text += fmt::format("; {:.2g} % of the elements, spread over the output, were compared",
                        100 * a.verified_share);
  }
  say(out, text + ".", 4);
  say(out, 4,
      "Its largest error is {:.4g}, and in units in the last place {:.4g} ({:.3g} on "
      "average{}); {}.",
      a.max_abs, a.max_ulp, a.mean_ulp,
      !is_wrong && a.max_ulp > kManyUlp ? "; so many only where values are small" : "",
      a.nonfinite_mismatches == 0
          ? fmt::format("a tolerance of {:.2g} would hold all", a.min_tolerance)
          : fmt::format("no tolerance would hold {} NaN or Inf on one side only",
                        a.nonfinite_mismatches));
}

double median_of_part(const std::vector<Sample>& samples, std::size_t first, std::size_t end) {
  std::vector<double> values;
  for (std::size_t i = first; i < end; ++i) values.push_back(samples[i].ns_per_call);
  return median_of(std::move(values));
}

// Do the last samples differ from the first by more than they do among each other?
std::string drift_text(const Times& times) {
  const std::size_t third = times.samples.size() / 3;
  if (third < 2) return {};
  const double early = median_of_part(times.samples, 0, third);
  const double late =
      median_of_part(times.samples, times.samples.size() - third, times.samples.size());
  const double change = early > 0 ? late / early - 1 : 0;
  if (std::abs(change) < std::max(0.03, 3 * relative_spread(times))) return {};
  return fmt::format(
      "Its last samples are {:.0f} % {} than its first: the machine changed, or a "
      "cache filled.",
      100 * std::abs(change), change > 0 ? "slower" : "faster");
}

void say_time(std::ostream& out, const Record& record) {
  if (!record.times) return;
  const Times& times = *record.times;
  double longest = 0;
  for (const Sample& sample : times.samples) longest = std::max(longest, sample.ns_per_call / 1e3);
  std::string text = fmt::format(
      "A call takes {} (median of {}, {} to {}, spread {}){}", time_text(times.median_us),
      counted(times.samples.size(), "sample"), time_text(times.min_us), time_text(longest),
      spread_text(record), record.cold ? ", with empty caches" : "");
  if (times.samples.front().duration_us > 0) {
    const Sample& last = times.samples.back();
    text +=
        fmt::format(", measured from {:.3f} s to {:.3f} s of the run",
                    times.samples.front().start_us / 1e6, (last.start_us + last.duration_us) / 1e6);
  }
  say(out, text + ".", 4);
  if (const std::string drift = drift_text(times); !drift.empty()) say(out, drift, 4);
  if (const std::string disturbed = disturbance_text(record); !disturbed.empty()) {
    say(out, 4, "Other programs took part: {}{}.", disturbed,
        is_disturbed(record) ? "; it is compared with nothing" : "");
  }
}

void say_ceiling(std::ostream& out, const Record& record) {
  if (!record.times || !(percent_of_ceiling(record) > 0)) return;
  const std::string share = fmt::format("{:.0f} %", percent_of_ceiling(record));
  switch (record.bound) {
    case Bound::memory:
      say(out, 4,
          "That is {} of what memory allows: {:.1f} GB/s, where the fastest copy "
          "moves {:.1f} GB/s.",
          share, record.times->gb_per_s, record.copy_gb_per_s);
      break;
    case Bound::compute:
      say(out, 4,
          "That is {} of what arithmetic allows: {:.1f} GFLOP/s, where "
          "multiply-adds reach {:.1f}.",
          share, record.times->gflop_per_s, record.peak_gflop_per_s);
      break;
    case Bound::latency:
      say(out, 4,
          "So little work is bound by the call itself; it reaches {} of the "
          "ceilings.",
          share);
      break;
    case Bound::unknown:
      say(out, 4, "That is {} of a copy of the same bytes.", share);
  }
}

void explain_record(std::ostream& out, const Record& record, const ConsoleStyle& style) {
  out << "\n  " << coloured(printable(record.variant), kBold, style)
      << fmt::format(" on {}: ", counted(std::max(record.threads, 0), "thread"))
      << coloured(status_text(record), status_colour(record.status), style)
      << (record.is_best ? ", the fastest\n" : "\n");
  if (!record.reason.empty()) say(out, 4, "Because: {}.", record.reason);
  say_verdict(out, record);
  say_time(out, record);
  say_ceiling(out, record);
  if (record.times && record.times->speedup_over_native > 0 && record.variant != "native") {
    const double speedup = record.times->speedup_over_native;
    say(out,
        speedup >= 1 ? fmt::format("It is {} as fast as native.", factor_text(speedup))
                     : fmt::format("It takes {} the time of native.", factor_text(1 / speedup)),
        4);
  }
  if (record.step && record.step->nodes > 0) {
    say(out, 4, "It runs {}, {} of them TransData, {} Cast, {} copies.",
        counted(record.step->nodes, "task"), record.step->trans_data, record.step->casts,
        record.step->copies);
  }
  out << "    again: " << printable(record.reproduce) << '\n';
}

bool holds(const CaseRecords& one, const std::string& wanted) {
  return one.id.find(wanted) != std::string::npos || one.name.find(wanted) != std::string::npos;
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
  for (const CaseRecords& one : cases_of(results)) {
    const Record* worst = one.records.front();
    const Record* best = nullptr;
    for (const Record* record : one.records) {
      if (record->status == Status::failed) worst = record;
      if (record->is_best) best = record;
    }
    out << coloured(fmt::format("{:<10}", status_text(*worst)), status_colour(worst->status), style)
        << fmt::format(" {:>11}  {:<20} {}\n",
                       best == nullptr ? "-" : time_text(best->times->median_us),
                       best == nullptr ? "-" : printable(best->variant),
                       printable(with_short_lists(one.id)));
  }
}

void explain_case(std::ostream& out, const ResultsFile& results, const CaseRecords& one,
                  const ConsoleStyle& style) {
  out << coloured(printable(one.id), kBold, style);
  if (!one.name.empty()) out << "  (" << printable(one.name) << ')';
  out << '\n';
  say_what_it_is(out, results, one);
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
