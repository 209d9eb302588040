#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <span>

#include "harness/check/report.h"
#include "harness/check/speed_verdict.h"
#include "harness/check/verdict.h"
#include "harness/check/waivers.h"
#include "harness/run/record.h"
#include "tensor/utf8.h"
#include "text/cell.h"
#include "text/junit.h"
#include "text/program.h"
#include "text/table.h"

namespace opbench::check {
namespace {

const std::string kNewLine = "%0A";

// Workflow commands escape % like URLs, and in properties also ':' and ','.
std::string data(std::string_view text, bool is_property) {
  std::string result;
  for (const char letter : printable(text)) {
    const bool is_special = letter == '%' || (is_property && (letter == ':' || letter == ','));
    result += is_special ? fmt::format("%{:02X}", static_cast<unsigned char>(letter))
                         : std::string(1, letter);
  }
  return result;
}

}  // namespace

void print_annotations(std::ostream& out, const CheckReport& report) {
  constexpr int kMost = 10;  // of a kind; GitHub shows no more
  int errors = 0, warnings = 0;
  for (const CheckedItem& item : report.items) {
    const bool is_open =
        item.is_unfinished || (item.verdict == ChangeVerdict::ambiguous && item.speed.has_value());
    if (!item.is_regression && !is_open) continue;
    int& count = item.is_regression ? errors : warnings;
    if (++count > kMost) continue;
    out << fmt::format("::{} title={}::{}{}\n", item.is_regression ? "error" : "warning",
                       data(fmt::format("{} {}", name(item.verdict), title_of(item)), true),
                       data(item.evidence, false),
                       item.next.empty() ? "" : kNewLine + data(item.next, false));
  }
  if (const std::string reason = reason_text(report); !reason.empty()) {
    out << fmt::format("::warning title=opbench::{}: {}\n", outcome_text(report),
                       data(reason, false));
  }
}

namespace {

JUnitCase::Outcome outcome_of(const CheckedItem& item) {
  if (item.is_regression) return JUnitCase::Outcome::failed;
  if (item.is_unfinished) return JUnitCase::Outcome::errored;
  const bool is_undecided = item.waived || item.verdict == ChangeVerdict::ambiguous ||
                            item.verdict == ChangeVerdict::incomparable;
  return is_undecided ? JUnitCase::Outcome::skipped : JUnitCase::Outcome::passed;
}

JUnitCase junit_case(const CheckedItem& item) {
  JUnitCase result;
  result.suite = item.case_id.substr(0, item.case_id.find('['));
  // The name of this test in the report of a run.
  result.name = benchmark_name(item.case_id, item.variant, item.threads, item.cold);
  if (item.is_first_call) result.name += "/first_call";
  if (item.speed) result.seconds = item.speed->current_us / 1e6;
  result.outcome = outcome_of(item);
  result.message = fmt::format("{}: {}", name(item.verdict), item.evidence);
  if (item.waived) result.message += "; " + waived_text(item);
  result.output = result.message;
  for (const std::string& notice : item.notices) result.output += "\nnote: " + notice;
  if (!item.next.empty()) result.output += "\nnext: " + item.next;
  return result;
}

// A worker that answered everything but ended badly. Its answers are unreliable.
JUnitCase failed_worker(const std::string& failure) {
  JUnitCase result;
  result.suite = "check";
  result.name = "the end of a worker";
  result.outcome = JUnitCase::Outcome::errored;
  result.message = result.output = failure;
  return result;
}

}  // namespace

void write_junit(std::ostream& out, const CheckReport& report) {
  JUnitReport junit;
  junit.name = "opbench";
  junit.properties = {{"command", report.command},
                      {"base", report.base.revision},
                      {"current", report.current.revision}};
  for (const CheckedItem& item : report.items) junit.cases.push_back(junit_case(item));
  for (const std::string& failure : report.failures) junit.cases.push_back(failed_worker(failure));
  opbench::write_junit(out, junit);
}

namespace {

constexpr std::size_t kMostRows = 10;

void write_table(std::ostream& out, std::span<const CheckedItem* const> items) {
  TextTable table{columns_of("verdict|case|>change|>of the network|evidence")};
  for (const CheckedItem* item : items) {
    const std::string change = item->speed ? change_text(item->speed->change) : "";
    const std::string share =
        item->network_percent ? fmt::format("{:+.2f}%", *item->network_percent) : "";
    const std::string why =
        item->waived ? fmt::format("{}; {}", item->evidence, waived_text(*item)) : item->evidence;
    table.rows.push_back({fmt::format("{}{}", name(item->verdict), item->waived ? ", waived" : ""),
                          title_of(*item), change, share, why});
  }
  opbench::write_markdown(out, table);
}

void write_folded(std::ostream& out, const std::string& summary,
                  std::span<const CheckedItem* const> items) {
  if (items.empty()) return;
  out << fmt::format("\n<details><summary>{}</summary>\n\n", summary);
  write_table(out, items);
  out << "\n</details>\n";
}

void write_next(std::ostream& out, std::span<const CheckedItem* const> items) {
  std::vector<std::string> lines;
  for (const CheckedItem* item : items) {
    if (!item->next.empty()) lines.push_back(item->next);
  }
  if (lines.empty()) return;
  out << '\n';
  write_markdown_code(out, lines);
}

std::string hint_of(ExitCode code) {
  return code == kAllWell ? ":white_check_mark:" : code == kVerdictFailed ? ":x:" : ":warning:";
}

}  // namespace

void write_markdown(std::ostream& out, const CheckReport& report) {
  out << fmt::format("### {} {}: {}\n\n{}. {}. ", hint_of(report.exit_code()),
                     markdown_escaped(program_name()), outcome_text(report), counts_text(report),
                     markdown_escaped(builds_text(report)));
  out << fmt::format("A change counts from {:.3g}%", 100 * report.rule.threshold);
  if (report.mode == "gate") out << "; " << noise_text(report);
  out << ".\n";
  if (const std::string reason = reason_text(report); !reason.empty()) {
    out << "\n" << markdown_escaped(reason) << '\n';
  }
  for (const std::string& notice : report.notices)
    out << "\n> " << markdown_escaped(notice) << '\n';

  std::vector<const CheckedItem*> shown, rest, same;
  for (const CheckedItem& item : report.items) {
    auto& place = item.verdict == ChangeVerdict::same ? same
                  : shown.size() < kMostRows          ? shown
                                                      : rest;
    place.push_back(&item);
  }
  if (!shown.empty()) {
    out << '\n';
    write_table(out, shown);
    write_next(out, shown);
  }
  write_folded(out, fmt::format("{} more", rest.size()), rest);
  write_folded(out, fmt::format("{} the same", same.size()), same);
}

}  // namespace opbench::check
