#include <fmt/format.h>

#include <ostream>

#include "harness/check/report.h"
#include "tensor/printable.h"

namespace opbench::check {
namespace {

const std::string kNewLine = "%0A";

// In workflow commands % is written as in URLs, and in properties ':' and ',' too.
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

void print_annotations(std::ostream& out, const Report& report) {
  constexpr int kMost = 10;
  int errors = 0, warnings = 0;
  for (const Item& item : report.items) {
    const bool is_open =
        item.is_unfinished || (item.verdict == Verdict::ambiguous && item.speed.has_value());
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

}  // namespace opbench::check
