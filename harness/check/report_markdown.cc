#include <fmt/format.h>

#include <algorithm>
#include <ostream>
#include <span>

#include "harness/check/report.h"
#include "harness/check/speed_verdict.h"
#include "harness/check/verdict.h"
#include "harness/check/waive.h"
#include "text/markdown_text.h"
#include "text/program_name.h"

namespace opbench::check {
namespace {

constexpr std::size_t kMostRows = 10;

void write_table(std::ostream& out, std::span<const Item* const> items) {
  write_markdown_titles(out, {"verdict", "case", "change", "of the network", "evidence"}, 2, 4);
  for (const Item* item : items) {
    const std::string change = item->speed ? change_text(item->speed->change) : "";
    const std::string share =
        item->network_percent ? fmt::format("{:+.2f}%", *item->network_percent) : "";
    const std::string why =
        item->waived ? fmt::format("{}; {}", item->evidence, waived_text(*item)) : item->evidence;
    write_markdown_row(out,
                       {fmt::format("{}{}", name(item->verdict), item->waived ? ", waived" : ""),
                        markdown_escaped(title_of(*item)), change, share, markdown_escaped(why)});
  }
}

void write_folded(std::ostream& out, const std::string& summary,
                  std::span<const Item* const> items) {
  if (items.empty()) return;
  out << fmt::format("\n<details><summary>{}</summary>\n\n", summary);
  write_table(out, items);
  out << "\n</details>\n";
}

void write_next(std::ostream& out, std::span<const Item* const> items) {
  std::vector<std::string> lines;
  for (const Item* item : items) {
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

void write_markdown(std::ostream& out, const Report& report) {
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

  std::vector<const Item*> shown, rest, same;
  for (const Item& item : report.items) {
    auto& place = item.verdict == Verdict::same ? same : shown.size() < kMostRows ? shown : rest;
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
