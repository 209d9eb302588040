#include "tests/support/temp_dir.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <algorithm>
#include <cerrno>
#include <fstream>
#include <sstream>

namespace opbench {

namespace fs = std::filesystem;

std::string text_of(const fs::path& file) {
  std::ostringstream text;
  text << std::ifstream(file, std::ios::binary).rdbuf();
  return text.str();
}

TempDir::TempDir() {
  std::string name = fs::path(testing::TempDir()) / "opbench_test_XXXXXX";
  if (mkdtemp(name.data()) == nullptr) {
    throw fs::filesystem_error("mkdtemp", name, std::error_code(errno, std::generic_category()));
  }
  directory_ = name;
}

TempDir::~TempDir() {
  std::error_code ignored;  // a test may have removed its permissions
  fs::remove_all(directory_, ignored);
}

std::string TempDir::write(std::string_view name, std::string_view text) const {
  const fs::path file = directory_ / name;
  fs::create_directories(file.parent_path());
  std::ofstream(file, std::ios::binary) << text;
  return file;
}

std::vector<std::string> TempDir::files() const {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(directory_)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace opbench
