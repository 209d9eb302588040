#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "harness/report/compare.h"
#include "tests/cli/csv.h"
#include "tests/harness/report/compared.h"

namespace opbench::report {
namespace {

using compare_tests::compare;
using compare_tests::HandMade;
using csv::cell;
using report_tests::failing;
using report_tests::hostile;
using report_tests::kTrue;
using testing::HasSubstr;
using Json = nlohmann::ordered_json;

Json json(const Comparison& comparison) {
  std::ostringstream out;
  write_comparison_json(out, comparison);
  return Json::parse(out.str());
}

std::vector<csv::Row> table(const Comparison& comparison) {
  std::ostringstream out;
  write_comparison_csv(out, comparison);
  EXPECT_TRUE(out.str().ends_with("\r\n"));
  return csv::parse(out.str());
}

TEST(CompareFiles, JsonHasAHeaderAndFlatRecords) {
  const HandMade sample = failing();
  const Json report = json(sample.comparison);
  EXPECT_EQ(report["opbench_compare"], 2);
  EXPECT_EQ(report["command"], "opbench compare npu.h5 gpu.h5");
  EXPECT_EQ(report["files"]["actual"]["path"], "npu.h5");
  EXPECT_EQ(report["files"]["golden"], nullptr);
  EXPECT_EQ(report["standard"], "mixed");
  EXPECT_EQ(report["options"]["only"], ".");
  EXPECT_EQ(report["partial"], false);
  EXPECT_EQ(report["verdict"], "failed");
  EXPECT_EQ(report["counts"]["failed"], 3);
  EXPECT_EQ(report["first_departure"]["operator"], "Softplus");
  ASSERT_EQ(report["operators"].size(), 4u);
  EXPECT_EQ(report["explained"], true);
  EXPECT_EQ(report["first_introduced"]["operator"], "Softplus");
  EXPECT_EQ(report["operators"][1]["introduced_by"], "actual");
  EXPECT_EQ(report["operators"][1]["actual_ruling"], "GUILTY");
  EXPECT_EQ(report["operators"][1]["expected_ruling"], "OK");
  EXPECT_EQ(report["operators"][2]["origin"], "inherited");
  EXPECT_EQ(report["operators"][2]["introduced_by"], nullptr);
  EXPECT_EQ(report["operators"][2]["actual_ruling"], nullptr);
  EXPECT_EQ(report["operators"][2]["output_error"], nullptr);  // infinite
  ASSERT_EQ(report["tensors"].size(), 8u);
  for (const Json& tensor : report["tensors"]) {
    for (const auto& [key, value] : tensor.items()) {
      EXPECT_TRUE(!value.is_structured() || key == "warnings" || key == "histogram" ||
                  key == "causes" || key == "error_map")
          << key;
    }
  }
}

TEST(CompareFiles, JsonHasTheNumbersOfATensor) {
  const HandMade sample = failing();
  const Json tensor = json(sample.comparison)["tensors"][3];
  EXPECT_EQ(tensor["actual_path"], "/Softplus/2/output/y");
  EXPECT_EQ(tensor["verdict"], "failed");
  EXPECT_EQ(tensor["origin"], "introduced");
  EXPECT_EQ(tensor["actual_shape"], "[3]");
  EXPECT_EQ(tensor["elements"], 3);
  EXPECT_EQ(tensor["expected_zero"], 1);
  EXPECT_EQ(tensor["actual_zero"], 0);
  EXPECT_EQ(tensor["actual_min"], 0.5);
  EXPECT_EQ(tensor["max_abs"], 0.5);
  EXPECT_EQ(tensor["max_abs_index"], "[2]");
  EXPECT_EQ(tensor["max_abs_actual"], 0.5);
  EXPECT_EQ(tensor["max_abs_expected"], 0);
  EXPECT_NEAR(tensor["inside_share"].get<double>(), 2.0 / 3, 1e-12);
  EXPECT_EQ(tensor["histogram_exact"], 2);
  EXPECT_EQ(tensor["histogram_first_exponent"], -1);  // 2^-1 <= 0.5 < 2^0
  EXPECT_EQ(tensor["histogram"], Json::array({1}));
  EXPECT_EQ(tensor["cross_check_mare"], nullptr);
  EXPECT_EQ(tensor["mismatch_index"], nullptr);
}

TEST(CompareFiles, JsonNamesNanMismatches) {
  const HandMade sample = failing();
  const Json tensor = json(sample.comparison)["tensors"][5];
  EXPECT_EQ(tensor["nan_mismatches"], 1);
  EXPECT_EQ(tensor["actual_nan"], 1);
  EXPECT_EQ(tensor["mismatch_index"], "[1]");
  EXPECT_EQ(tensor["mismatch_actual"], "NaN");
  EXPECT_EQ(tensor["mismatch_expected"], "4");
}

TEST(CompareFiles, JsonOfWhatWasNotComparedHasNoNumbers) {
  const HandMade sample = failing();
  const Json tensor = json(sample.comparison)["tensors"][6];
  EXPECT_EQ(tensor["verdict"], "not compared");
  EXPECT_EQ(tensor["reason"], "only in npu.h5");
  EXPECT_EQ(tensor["expected_path"], nullptr);
  EXPECT_EQ(tensor["max_abs"], nullptr);
  EXPECT_EQ(tensor["histogram_exact"], nullptr);
}

TEST(CompareFiles, HostileNamesStayWholeInJson) {
  const HandMade sample = hostile();
  const Json report = json(sample.comparison);
  EXPECT_EQ(report["tensors"][0]["operator"], "a,\"b\"\n=c");
  EXPECT_EQ(report["tensors"][2]["operator"], "=cmd|' /C calc'!A0");
  EXPECT_EQ(report["tensors"][0]["warnings"][1], "=1");
  EXPECT_EQ(report["tensors"][4]["tensor"], "\xef\xbf\xbd");  // invalid UTF-8 is replaced
}

TEST(CompareFiles, CsvHasALinePerTensor) {
  const HandMade sample = failing();
  const auto rows = table(sample.comparison);
  ASSERT_EQ(rows.size(), 9u);
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows[0].size());
  EXPECT_EQ(cell(rows, 4, "operator"), "Softplus");
  EXPECT_EQ(cell(rows, 4, "execution"), "1");
  EXPECT_EQ(cell(rows, 4, "verdict"), "failed");
  EXPECT_EQ(cell(rows, 4, "max_abs"), "0.5");
  EXPECT_EQ(cell(rows, 4, "histogram"), "exact:2 -1:1");
  EXPECT_EQ(cell(rows, 7, "max_abs"), "");
  EXPECT_EQ(cell(rows, 7, "reason"), "only in npu.h5");
}

TEST(CompareFiles, CsvAndJsonHaveTheSameColumns) {
  const HandMade sample = failing();
  std::vector<std::string> keys;
  const Json tensor = json(sample.comparison)["tensors"][0];
  const std::set<std::string> only_in_json = {"histogram_exact", "histogram_first_exponent",
                                              "error_map"};
  for (const auto& [key, value] : tensor.items()) {
    if (!only_in_json.contains(key)) keys.push_back(key);
  }
  EXPECT_THAT(keys, testing::UnorderedElementsAreArray(table(sample.comparison)[0]));
}

TEST(CompareFiles, CsvGuardsFormulasBehindALineBreak) {
  const HandMade sample = compare({{"\n=1+1", "1", {{"output/y", kTrue, kTrue}}}});
  EXPECT_EQ(cell(table(sample.comparison), 1, "operator"), "'\n=1+1");
}

TEST(CompareFiles, CsvQuotesNamesAndGuardsFormulas) {
  const HandMade sample = hostile();
  const auto rows = table(sample.comparison);
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(cell(rows, 1, "operator"), "a,\"b\"\n=c");
  EXPECT_EQ(cell(rows, 3, "operator"), "'=cmd|' /C calc'!A0");
  EXPECT_EQ(cell(rows, 3, "tensor"), "+1") << "a number";
  EXPECT_EQ(cell(rows, 4, "tensor"), "-2");
  EXPECT_EQ(cell(rows, 4, "operator").substr(0, 2), "'@");
  EXPECT_THAT(cell(rows, 1, "warnings"), HasSubstr("; =1"));
  // Numbers have no quote before them.
  const HandMade negative = compare({{"A", "1", {{"output/y", {-1, -2}, {-1, -2}}}}});
  EXPECT_EQ(cell(table(negative.comparison), 1, "actual_min"), "-2");
}

TEST(CompareFiles, JsonSaysThatItIsPartial) {
  HandMade sample = failing();
  sample.comparison.is_partial = true;
  EXPECT_EQ(json(sample.comparison)["partial"], true);
}

}  // namespace
}  // namespace opbench::report
