#include "harness/report/words.h"

#include <fmt/format.h>

#include <ostream>

#include "tensor/printable.h"
#include "text/wrapped.h"

namespace opbench::report {

void say(std::ostream& out, const std::string& text, std::size_t indent) {
  constexpr std::size_t kWidth = 80;
  out << std::string(indent, ' ') << wrapped(printable(text), kWidth, indent, indent) << '\n';
}

void say_causes(std::ostream& out, const JsonValue& output, std::size_t indent) {
  if (!output.has("causes")) return;  // of an older version, or there are none
  output.member("causes").elements([&](const JsonValue& cause) {
    say(out, fmt::format("Looks like: {}.", cause.member("text").text()), indent);
  });
}

}  // namespace opbench::report
