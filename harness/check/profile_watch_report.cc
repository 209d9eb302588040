#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <ostream>

#include "harness/check/profile_watch.h"
#include "harness/check/speed_verdict.h"
#include "tensor/printable.h"
#include "text/excerpt.h"

namespace opbench::check {
namespace {

using Json = nlohmann::ordered_json;

constexpr ProfileVerdict kVerdicts[] = {ProfileVerdict::slower, ProfileVerdict::faster,
                                        ProfileVerdict::same,   ProfileVerdict::ambiguous,
                                        ProfileVerdict::fresh,  ProfileVerdict::gone};

std::string times_text(const ProfileChange& one) {
  if (one.verdict == ProfileVerdict::fresh) return fmt::format("{:.3f} us", one.after_us);
  if (one.verdict == ProfileVerdict::gone) return fmt::format("{:.3f} us", one.before_us);
  return fmt::format("{} (99%: {} to {}), {:.3f} -> {:.3f} us", change_text(one.change),
                     change_text(one.low), change_text(one.high), one.before_us, one.after_us);
}

void print_change(std::ostream& out, const ProfileChange& one, const ConsoleStyle& style) {
  constexpr std::size_t kLongest = 120;
  const std::string verdict = fmt::format("{:<9}", name(one.verdict));
  const bool is_slower = one.verdict == ProfileVerdict::slower;
  out << fmt::format("{} {:>+7.2f}%  {} {}\n", is_slower ? coloured(verdict, kRed, style) : verdict,
                     100 * one.of_network, printable(one.type),
                     printable(excerpt(one.signature, kLongest)));
  out << fmt::format("{:>20}{}, {} and {} times\n", "", times_text(one), one.count_before,
                     one.count_after);
  if (!one.formats.empty()) {
    out << fmt::format("{:>20}format changed {}\n", "", printable(excerpt(one.formats, kLongest)));
  }
  if (!one.signature_before.empty()) {
    out << fmt::format("{:>20}was {}\n", "", printable(excerpt(one.signature_before, kLongest)));
  }
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
          {"low_percent", 100 * one.low},
          {"high_percent", 100 * one.high},
          {"p", one.p},
          {"adjusted_p", one.adjusted_p},
          {"of_network_percent", 100 * one.of_network},
          {"formats", printable(one.formats)},
          {"signature_before", printable(one.signature_before)},
          {"file", printable(one.at.file)},
          {"line", one.at.line}};
}

}  // namespace

void print_profile_comparison(std::ostream& out, const ProfileComparison& comparison,
                              std::size_t top, const ConsoleStyle& style) {
  out << fmt::format("Device time {:.3f} us before, {:.3f} us after\n", comparison.before_us,
                     comparison.after_us);
  const char* separator = "Operators: ";
  for (const ProfileVerdict verdict : kVerdicts) {
    out << separator << fmt::format("{} {}", comparison.count(verdict), name(verdict));
    separator = ", ";
  }
  out << "\nThe two did not take turns: what else changed on the device is in these times. This is "
         "a "
         "watch, not a gate.\n\n";
  std::size_t shown = 0, told = 0;
  for (const ProfileChange& one : comparison.changes) {
    const bool is_quiet =
        (one.verdict == ProfileVerdict::same || one.verdict == ProfileVerdict::ambiguous) &&
        one.formats.empty();
    if (is_quiet) continue;
    ++told;
    if (top != 0 && shown == top) continue;
    ++shown;
    print_change(out, one, style);
  }
  if (told > shown) out << fmt::format("  and {} more\n", told - shown);
}

void write_profile_comparison(std::ostream& out, const ProfileComparison& comparison,
                              const std::string& command_line) {
  Json document = {{"schema", "opbench-ingest-comparison"},
                   {"schema_version", 1},
                   {"command_line", printable(command_line)},
                   {"mode", "watch"},
                   {"before_us", comparison.before_us},
                   {"after_us", comparison.after_us},
                   {"counts", Json::object()},
                   {"operators", Json::array()}};
  for (const ProfileVerdict verdict : kVerdicts) {
    document["counts"][std::string(name(verdict))] = comparison.count(verdict);
  }
  for (const ProfileChange& one : comparison.changes) {
    document["operators"].push_back(change_value(one));
  }
  out << document.dump(1, ' ', false, Json::error_handler_t::replace) << '\n';
}

}  // namespace opbench::check
