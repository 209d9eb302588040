#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <span>

#include "harness/check/report.h"
#include "harness/check/verdict.h"
#include "harness/report/text.h"

namespace opbench {
namespace {

constexpr std::size_t kMostRows = 10;

// Text in a cell: a bar would end it, markup would be obeyed.
std::string cell(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    if (letter == '\n' || letter == '\r') {
      result += ' ';
      continue;
    }
    if (std::string_view("|\\`*_<>[]").find(letter) != std::string_view::npos) result += '\\';
    result += letter;
  }
  return result;
}

std::string row(const CheckItem& item) {
  const std::string change = item.speed ? change_text(item.speed->change) : "";
  const std::string step = item.step_percent ? fmt::format("{:+.2f}%", *item.step_percent) : "";
  return fmt::format("| {} | {} | {} | {} | {} |\n", name(item.verdict), cell(title_of(item)),
                     change, step, cell(item.evidence));
}

void write_table(std::ostream& out, std::span<const CheckItem* const> items) {
  out << "| verdict | case | change | of the step | evidence |\n|---|---|---:|---:|---|\n";
  for (const CheckItem* item : items) out << row(*item);
}

void write_folded(std::ostream& out, const std::string& summary,
                  std::span<const CheckItem* const> items) {
  if (items.empty()) return;
  out << fmt::format("\n<details><summary>{}</summary>\n\n", summary);
  write_table(out, items);
  out << "\n</details>\n";
}

void write_next(std::ostream& out, std::span<const CheckItem* const> items) {
  bool is_first = true;
  for (const CheckItem* item : items) {
    if (item->next.empty()) continue;
    if (is_first) out << "\n```sh\n";
    is_first = false;
    out << item->next << '\n';
  }
  if (!is_first) out << "```\n";
}

std::string hint_of(ExitCode code) {
  return code == kAllWell ? ":white_check_mark:" : code == kVerdictFailed ? ":x:" : ":warning:";
}

}  // namespace

void write_check_markdown(std::ostream& out, const CheckReport& report) {
  out << fmt::format("### {} opbench: {}\n\n{}. {} against {}. ", hint_of(report.exit_code()),
                     outcome_text(report), counts_text(report), cell(report.current.revision),
                     cell(report.base.revision));
  out << fmt::format("A change counts from {:.3g}%",
                     100 * std::max(report.rule.threshold, report.noise_floor));
  if (report.mode == "gate") {
    out << fmt::format("; this machine shows changes from {:.1f}%", 100 * report.noise_floor);
  }
  out << ".\n";
  for (const std::string& notice : report.notices) out << "\n> " << cell(notice) << '\n';

  std::vector<const CheckItem*> shown, rest, same;
  for (const CheckItem& item : report.items) {
    auto& place = item.verdict == CheckVerdict::same ? same
                  : shown.size() < kMostRows         ? shown
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

}  // namespace opbench
