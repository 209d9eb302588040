#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "harness/check/profile_watch.h"
#include "harness/check/speed_verdict.h"
#include "tensor/utf8.h"

namespace opbench::check {

using Json = nlohmann::ordered_json;

namespace {

constexpr ChangeVerdict kVerdicts[] = {ChangeVerdict::slower, ChangeVerdict::faster,
                                       ChangeVerdict::same,   ChangeVerdict::ambiguous,
                                       ChangeVerdict::new_,   ChangeVerdict::gone};

std::string times_text(const ProfileChange& one) {
  const auto alone = [](double us, std::int64_t count) {
    return count == 1 ? fmt::format("{:.3f} us, once", us)
                      : fmt::format("{:.3f} us each, {} times", us, count);
  };
  if (one.verdict == ChangeVerdict::new_) return alone(one.after_us, one.count_after);
  if (one.verdict == ChangeVerdict::gone) return alone(one.before_us, one.count_before);
  return fmt::format("{}, {:.3f} -> {:.3f} us, calls {} -> {}",
                     change_text(one.change, one.interval), one.before_us, one.after_us,
                     one.count_before, one.count_after);
}

void print_change(ReportLines& lines, const ProfileChange& one) {
  constexpr std::size_t kIndent = 20;
  const std::string verdict = fmt::format("{:<9}", name(one.verdict));
  const bool is_slower = one.verdict == ChangeVerdict::slower;
  const std::string signature =
      one.signature.empty() ? "" : fmt::format(" {}", printable(one.signature));
  lines.row(fmt::format("{} {:>+7.2f}%  ", verdict, 100 * one.of_network),
            printable(one.type) + signature, {}, is_slower ? kRed : std::string_view());
  lines.text(times_text(one), kIndent, kIndent);
  if (!one.formats.empty()) {
    lines.text("format changed " + printable(one.formats), kIndent, kIndent);
  }
  if (!one.signature_before.empty()) {
    lines.row(std::string(kIndent, ' ') + "was ", printable(one.signature_before));
  }
}

// "0.52x": the later time over the earlier one.
std::string ratio_text(double before, double after) {
  return before > 0 && after > 0 ? fmt::format("{:.2f}x", after / before) : "-";
}

void print_host(ReportLines& lines, const HostComparison& host) {
  if (host.changes.empty()) return;
  lines.blank();
  constexpr std::size_t kName = 53;  // columns before the name
  const auto place = [](bool is_device) { return is_device ? "device" : "host"; };
  lines.text(fmt::format("Operators of the framework without operators inside; times are of the {} "
                         "before, of the {} after:",
                         place(host.is_device_before), place(host.is_device_after)),
             0, 2);
  lines.row(fmt::format("{:>13} {:>13} {:>8} {:>13}  ", "before us", "after us", "ratio", "calls"),
            "operator");
  for (std::size_t i = 0; i < lines.layout().rows(host.changes.size()); ++i) {
    const HostChange& one = host.changes[i];
    lines.row(fmt::format("{:>13.3f} {:>13.3f} {:>8} {:>13}  ", one.before_us, one.after_us,
                          ratio_text(one.before_us, one.after_us),
                          fmt::format("{} -> {}", one.calls_before, one.calls_after)),
              printable(one.name));
    if (!one.name_before.empty()) {
      lines.row(std::string(kName, ' ') + "was ", printable(one.name_before));
    }
  }
  lines.rest(host.changes.size());
}

Json host_value(const HostComparison& host) {
  Json rows = Json::array();
  for (const HostChange& one : host.changes) {
    Json row = {{"name", printable(one.name)},
                {"name_before", printable(one.name_before)},
                {"calls_before", one.calls_before},
                {"calls_after", one.calls_after},
                {"before_us", one.before_us},
                {"after_us", one.after_us},
                {"ratio", nullptr}};
    if (one.before_us > 0) row["ratio"] = one.after_us / one.before_us;
    rows.push_back(std::move(row));
  }
  return {{"is_device_before", host.is_device_before},
          {"is_device_after", host.is_device_after},
          {"operators", std::move(rows)}};
}

Json change_value(const ProfileChange& one) {
  return {{"type", printable(one.type)},
          {"signature", printable(one.signature)},
          {"verdict", name(one.verdict)},
          {"count_before", one.count_before},
          {"count_after", one.count_after},
          {"before_us", one.before_us},
          {"after_us", one.after_us},
          {"change_percent", 100 * one.change},
          {"low_percent", 100 * one.interval.low},
          {"high_percent", 100 * one.interval.high},
          {"p", one.p},
          {"adjusted_p", one.adjusted_p},
          {"has_few", one.has_few},
          {"of_network_percent", 100 * one.of_network},
          {"formats", printable(one.formats)},
          {"signature_before", printable(one.signature_before)},
          {"file", printable(one.at.file)},
          {"line", one.at.line}};
}

void print_counts(ReportLines& lines, const ProfileComparison& comparison) {
  lines.text(fmt::format("Device time {:.3f} us before, {:.3f} us after", comparison.before_us,
                         comparison.after_us));
  std::string counts;
  for (const ChangeVerdict verdict : kVerdicts) {
    counts += fmt::format("{}{} {}", counts.empty() ? "Operators: " : ", ",
                          comparison.count(verdict), name(verdict));
  }
  lines.text(counts, 0, 2);
  const std::int64_t few = std::count_if(comparison.changes.begin(), comparison.changes.end(),
                                         [](const ProfileChange& one) { return one.has_few; });
  if (few > 0) {
    lines.text(fmt::format("{} with fewer than three times: no verdict", few), 2, 4);
  }
  if (comparison.is_of_two_networks()) {
    lines.text(fmt::format("note: {} of {} operators in common: are the profiles of one network?",
                           comparison.common(), comparison.changes.size()),
               0, 2, kYellow);
  }
}

void print_changes(ReportLines& lines, const ProfileComparison& comparison) {
  std::vector<const ProfileChange*> told;
  for (const ProfileChange& one : comparison.changes) {
    const bool is_quiet =
        (one.verdict == ChangeVerdict::same || one.verdict == ChangeVerdict::ambiguous) &&
        one.formats.empty();
    if (!is_quiet) told.push_back(&one);
  }
  if (told.empty()) return;
  lines.blank();
  const std::string runs =
      comparison.runs == 1
          ? ""
          : fmt::format("; the later profile has {:.3g} times as many steps", comparison.runs);
  lines.text("Changes, in percent of the earlier device time" + runs + ":", 0, 2);
  for (std::size_t i = 0; i < lines.layout().rows(told.size()); ++i) print_change(lines, *told[i]);
  lines.rest(told.size());
}

}  // namespace

void print_profile_comparison(std::ostream& out, const ProfileComparison& comparison,
                              const ReportLayout& layout) {
  ReportLines lines(out, layout);
  if (comparison.changes.empty()) {
    lines.text("No tasks of a device are in both profiles.");
  } else {
    print_counts(lines, comparison);
  }
  lines.text(
      "The profiles were not measured in turn: other changes of the device affect these times. "
      "This is a watch, not a gate.");
  if (layout.is_quiet) return;
  print_host(lines, comparison.host);
  print_changes(lines, comparison);
}

void write_profile_comparison(std::ostream& out, const ProfileComparison& comparison,
                              const std::string& command_line) {
  Json document = {{"schema", "opbench-ingest-comparison"},
                   {"schema_version", 1},
                   {"command_line", printable(command_line)},
                   {"mode", "watch"},
                   {"before_us", comparison.before_us},
                   {"after_us", comparison.after_us},
                   {"common", comparison.common()},
                   {"runs_after_for_one_before", comparison.runs},
                   {"counts", Json::object()},
                   {"operators", Json::array()},
                   {"host", host_value(comparison.host)}};
  for (const ChangeVerdict verdict : kVerdicts) {
    document["counts"][std::string(name(verdict))] = comparison.count(verdict);
  }
  for (const ProfileChange& one : comparison.changes) {
    document["operators"].push_back(change_value(one));
  }
  out << document.dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace opbench::check
