#include "harness/report/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "compare/judge_dump.h"
#include "tests/compare/comparison_support.h"
#include "text/fitted.h"

namespace opbench::report {
namespace {

using compare_tests::compare;
using compare_tests::HandMade;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Json = nlohmann::json;

const std::vector<float> kTrue = {3, 4, 0};

std::string console(const Comparison& comparison, std::size_t top = 10, bool colour = false) {
  std::ostringstream out;
  print_comparison(out, comparison, top, {colour});
  return out.str();
}

Json json(const Comparison& comparison) {
  std::ostringstream out;
  write_comparison_json(out, comparison);
  return Json::parse(out.str());
}

// A CSV file as RFC 4180 has it.
std::vector<std::vector<std::string>> csv(const Comparison& comparison) {
  std::ostringstream out;
  write_comparison_csv(out, comparison);
  const std::string text = out.str();
  std::vector<std::vector<std::string>> rows = {{""}};
  bool is_quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char letter = text[i];
    if (is_quoted && letter == '"' && i + 1 < text.size() && text[i + 1] == '"') {
      rows.back().back() += '"';
      ++i;
    } else if (letter == '"') {
      is_quoted = !is_quoted;
    } else if (!is_quoted && letter == ',') {
      rows.back().emplace_back();
    } else if (!is_quoted && text.compare(i, 2, "\r\n") == 0) {
      rows.push_back({""});
      ++i;
    } else {
      rows.back().back() += letter;
    }
  }
  rows.pop_back();  // behind the last line
  return rows;
}

std::string cell(const std::vector<std::vector<std::string>>& rows, std::size_t row,
                 const std::string& column) {
  const auto found = std::find(rows[0].begin(), rows[0].end(), column);
  return found == rows[0].end() ? "no such column"
                                : rows[row][static_cast<std::size_t>(found - rows[0].begin())];
}

// An operator as recomputing finds it: wrong in npu.h5 alone.
void introduce(OperatorResult& op) {
  JudgedRecord wrong, right;
  wrong.ruling = Ruling::guilty;
  wrong.findings.push_back({});
  OutputFinding& finding = wrong.findings.back();
  finding.path = op.tensors.back().entry().path;
  finding.is_wrong = true;
  finding.reason = "1 of 3 elements off";
  right.ruling = Ruling::ok;
  op.actual_judged = std::make_shared<const JudgedRecord>(wrong);
  op.expected_judged = std::make_shared<const JudgedRecord>(right);
  op.origin = Origin::introduced;
  op.explanation = "by npu.h5: wrong for its own inputs; gpu.h5 is right for its";
}

// One operator that introduces an error, one that inherits it, one only one side has.
HandMade failing() {
  HandMade sample = compare(
      {{"Relu", "1", {{"input/x", kTrue, kTrue}, {"output/y", kTrue, kTrue}}},
       {"Softplus", "2", {{"input/x", kTrue, kTrue}, {"output/y", {3, 4, 0.5f}, kTrue}}},
       {"Mul", "3", {{"input/x", {3, 4, 0.5f}, kTrue}, {"output/y", {3, NAN, 0.5f}, kTrue}}},
       {"Add", "4", {{"output/y", kTrue, {}}, {"output/z", {2, 2}, {2, 2}}}}});
  sample.comparison.command = "opbench compare npu.h5 gpu.h5";
  sample.comparison.options = {{"only", "."}};
  sample.comparison.is_explained = true;
  introduce(sample.comparison.operators[1]);
  sample.comparison.operators[2].origin = Origin::inherited;
  return sample;
}

TEST(ReportCompare, ConsoleSaysWhatIsWrongAndWhereItStarts) {
  const HandMade sample = failing();
  const std::string text = console(sample.comparison);
  EXPECT_EQ(text.substr(0, text.find('\n')), "FAILED: npu.h5 against gpu.h5, standard mixed");
  EXPECT_THAT(text, HasSubstr("Introduced at Softplus, call 2\n"
                              "  by npu.h5: wrong for its own inputs; gpu.h5 is right for its\n"
                              "  1 of 3 elements off\n"
                              "  /Softplus/2/output/y\n"));
  EXPECT_THAT(text, HasSubstr("2 operators fail: 1 introduces an error, 1 inherits one\n"));
  EXPECT_THAT(text, HasSubstr("        3 Mul                           inherited  1.00e-01      inf"
                              "     inf\n"));
  EXPECT_THAT(text, HasSubstr("      2 Softplus                      introduced        0 1.00e-01"
                              "       -\n"));
  EXPECT_THAT(text, HasSubstr("Not compared\n  1 tensor: only in npu.h5\n    /Add/4/output/y\n"));
  EXPECT_THAT(text, HasSubstr("  1 tensor: constant 2 expected\n"));
  EXPECT_THAT(text, HasSubstr("\n\n7 tensors compared: 3 passed, 3 failed, 1 mistrusted; "
                              "1 not compared\n"));
}

TEST(ReportCompare, NamesWhatHasNoPartnerNextToTheHeadline) {
  HandMade sample =
      compare({{"Relu", "1", {{"input/x", kTrue, kTrue}, {"output/y", kTrue, kTrue}}},
               {"Cast", "2", {{"output/y", kTrue, {}}}},
               {"Softplus", "3", {{"input/x", kTrue, kTrue}, {"output/y", {3, 4, 0.5f}, kTrue}}}});
  introduce(sample.comparison.operators[2]);
  const std::string text = console(sample.comparison);
  EXPECT_THAT(text, HasSubstr("Introduced at Softplus, call 3"));
  EXPECT_THAT(text, HasSubstr("\n  Next to it: Cast, call 2 is only in npu.h5\n"));
}

TEST(ReportCompare, SaysWhereNumbersOfLoadModeAreShifted) {
  HandMade sample = compare({{"Relu", "1", {{"output/y", kTrue, kTrue}}}});
  sample.comparison.is_load_mode = true;
  sample.comparison.number_shift = {1, sample.comparison.operators[0].actual};
  EXPECT_THAT(console(sample.comparison),
              HasSubstr("The numbers of calls differ by 1: most of npu.h5 would pair with those of "
                        "gpu.h5\nif its numbers were 1 smaller.\n"));
  DumpRecord later = *sample.comparison.operators[0].actual;
  later.seq_text = "7";
  sample.comparison.number_shift = {-2, &later};
  EXPECT_THAT(console(sample.comparison),
              HasSubstr("From /Relu/7 on, the numbers of calls differ by 2: most of npu.h5 would "
                        "pair\nwith those of gpu.h5 if its numbers there were 2 larger.\n"));
}

TEST(ReportCompare, VerbsAgreeWithTheirCounts) {
  const std::vector<float> off = {3, 4, 0.5f}, worse = {3, NAN, 0.5f};
  HandMade sample =
      compare({{"Softplus", "1", {{"input/x", kTrue, kTrue}, {"output/y", off, kTrue}}},
               {"Mul", "2", {{"input/x", off, kTrue}, {"output/y", worse, kTrue}}},
               {"Exp", "3", {{"input/x", off, kTrue}, {"output/y", worse, kTrue}}},
               {"Neg", "4", {{"input/x", off, kTrue}, {"output/y", off, kTrue}}},
               {"Abs", "5", {{"input/x", off, kTrue}, {"output/y", off, kTrue}}}});
  auto& operators = sample.comparison.operators;
  operators[0].origin = Origin::introduced;
  operators[1].origin = operators[2].origin = Origin::inherited;
  operators[3].origin = operators[4].origin = Origin::rounding;
  introduce(operators[0]);
  EXPECT_THAT(
      console(sample.comparison),
      HasSubstr("5 operators fail: 1 introduces an error, 2 inherit one, 2 round otherwise\n"));
}

TEST(ReportCompare, SaysThatNobodyIsWrongAndWhereTheDifferenceEnters) {
  HandMade sample = failing();
  OperatorResult& first = sample.comparison.operators[1];
  first.actual_judged = first.expected_judged;
  first.origin = Origin::rounding;
  first.explanation = "both are right for the same inputs (npu.h5: fp16 operands)";
  EXPECT_THAT(
      console(sample.comparison),
      HasSubstr("\nNo operator is wrong for its inputs.\n\n"
                "The difference enters at: Softplus, call 2\n"
                "  rounding: both are right for the same inputs (npu.h5: fp16 operands)\n"));
  sample.comparison.operators[2].origin = Origin::unknown;
  sample.comparison.operators[2].explanation = "not recomputed: no operator of that name is known";
  EXPECT_THAT(
      console(sample.comparison),
      AllOf(HasSubstr("\nNo operator that was recomputed is wrong for its inputs.\n"),
            HasSubstr("Of 1 of 2 operators that fail (50 %) the origin is unknown, first Mul, "
                      "call 3:\nnot recomputed: no operator of that name is known\n")));
  sample.comparison.is_explained = false;
  EXPECT_THAT(console(sample.comparison),
              AllOf(HasSubstr("\nFirst beyond its tolerance: Softplus, call 2\n"),
                    Not(HasSubstr("wrong for its inputs"))));
}

TEST(ReportCompare, ConsoleOfACleanComparisonIsShort) {
  const HandMade sample =
      compare({{"Relu", "1", {{"input/x", kTrue, kTrue}, {"output/y", kTrue, kTrue}}}});
  EXPECT_EQ(console(sample.comparison),
            "PASSED: npu.h5 against gpu.h5, standard mixed\n\n"
            "2 tensors compared: 2 passed, 0 failed, 0 mistrusted; 0 not compared\n");
}

TEST(ReportCompare, ConsoleSaysThatItIsPartial) {
  HandMade sample = failing();
  sample.comparison.is_partial = true;
  EXPECT_THAT(console(sample.comparison), HasSubstr("PARTIAL: stopped before its end"));
  EXPECT_THAT(console(sample.comparison), HasSubstr("; partial\n"));
  EXPECT_EQ(json(sample.comparison)["partial"], true);
}

TEST(ReportCompare, TopBoundsTheLists) {
  const HandMade sample = failing();
  const std::string text = console(sample.comparison, 1);
  EXPECT_THAT(text, HasSubstr("Operators that fail, the worst 1 of 2"));
  EXPECT_THAT(text, AllOf(HasSubstr("      2 Softplus"), Not(HasSubstr("NaN"))));
  EXPECT_THAT(console(sample.comparison, 0), Not(HasSubstr("error in")));
}

TEST(ReportCompare, ColoursOnlyIfAsked) {
  const HandMade sample = failing();
  EXPECT_THAT(console(sample.comparison, 10, true), HasSubstr("\033[31mFAILED\033[0m"));
  EXPECT_THAT(console(sample.comparison), Not(HasSubstr("\033")));
}

// Names of any length and kind; long reasons, paths, warnings and problems.
HandMade hostile() {
  const std::string longest(300, 'w');
  HandMade sample =
      compare({{"a,\"b\"\n=c",
                "1",
                {{"input/" + longest, kTrue, kTrue}, {"output/\033[2J", {9, 9, 9}, kTrue}}},
               {"=cmd|' /C calc'!A0", "2", {{"output/+1", {9, 9, 9}, kTrue}}},
               {"@" + longest,
                "123456789",
                {{"output/-2", {9, 9, 9}, kTrue}, {"output/\xff", kTrue, {}}}}});
  Comparison& comparison = sample.comparison;
  comparison.actual.path = "/a/" + longest + ".h5";
  comparison.actual.problems = {"/x/" + longest + ": external link", "/y: no dataset"};
  comparison.operators[0].tensors[0].warnings = {"shapes differ: " + longest, "=1"};
  return sample;
}

TEST(ReportCompare, ConsoleKeepsTo80Columns) {
  const HandMade plain = failing(), odd = hostile();
  for (const HandMade* sample : {&plain, &odd}) {
    std::istringstream lines(console(sample->comparison));
    for (std::string line; std::getline(lines, line);) {
      EXPECT_LE(line.size(), 80u) << line;
      EXPECT_TRUE(line.empty() || line.back() != ' ') << line;
      EXPECT_EQ(line.find('\033'), line.npos);
    }
  }
}

TEST(ReportCompare, JsonHasAHeaderAndFlatRecords) {
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

TEST(ReportCompare, JsonHasTheNumbersOfATensor) {
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

TEST(ReportCompare, JsonNamesNanMismatches) {
  const HandMade sample = failing();
  const Json tensor = json(sample.comparison)["tensors"][5];
  EXPECT_EQ(tensor["nan_mismatches"], 1);
  EXPECT_EQ(tensor["actual_nan"], 1);
  EXPECT_EQ(tensor["mismatch_index"], "[1]");
  EXPECT_EQ(tensor["mismatch_actual"], "NaN");
  EXPECT_EQ(tensor["mismatch_expected"], "4");
}

TEST(ReportCompare, JsonOfWhatWasNotComparedHasNoNumbers) {
  const HandMade sample = failing();
  const Json tensor = json(sample.comparison)["tensors"][6];
  EXPECT_EQ(tensor["verdict"], "not compared");
  EXPECT_EQ(tensor["reason"], "only in npu.h5");
  EXPECT_EQ(tensor["expected_path"], nullptr);
  EXPECT_EQ(tensor["max_abs"], nullptr);
  EXPECT_EQ(tensor["histogram_exact"], nullptr);
}

TEST(ReportCompare, HostileNamesStayWholeInJson) {
  const HandMade sample = hostile();
  const Json report = json(sample.comparison);
  EXPECT_EQ(report["tensors"][0]["operator"], "a,\"b\"\n=c");
  EXPECT_EQ(report["tensors"][2]["operator"], "=cmd|' /C calc'!A0");
  EXPECT_EQ(report["tensors"][0]["warnings"][1], "=1");
  EXPECT_EQ(report["tensors"][4]["tensor"], "\xef\xbf\xbd");  // no UTF-8: replaced
}

TEST(ReportCompare, CsvHasALinePerTensor) {
  const HandMade sample = failing();
  const auto rows = csv(sample.comparison);
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

TEST(ReportCompare, CsvAndJsonHaveTheSameColumns) {
  const HandMade sample = failing();
  std::vector<std::string> columns = csv(sample.comparison)[0];
  std::sort(columns.begin(), columns.end());
  std::vector<std::string> keys;
  const Json tensor = json(sample.comparison)["tensors"][0];
  const std::set<std::string> only_in_json = {"histogram_exact", "histogram_first_exponent",
                                              "error_map"};
  for (const auto& [key, value] : tensor.items()) {
    if (!only_in_json.contains(key)) keys.push_back(key);
  }
  EXPECT_EQ(keys, columns);
}

TEST(ReportCompare, CsvGuardsFormulasBehindALineBreak) {
  const HandMade sample = compare({{"\n=1+1", "1", {{"output/y", kTrue, kTrue}}}});
  EXPECT_EQ(cell(csv(sample.comparison), 1, "operator"), "'\n=1+1");
}

TEST(ReportCompare, CsvQuotesNamesAndGuardsFormulas) {
  const HandMade sample = hostile();
  const auto rows = csv(sample.comparison);
  ASSERT_EQ(rows.size(), 6u);
  EXPECT_EQ(cell(rows, 1, "operator"), "a,\"b\"\n=c");
  EXPECT_EQ(cell(rows, 3, "operator"), "'=cmd|' /C calc'!A0");
  EXPECT_EQ(cell(rows, 3, "tensor"), "+1") << "a number";
  EXPECT_EQ(cell(rows, 4, "tensor"), "-2");
  EXPECT_EQ(cell(rows, 4, "operator").substr(0, 2), "'@");
  EXPECT_THAT(cell(rows, 1, "warnings"), HasSubstr("; =1"));
  // Numbers stay numbers.
  const HandMade negative = compare({{"A", "1", {{"output/y", {-1, -2}, {-1, -2}}}}});
  EXPECT_EQ(cell(csv(negative.comparison), 1, "actual_min"), "-2");
}

TEST(Wrapped, BreaksAtSpacesAndCutsLongWords) {
  EXPECT_EQ(wrapped("one two three", 8, 2), "one two\n  three");
  EXPECT_EQ(wrapped("one two", 7, 0), "one two");
  EXPECT_EQ(wrapped("abcdefghij", 4, 1), "abcd\n efg\n hij");
  EXPECT_EQ(wrapped("x", 4, 0, 4), "\nx");
  EXPECT_EQ(wrapped("\xc3\xa4\xc3\xb6 \xc3\xbc", 4, 0), "\xc3\xa4\xc3\xb6 \xc3\xbc");
  EXPECT_EQ(wrapped("", 4, 0), "");
}

}  // namespace
}  // namespace opbench::report
