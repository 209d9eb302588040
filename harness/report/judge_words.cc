#include "harness/report/judge_words.h"

#include <fmt/format.h>

#include <ostream>

#include "harness/report/words.h"
#include "tensor/printable.h"

namespace opbench::report {
namespace {

constexpr std::size_t kMostGuilty = 10;
constexpr std::int64_t kMostElements = std::int64_t{1} << 60;

void explain_output(std::ostream& out, const JsonValue& output) {
  const auto number = [&](const char* key) { return output.member(key).integer(0, kMostElements); };
  const bool is_wrong = output.member("wrong").boolean();
  say(out, fmt::format("{}: {}", output.member("path").text(),
                       is_wrong ? output.member("reason").text() : std::string("right")));
  if (is_wrong) {
    say(out,
        fmt::format("{} of {} elements are wrong{}.", number("wrong_elements"), number("elements"),
                    output.has("pattern") ? ": " + output.member("pattern").text() : ""),
        4);
  } else if (output.has("numerics")) {
    say(out, fmt::format("With {}, as the device has.", output.member("numerics").text()), 4);
  }
  say_causes(out, output, 4);
  say(out,
      fmt::format("Recomputed by {}, held to {}.", output.member("operator").text(),
                  output.member("formula").text()),
      4);
}

void explain_record(std::ostream& out, const JsonValue& record, const ConsoleStyle& style) {
  out << '\n' << coloured(printable(record.member("path").text()), kBold, style) << '\n';
  std::string text =
      fmt::format("{}, {}", record.member("verdict").text(), record.member("dtype").text());
  if (record.has("reason")) text += ": " + record.member("reason").text();
  if (record.has("implementation")) text += "; it " + record.member("implementation").text();
  say(out, text);
  record.member("outputs").elements([&](const JsonValue& output) { explain_output(out, output); });
}

std::size_t explain_dump(std::ostream& out, const JsonValue& dump, const std::string& wanted,
                         const ConsoleStyle& style) {
  // Earlier files say `carries`.
  const auto count = [&](const char* key) { return dump.member(key).integer(0, kMostElements); };
  say(out,
      fmt::format("{}: {} GUILTY, {} OK, {} RANDOM, {} UNKNOWN.", dump.member("file").text(),
                  count("guilty"), count(dump.has("ok") ? "ok" : "carries"), count("random"),
                  count("unknown")),
      0);
  std::size_t told = 0;
  dump.member("records").elements([&](const JsonValue& record) {
    const bool is_wanted = wanted.empty()
                               ? record.member("verdict").text() == "GUILTY" && told < kMostGuilty
                               : record.member("path").text().find(wanted) != std::string::npos;
    if (!is_wanted) return;
    explain_record(out, record, style);
    ++told;
  });
  return told;
}

}  // namespace

std::size_t explain_judgement(std::ostream& out, const JsonValue& judgement,
                              const std::string& wanted, const ConsoleStyle& style) {
  if (!judgement.has("pairs")) return explain_dump(out, judgement, wanted, style);
  const std::size_t first = explain_dump(out, judgement.member("first"), wanted, style);
  out << '\n';
  return first + explain_dump(out, judgement.member("second"), wanted, style);
}

}  // namespace opbench::report
