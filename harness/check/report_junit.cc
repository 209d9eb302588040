#include <fmt/format.h>

#include <algorithm>
#include <ostream>

#include "harness/check/report.h"

namespace opbench {
namespace {

// XML 1.0 allows no control characters but tab and line ends, not even escaped.
std::string escaped(std::string_view text) {
  std::string result;
  for (const char letter : text) {
    const auto code = static_cast<unsigned char>(letter);
    switch (letter) {
      case '&':
        result += "&amp;";
        break;
      case '<':
        result += "&lt;";
        break;
      case '>':
        result += "&gt;";
        break;
      case '"':
        result += "&quot;";
        break;
      default:
        result += code < 0x20 || code == 0x7f ? '?' : letter;
    }
  }
  return result;
}

enum class Outcome { passed, failure, error, skipped };

Outcome outcome_of(const CheckItem& item) {
  if (item.is_regression) return Outcome::failure;
  if (item.is_unfinished) return Outcome::error;
  switch (item.verdict) {
    case CheckVerdict::ambiguous:
    case CheckVerdict::incomparable:
      return Outcome::skipped;
    default:
      return Outcome::passed;
  }
}

std::ptrdiff_t count(const CheckReport& report, Outcome outcome) {
  return std::count_if(report.items.begin(), report.items.end(),
                       [&](const CheckItem& item) { return outcome_of(item) == outcome; });
}

void write_item(std::ostream& out, const CheckItem& item) {
  const std::string name = fmt::format("{}{}{} threads={}", item.case_id,
                                       item.variant.empty() ? "" : " ", item.variant, item.threads);
  const std::string op = item.case_id.substr(0, item.case_id.find('['));
  const double seconds = item.speed ? item.speed->current_us / 1e6 : 0;
  out << fmt::format("    <testcase classname=\"opbench.{}\" name=\"{}\" time=\"{:.9f}\">\n",
                     escaped(op), escaped(name), seconds);
  const std::string message =
      escaped(fmt::format("{}: {}", opbench::name(item.verdict), item.evidence));
  const Outcome outcome = outcome_of(item);
  if (outcome == Outcome::skipped) {
    out << fmt::format("      <skipped message=\"{}\"/>\n", message);
  } else if (outcome != Outcome::passed) {
    out << fmt::format("      <{} type=\"{}\" message=\"{}\"/>\n",
                       outcome == Outcome::failure ? "failure" : "error",
                       opbench::name(item.verdict), message);
  }
  out << fmt::format("      <system-out>{}", message);
  for (const std::string& notice : item.notices) out << "\nnote: " << escaped(notice);
  if (!item.next.empty()) out << "\nnext: " << escaped(item.next);
  out << "</system-out>\n    </testcase>\n";
}

}  // namespace

void write_check_junit(std::ostream& out, const CheckReport& report) {
  const std::string counts =
      fmt::format("tests=\"{}\" failures=\"{}\" errors=\"{}\" skipped=\"{}\" time=\"{:.3f}\"",
                  report.items.size(), count(report, Outcome::failure),
                  count(report, Outcome::error), count(report, Outcome::skipped), report.seconds);
  out << "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
      << fmt::format("<testsuites {}>\n  <testsuite name=\"opbench check\" {}>\n", counts, counts);
  for (const CheckItem& item : report.items) write_item(out, item);
  out << "  </testsuite>\n</testsuites>\n";
}

}  // namespace opbench
