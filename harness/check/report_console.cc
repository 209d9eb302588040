#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <ostream>

#include "harness/check/report.h"
#include "harness/check/verdict.h"
#include "harness/check/waivers.h"
#include "harness/report/text.h"
#include "tensor/utf8.h"
#include "text/fitted.h"
#include "text/program.h"

namespace opbench::check {
namespace {

std::string_view colour_of(const CheckedItem& item) {
  if (item.waived) return kYellow;
  if (item.is_regression || item.verdict == ChangeVerdict::error) return kRed;
  return is_well(item.verdict) ? kGreen : kYellow;
}

std::string_view outcome_colour(ExitCode code) {
  return code == kAllWell ? kGreen : code == kVerdictFailed ? kRed : kYellow;
}

void print_item(std::ostream& out, const CheckedItem& item, const ConsoleStyle& style) {
  const std::string verdict = fmt::format("{:<12}", name(item.verdict));
  constexpr std::size_t kIndent = 13;
  out << coloured(verdict, colour_of(item), style) << ' '
      << wrapped(printable(title_of(item)), style.width, kIndent, kIndent) << '\n';
  const auto below = [&](const std::string& text) {
    if (!text.empty()) say(out, text, kIndent, 0, style.width);
  };
  below(item.evidence);
  if (item.waived) below(waived_text(item));
  if (item.verdict != ChangeVerdict::same) below(step_text(item));
  for (const std::string& notice : item.notices) below("note: " + notice);
  if (item.next.empty()) return;
  out << std::string(kIndent, ' ')
      << "next: " << wrapped_command(item.next, style.width, kIndent + 2, kIndent + 6) << '\n';
}

std::string build_text(const BuildInfo& build) {
  return fmt::format("opbench {} ({})", build.version, build.revision);
}

// Prints failing and open items, each kind up to a readable number.
void print_items(std::ostream& out, const CheckReport& report, const ConsoleStyle& style,
                 bool verbose) {
  constexpr int kMostOfAKind = 10;
  std::map<ChangeVerdict, int> shown, left_out;
  for (const CheckedItem& item : report.items) {
    if (!verbose && is_well(item.verdict)) continue;
    if (verbose || item.is_regression || shown[item.verdict]++ < kMostOfAKind) {
      print_item(out, item, style);
    } else {
      ++left_out[item.verdict];
    }
  }
  for (const auto& [verdict, count] : left_out) {
    out << fmt::format("... and {} more {}; --verbose shows all.\n", count, name(verdict));
  }
}

}  // namespace

std::string counts_text(const CheckReport& report) {
  std::vector<std::string> parts;
  for (const ChangeVerdict verdict : kAllVerdicts) {
    const int count = report.count(verdict);
    if (count > 0) parts.push_back(fmt::format("{} {}", count, name(verdict)));
  }
  if (parts.empty()) return "nothing was compared";
  const auto waived =
      std::count_if(report.items.begin(), report.items.end(),
                    [](const CheckedItem& item) { return item.waived.has_value(); });
  return fmt::format("{}{}", fmt::join(parts, ", "),
                     waived == 0 ? "" : fmt::format("; {} waived", waived));
}

std::string step_text(const CheckedItem& item) {
  return item.network_percent ? fmt::format("{:+.2f}% of the network", *item.network_percent)
                              : std::string();
}

std::string builds_text(const CheckReport& report) {
  const std::string current = build_text(report.current), base = build_text(report.base);
  if (program_name() == "opbench") {
    return fmt::format("{} against {} {}", current, report.base_name, base);
  }
  return fmt::format("{} against {}; linked with {}{}", program_name(), report.base_name, current,
                     current == base ? "" : " and " + base);
}

std::string noise_text(const CheckReport& report) {
  return report.noise_floor
             ? fmt::format("of a typical case this machine shows changes from {:.1f}%",
                           100 * *report.noise_floor)
             : std::string("nothing was timed");
}

void print(std::ostream& out, const CheckReport& report, const ConsoleStyle& style, bool verbose) {
  const ExitCode code = report.exit_code();
  const std::string outcome = outcome_text(report);
  const auto line = [&](const std::string& text) { say(out, text, 0, 2, style.width); };
  out << coloured(coloured(outcome, outcome_colour(code), style), kBold, style)
      << wrapped(fmt::format(": {} ({:.1f} s)", counts_text(report), report.seconds), style.width,
                 2, utf8_length(outcome))
      << '\n';
  line(builds_text(report));
  line(fmt::format("A change counts from {:.3g}% and {:.3g} us{}.", 100 * report.rule.threshold,
                   report.rule.floor_us,
                   report.mode == "gate" ? "; " + noise_text(report) : std::string()));
  if (report.fail_over_percent) {
    line(fmt::format("Slower cases cost {:.2f}% of the network; {:.3g}% are allowed.",
                     report.slower_percent(), *report.fail_over_percent));
  }
  for (const std::string& failure : report.failures) line(failure);
  for (const std::string& notice : report.notices) line("note: " + notice);
  print_items(out, report, style, verbose);
  const auto notices = std::count_if(report.items.begin(), report.items.end(),
                                     [](const CheckedItem& item) { return !item.notices.empty(); });
  if (!verbose && notices > 0) {
    out << fmt::format("{} with notes, such as changed bits; --verbose shows all.\n", notices);
  }
}

}  // namespace opbench::check
