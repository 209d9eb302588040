#include "harness/report/compare_words.h"

#include <fmt/format.h>

#include <map>
#include <ostream>
#include <sstream>

#include "harness/report/words.h"
#include "tensor/printable.h"
#include "text/program_name.h"
#include "text/shell_quoted.h"

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

bool is_looked_at(const JsonValue& tensor) {
  if (tensor.member("verdict").text() != "failed" || !tensor.has("error_map")) return true;
  bool has_causes = false;
  tensor.member("causes").elements([&](const JsonValue&) { has_causes = true; });
  return has_causes || !tensor.member("error_map").is_null();
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

/// An operator in words.
struct ToldOperator {
  std::ostringstream text;
  std::string path;
  bool is_looked_at = true;
};

// Only the first that fail are looked at while dumps are compared.
void name_look(std::ostream& out, const JsonValue& files, const std::string& path) {
  const auto dump = [&](const char* side) { return files.member(side).member("path").text(); };
  say(out,
      "What it looks like: " + shell_line({std::string(program_name()), "compare", dump("actual"),
                                           dump("expected"), "--only", '^' + path + '/'}),
      4);
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
  std::map<std::int64_t, ToldOperator> told;  // by place in order of execution
  comparison.member("operators").elements([&](const JsonValue& op) {
    const std::string name = operator_name(op);
    const bool is_wanted =
        wanted.empty() ? op.member("verdict").text() == "failed" && told.size() < kMostFailing
                       : name.find(wanted) != std::string::npos;
    if (!is_wanted) return;
    ToldOperator& here = told[op.member("execution").integer(0, kMost)];
    here.path = '/' + name;
    here.text << '\n' << coloured(printable(name), kBold, style) << '\n';
    explain_operator(here.text, op);
  });
  comparison.member("tensors").elements([&](const JsonValue& tensor) {
    const auto found = told.find(tensor.member("execution").integer(0, kMost));
    if (found == told.end()) return;
    explain_tensor(found->second.text, tensor);
    found->second.is_looked_at &= is_looked_at(tensor);
  });
  for (const auto& [place, one] : told) {
    out << one.text.str();
    if (!one.is_looked_at) name_look(out, files, one.path);
  }
  return told.size();
}

}  // namespace opbench::report
