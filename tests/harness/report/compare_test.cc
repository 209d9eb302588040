#include "harness/report/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <sstream>

#include "tests/harness/report/compared.h"
#include "text/fitted.h"

namespace opbench::report {
namespace {

using compare_tests::compare;
using compare_tests::HandMade;
using report_tests::failing;
using report_tests::hostile;
using report_tests::introduce;
using report_tests::kTrue;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

std::string console(const Comparison& comparison, std::size_t top = 10, bool colour = false) {
  std::ostringstream out;
  print_comparison(out, comparison, top, {colour});
  return out.str();
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
  EXPECT_THAT(text, HasSubstr("     3  Mul       inherited   1.00e-01       inf     inf\n"));
  EXPECT_THAT(text, HasSubstr("     2  Softplus  introduced         0  1.00e-01       -\n"));
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
}

TEST(ReportCompare, TopBoundsTheLists) {
  const HandMade sample = failing();
  const std::string text = console(sample.comparison, 1);
  EXPECT_THAT(text, HasSubstr("Operators that fail, the worst 1 of 2"));
  EXPECT_THAT(text, AllOf(HasSubstr("     2  Softplus"), Not(HasSubstr("NaN"))));
  EXPECT_THAT(console(sample.comparison, 0), Not(HasSubstr("error in")));
}

TEST(ReportCompare, ColoursOnlyIfAsked) {
  const HandMade sample = failing();
  EXPECT_THAT(console(sample.comparison, 10, true), HasSubstr("\033[31mFAILED\033[0m"));
  EXPECT_THAT(console(sample.comparison), Not(HasSubstr("\033")));
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
