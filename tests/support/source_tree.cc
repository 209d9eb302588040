// The only file that contains the paths of this build. The objects of all other files are equal in
// every clone, so that a compiler cache can share them.
#include "tests/support/source_tree.h"

namespace opbench {

std::string source_file(std::string_view path) {
  return std::filesystem::path(OPBENCH_SOURCE_DIR) / path;
}

std::filesystem::path test_data(std::string_view path) {
  return std::filesystem::path(OPBENCH_SOURCE_DIR) / "tests/data" / path;
}

const std::string& program() {
  static const std::string path = OPBENCH_PROGRAM;
  return path;
}

const std::string& faulty_program() {
  static const std::string path = OPBENCH_FAULTY;
  return path;
}

}  // namespace opbench
