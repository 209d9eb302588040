// A context's steps on the console.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <ostream>

#include "harness/report/console.h"
#include "harness/report/step_table.h"
#include "harness/report/text.h"
#include "tensor/utf8.h"
#include "text/fitted.h"

namespace opbench::report {
namespace {

constexpr std::size_t kMostTypes = 15;
constexpr std::size_t kIndent = 2;
constexpr std::size_t kReasonIndent = 8;  ///< of what a step's line has no room for
constexpr std::size_t kStatus = 10;       ///< "  passed" and longer words

void print_steps(std::ostream& out, const ContextSteps& steps, const ConsoleStyle& style) {
  constexpr std::array<std::string_view, 7> kLeast = {
      "spread", "peak", "copies", "per sample", "v. before", "grad error", "published"};
  const std::size_t beside = std::min(style.width, kIndent + kStatus);
  const std::vector<std::string> lines =
      lines_of(fitted(step_table(steps), style.width - beside, kLeast));
  const std::string gap(2, ' ');
  out << coloured("  " + lines[0] + gap + "verdict", kDim, style) << '\n';
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::string line =
        fmt::format("{} {}{}", steps[i]->is_best ? '*' : ' ', lines[i + 1], gap);
    const std::string verdict = printable(step_verdict(steps, i));
    print_verdict(out, *steps[i], line, verdict.substr(status_text(*steps[i]).size()),
                  kReasonIndent, style);
  }
}

// Prints as many steps next to each other as fit.
void print_times(std::ostream& out, const ContextSteps& steps, const ConsoleStyle& style) {
  const TimeTable times = time_table(steps, kMostTypes);
  if (times.table.rows.empty()) return;
  out << '\n'
      << coloured(
             fmt::format("  where the time goes, by step: {} and share of all tasks", times.unit),
             kDim, style)
      << '\n';
  for (const TextTable& part :
       split_up(times.table, style.width - std::min(style.width, kIndent + 2))) {
    print_table(out, part, style, kIndent);
  }
}

}  // namespace

void print_contexts(std::ostream& out, std::span<const Record> records, const ConsoleStyle& style) {
  for (const ContextSteps& steps : steps_by_context(records)) {
    const Record& first = *steps.front();
    print_title(out, context_title(first),
                fmt::format("{}, {}", context_details(first), counted(steps.size(), "step")),
                style);
    print_steps(out, steps, style);
    if (const std::string text = published_text(steps); !text.empty()) {
      out << '\n';
      say(out, printable(text), 2, 2, style.width);
    }
    print_times(out, steps, style);
    out << '\n';
  }
  out.flush();
}

void print_context_summary(std::ostream& out, std::span<const Record> records,
                           const ConsoleStyle& style) {
  const char* heading = "\nContexts, fastest step against the first:\n";
  for (const ContextSteps& steps : steps_by_context(records)) {
    const Record* best = nullptr;
    std::size_t timed = 0;
    for (const Record* r : steps) {
      timed += r->is_timed();
      if (!r->is_timed() || !(r->step->speedup_over_first > 0)) continue;
      const bool is_faster =
          best == nullptr || r->step->speedup_over_first > best->step->speedup_over_first;
      if (is_faster) best = r;
    }
    const std::string found =
        best == nullptr
            ? std::string("none timed")
            : fmt::format("{} {}", best->variant, factor_text(best->step->speedup_over_first));
    const std::string text =
        fmt::format("{}, {}: {}; {} of {} steps timed", context_title(*steps.front()),
                    context_details(*steps.front()), found, timed, steps.size());
    out << heading;
    say(out, text, 2, 2, style.width);
    heading = "";
  }
}

}  // namespace opbench::report
