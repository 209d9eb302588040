#include "harness/report/compare_words.h"

#include <fmt/format.h>

#include <map>
#include <ostream>
#include <sstream>

#include "harness/report/words.h"
#include "tensor/printable.h"

namespace opbench::report {
namespace {

constexpr std::size_t kMostFailing = 10;

std::string text_or(const JsonValue& object, const char* key, const char* otherwise) {
  const JsonValue value = object.member(key);
  return value.is_null() ? otherwise : value.text();
}

void explain_tensor(std::ostream& out, const JsonValue& tensor) {
  const std::string verdict = tensor.member("verdict").text();
  say(out,
      fmt::format(
          "{} {}: {}{}", text_or(tensor, "side", "other"), text_or(tensor, "tensor", "?"), verdict,
          tensor.member("reason").is_null() ? ""
                                            : fmt::format(": {}", tensor.member("reason").text())),
      4);
  if (!tensor.member("formula").is_null()) {
    say(out, fmt::format("Held to {}.", tensor.member("formula").text()), 6);
  }
  say_causes(out, tensor, 6);
}

std::string operator_name(const JsonValue& op) {
  return fmt::format("{}/{}", text_or(op, "operator", "?"), text_or(op, "seq", "?"));
}

void explain_operator(std::ostream& out, const JsonValue& op) {
  std::string text = op.member("verdict").text();
  if (!op.member("origin").is_null()) text += ", " + op.member("origin").text();
  if (!op.member("explanation").is_null()) text += ": " + op.member("explanation").text();
  say(out, text, 2);
}

}  // namespace

std::size_t explain_comparison(std::ostream& out, const JsonValue& comparison,
                               const std::string& wanted, const ConsoleStyle& style) {
  constexpr std::int64_t kMost = 1'000'000'000;
  const JsonValue files = comparison.member("files");
  say(out,
      fmt::format("{} against {}, standard {}: {}.", files.member("actual").member("path").text(),
                  files.member("expected").member("path").text(),
                  comparison.member("standard").text(), comparison.member("verdict").text()),
      0);
  std::map<std::int64_t, std::ostringstream> texts;  // by place in order of execution
  comparison.member("operators").elements([&](const JsonValue& op) {
    const std::string name = operator_name(op);
    const bool is_wanted =
        wanted.empty() ? op.member("verdict").text() == "failed" && texts.size() < kMostFailing
                       : name.find(wanted) != std::string::npos;
    if (!is_wanted) return;
    std::ostringstream& text = texts[op.member("execution").integer(0, kMost)];
    text << '\n' << coloured(printable(name), kBold, style) << '\n';
    explain_operator(text, op);
  });
  comparison.member("tensors").elements([&](const JsonValue& tensor) {
    const auto found = texts.find(tensor.member("execution").integer(0, kMost));
    if (found != texts.end()) explain_tensor(found->second, tensor);
  });
  for (const auto& [place, text] : texts) out << text.str();
  return texts.size();
}

}  // namespace opbench::report
