// Tests the tests as a whole: every module has a test, and no test depends on anything outside the
// repository.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;

const std::vector<std::string> kFolders = {"cli",    "compare", "dump",   "harness",
                                           "judge",  "kernels", "ops",    "profiles",
                                           "tensor", "text",    "workers"};

/// The files below a folder whose names end with one of `endings`, as paths from the root.
std::vector<std::string> files_of(const std::string& folder,
                                  const std::vector<std::string>& endings) {
  const fs::path root = source_file("");
  std::vector<std::string> files;
  for (const auto& entry : fs::recursive_directory_iterator(root / folder)) {
    const std::string path = entry.path().lexically_relative(root).string();
    const bool is_one = std::any_of(endings.begin(), endings.end(),
                                    [&](const std::string& end) { return path.ends_with(end); });
    if (entry.is_regular_file() && is_one) files.push_back(path);
  }
  std::sort(files.begin(), files.end());
  return files;
}

/// Modules by name: "tensor/shape" for tensor/shape.h and tensor/shape.cc.
std::set<std::string> modules() {
  std::set<std::string> result;
  for (const std::string& folder : kFolders) {
    for (const std::string& file : files_of(folder, {".h", ".cc"})) {
      result.insert(fs::path(file).replace_extension().string());
    }
  }
  return result;
}

/// True if the module's .cc registers an operator or a kernel. Tests that walk the registry compare
/// each of them with its reference: tests/ops/op_test.cc and tests/kernels/conformance_test.cc.
bool is_registered(const std::string& module) {
  const fs::path source = source_file(module + ".cc");
  if (!fs::exists(source)) return false;
  std::istringstream lines(text_of(source));
  for (std::string line; std::getline(lines, line);) {
    for (const char* begin :
         {"const RegisteredOp ", "const RegisteredKernel ", "const NativeFormulas "}) {
      if (line.starts_with(begin)) return true;
    }
  }
  return false;
}

/// The modules with a test file of their name, with a header that a test file includes, or with a
/// registry that passes them to its tests.
std::set<std::string> tested_modules() {
  std::set<std::string> result;
  for (const std::string& module : modules()) {
    if (is_registered(module)) result.insert(module);
  }
  for (const std::string& file : files_of("tests", {"_test.cc"})) {
    result.insert(file.substr(6, file.size() - 6 - 8));
    std::istringstream lines(text_of(source_file(file)));
    for (std::string line; std::getline(lines, line);) {
      const std::string begin = "#include \"";
      if (!line.starts_with(begin) || !line.ends_with(".h\"")) continue;
      result.insert(line.substr(begin.size(), line.size() - begin.size() - 3));
    }
  }
  return result;
}

/// A row of tests/tested_elsewhere.txt.
struct Elsewhere {
  std::string module, test, reason;
};

std::vector<Elsewhere> tested_elsewhere() {
  std::vector<Elsewhere> rows;
  std::istringstream lines(text_of(source_file("tests/tested_elsewhere.txt")));
  for (std::string line; std::getline(lines, line);) {
    if (line.empty() || line.front() == '#') continue;
    std::istringstream words(line);
    Elsewhere row;
    words >> row.module >> row.test >> std::ws;
    std::getline(words, row.reason);
    rows.push_back(row);
  }
  return rows;
}

std::vector<std::string> modules_without_test() {
  const std::set<std::string> all = modules(), tested = tested_modules();
  std::vector<std::string> result;
  std::set_difference(all.begin(), all.end(), tested.begin(), tested.end(),
                      std::back_inserter(result));
  return result;
}

/// The test sources that contain `text`.
std::vector<std::string> tests_with(const std::string& text) {
  std::vector<std::string> found;
  for (const std::string& file : files_of("tests", {".cc", ".h", ".py", ".sh", ".yaml"})) {
    if (text_of(source_file(file)).find(text) != std::string::npos) found.push_back(file);
  }
  return found;
}

}  // namespace

// A new module needs tests/FOLDER/NAME_test.cc, or a row that names its test.
TEST(Modules, EachHasATest) {
  std::set<std::string> elsewhere;
  for (const Elsewhere& row : tested_elsewhere()) elsewhere.insert(row.module);
  std::vector<std::string> missing = modules_without_test();
  std::erase_if(missing, [&](const std::string& module) { return elsewhere.contains(module); });
  EXPECT_THAT(missing, IsEmpty());
}

// Each row must be necessary for one module.
TEST(Modules, WhatIsTestedElsewhereIsAsTheListSays) {
  const std::vector<std::string> untested = modules_without_test();
  std::set<std::string> rows;
  for (const Elsewhere& row : tested_elsewhere()) {
    EXPECT_TRUE(fs::exists(source_file(row.test))) << row.module << ": no " << row.test;
    EXPECT_NE(row.reason, "") << row.module;
    EXPECT_TRUE(std::binary_search(untested.begin(), untested.end(), row.module))
        << row.module << " is tested, or is no module";
    EXPECT_TRUE(rows.insert(row.module).second) << row.module << " has two rows";
  }
}

TEST(Modules, NoTestReadsWhatIsNotInTheRepository) {
  EXPECT_THAT(tests_with(fmt::format("..{}shared", "/")), IsEmpty());
}

TEST(Modules, OneFileKnowsWhereTheBuildStands) {
  EXPECT_THAT(tests_with(fmt::format("OPBENCH_{}", "SOURCE_DIR")),
              testing::ElementsAre("tests/support/source_tree.cc"));
}

}  // namespace opbench
