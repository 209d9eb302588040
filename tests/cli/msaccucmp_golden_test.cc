// `opbench compare` against results of msaccucmp.py of CANN 8.1 on the same dumps. Rows, order and
// texts are equal, and numbers agree within msaccucmp's rounding.
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/cli/csv.h"
#include "tests/support/program.h"
#include "tests/support/source_tree.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using Json = nlohmann::json;

Json read_json(const fs::path& path) { return Json::parse(std::ifstream(path)); }

// Cells whose value depends on float32 rounding or overflow, with the correct value.
std::map<std::pair<std::size_t, std::string>, std::string> sensitive_cells(const fs::path& folder) {
  std::map<std::pair<std::size_t, std::string>, std::string> cells;
  for (const Json& cell : read_json(folder / "precision_sensitive.json")) {
    cells[{cell.at("row"), cell.at("column")}] = cell.at("f64");
  }
  return cells;
}

bool is_number(const std::string& text, double& value) {
  char* end = nullptr;
  value = std::strtod(text.c_str(), &end);
  return !text.empty() && *end == '\0' && std::isfinite(value);
}

bool are_close(double found, double wanted) {
  constexpr double kDecimals = 1e-12;  // 0.000482 and 0.000479 are 3e-6 apart
  return std::fabs(found - wanted) <= std::max(3e-6, 1e-5 * std::fabs(wanted)) + kDecimals;
}

// "(0.015;1.132),(0.015;1.132)" is split into its four numbers. Other texts stay whole.
std::vector<std::string> parts_of(const std::string& cell) {
  if (cell.empty() || cell.front() != '(') return {cell};
  std::vector<std::string> parts;
  std::string part;
  for (const char letter : cell) {
    if (std::string_view("();,").find(letter) == std::string_view::npos) {
      part += letter;
    } else if (!part.empty()) {
      parts.push_back(std::move(part));
      part.clear();
    }
  }
  return parts;
}

void expect_cell(const std::string& found, const std::string& wanted, const std::string& place) {
  const auto mine = parts_of(found), theirs = parts_of(wanted);
  ASSERT_EQ(mine.size(), theirs.size()) << place << ": " << found << " for " << wanted;
  for (std::size_t i = 0; i < mine.size(); ++i) {
    double a = 0, b = 0;
    if (is_number(mine[i], a) && is_number(theirs[i], b)) {
      // Three decimals may round in either direction.
      const double step = mine.size() > 1 && std::fabs(a - b) < 0.00101 ? 0.00101 : 0;
      EXPECT_TRUE(are_close(a, b) || step > 0) << place << ": " << found << " for " << wanted;
    } else {
      EXPECT_EQ(mine[i], theirs[i]) << place << ": " << found << " for " << wanted;
    }
  }
}

class MsaccucmpGolden : public testing::TestWithParam<std::string>, protected TempDir {
 protected:
  fs::path folder() const { return test_data("msaccucmp") / GetParam(); }

  fs::path run() const {
    std::vector<std::string> args = {"compare",           "-m",   folder() / "npu.h5", "-g",
                                     folder() / "gpu.h5", "-out", directory(),         "-q"};
    const Json meta = read_json(folder() / "meta.json");
    for (const Json& arg : meta.at("args")) args.push_back(arg);
    const Outcome outcome = opbench_with(args);
    EXPECT_EQ(outcome.code, 0) << outcome.out << outcome.err;
    for (const auto& file : fs::directory_iterator(directory())) {
      if (file.path().filename().string().starts_with("result_")) return file.path();
    }
    ADD_FAILURE() << "no result_*.csv in " << directory();
    return {};
  }
};

TEST_P(MsaccucmpGolden, SameRowsTextsAndNumbers) {
  const auto wanted = csv::read(folder() / "expected.csv");
  const auto found = csv::read(run());
  const auto sensitive = sensitive_cells(folder());
  ASSERT_EQ(found.size(), wanted.size());
  ASSERT_EQ(found.front(), wanted.front());
  for (std::size_t row = 1; row < wanted.size(); ++row) {
    ASSERT_EQ(found[row].size(), wanted[row].size());
    for (std::size_t column = 0; column < wanted[row].size(); ++column) {
      const std::string& title = wanted[0][column];
      const std::string place = wanted[row][0] + " " + wanted[row][2] + " " + title;
      const auto exact = sensitive.find({row - 1, title});
      expect_cell(found[row][column],
                  exact == sensitive.end() ? wanted[row][column] : exact->second, place);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Cases, MsaccucmpGolden,
                         testing::Values("basic", "nasty", "stride", "mapping", "cpu_golden",
                                         "mismatch", "load_mode", "layout", "many_ops", "alg_index",
                                         "alg_name", "alg_list", "torch_dumper"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace opbench
