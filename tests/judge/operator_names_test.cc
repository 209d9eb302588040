// Correct results follow from an operator's reference and terms, not from its name.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <set>
#include <string>

#include "ops/op_table.h"
#include "tests/support/source_tree.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

std::set<std::string> operator_names() {
  std::set<std::string> names;
  for (const OpRow& row : OpTable::builtin().rows()) {
    names.insert(row.names.begin(), row.names.end());
    for (const OpUse& use : row.uses) names.insert(std::string(use.op->name));
  }
  // These words also name ways to join tensors, columns of a table of standards, or a verdict.
  for (const char* word : {"sum", "mean", "max", "floor", "concat", "random"}) names.erase(word);
  return names;
}

// The string literals of a file that are operator names.
std::string named_in(const fs::path& path, const std::set<std::string>& names) {
  static const std::regex literal(R"re("(\w+)")re");
  std::ifstream file(path);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  std::string found;
  for (std::sregex_iterator at(text.begin(), text.end(), literal), end; at != end; ++at) {
    if (names.contains((*at)[1])) found += " " + (*at)[1].str();
  }
  return found;
}

TEST(OperatorNames, StandInNoRule) {
  const std::set<std::string> names = operator_names();
  ASSERT_TRUE(names.contains("softmax"));
  int files = 0;
  for (const char* folder : {"judge", "compare"}) {
    for (const auto& entry : fs::recursive_directory_iterator(source_file(folder))) {
      const fs::path& path = entry.path();
      // name_map.cc lists the operators with different names in dumps of two devices, to pair them.
      if (path.filename() == "name_map.cc" || !entry.is_regular_file()) continue;
      ++files;
      EXPECT_EQ(named_in(path, names), "") << path;
    }
  }
  EXPECT_GT(files, 50);
}

}  // namespace
}  // namespace opbench
