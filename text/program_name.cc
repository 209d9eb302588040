#include "text/program_name.h"

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

}  // namespace opbench
