// docs/list.md: the table of operators names exactly the operators of the program.
#include <gmock/gmock.h>

#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "kernels/kernel.h"
#include "ops/op.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

using Names = std::set<std::string>;

struct PageRow {
  std::string operators;
  Names variants;
};

Names names_in(const std::string& cell) {
  static const std::regex kName("`([a-z0-9_]+)`");
  Names names;
  for (std::sregex_iterator match(cell.begin(), cell.end(), kName), end; match != end; ++match) {
    names.insert((*match)[1]);
  }
  return names;
}

/// The rows by the operators that they name.
std::map<std::string, PageRow> table_of_page() {
  std::map<std::string, PageRow> rows;
  std::istringstream lines(text_of(source_file("docs/list.md")));
  for (std::string line; std::getline(lines, line);) {
    if (!line.starts_with("| `")) continue;
    const std::size_t middle = line.find(" |");
    const PageRow row{line.substr(0, middle), names_in(line.substr(middle))};
    for (const std::string& name : names_in(row.operators)) rows.emplace(name, row);
  }
  return rows;
}

/// The row of an operator: the row that names it, or for a gradient the row that names its operator
/// "and its gradient". Null if there is no such row.
const PageRow* row_of(const std::map<std::string, PageRow>& rows, const std::string& op) {
  if (const auto found = rows.find(op); found != rows.end()) return &found->second;
  if (op.find("_grad") == std::string::npos) return nullptr;
  const PageRow* best = nullptr;
  for (const auto& [name, row] : rows) {  // the longest name comes last
    if (op.starts_with(name + "_") && row.operators.find("gradient") != std::string::npos) {
      best = &row;
    }
  }
  return best;
}

/// Operators of the program, without those that tests register.
std::vector<std::string> operators() {
  std::vector<std::string> names;
  for (const Op* op : RegisteredOp::all()) {
    if (!op->name.starts_with("test_")) names.emplace_back(op->name);
  }
  return names;
}

}  // namespace

TEST(ListPage, HasEveryOperatorWithItsVariants) {
  const auto rows = table_of_page();
  for (const std::string& op : operators()) {
    const PageRow* row = row_of(rows, op);
    ASSERT_NE(row, nullptr) << op;
    for (const Kernel* kernel : kernels_of(op)) {
      const std::string name(kernel->name);
      if (name != "native" && !name.starts_with("test_")) {
        EXPECT_TRUE(row->variants.contains(name)) << op << ": " << name;
      }
    }
  }
}

TEST(ListPage, NamesNoVariantThatThereIsNot) {
  Names known = {"onednn"};  // a build may lack it
  for (const std::string& op : operators()) {
    known.insert(op);  // a remark may name the operator that a variant is for
    for (const Kernel* kernel : kernels_of(op)) known.emplace(kernel->name);
  }
  for (const auto& [op, row] : table_of_page()) {
    for (const std::string& name : row.variants) EXPECT_TRUE(known.contains(name)) << name;
  }
}

}  // namespace opbench
