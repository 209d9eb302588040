#include "text/program.h"

namespace opbench {
namespace {

std::string& name() {
  static std::string name = "opbench";
  return name;
}

}  // namespace

const std::string& program_name() { return name(); }

void set_program_name(std::string_view path) {
  const std::string_view file = path.substr(path.rfind('/') + 1);
  if (!file.empty()) name() = file;
}

std::string with_program_name(std::string_view text) {
  constexpr std::string_view kUsual = "opbench";
  std::string result;
  while (true) {
    const std::size_t found = text.find(kUsual);
    result += text.substr(0, found);
    if (found == text.npos) return result;
    text.remove_prefix(found + kUsual.size());
    constexpr std::string_view kBefore = " `'\"(\n";
    const bool is_word =
        (result.empty() || kBefore.find(result.back()) != kBefore.npos) && text.starts_with(' ');
    result += is_word ? program_name() : std::string(kUsual);
  }
}

}  // namespace opbench
