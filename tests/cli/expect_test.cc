// Expected failures of a case file, through the command line and in every report.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "cli/cli.h"
#include "tests/support/program.h"
#include "tests/support/source_tree.h"
#include "tests/support/wide_terminal.h"

namespace opbench {
namespace {

using testing::HasSubstr;
using testing::Not;

class Expect : public testing::Test, protected TempDir {
 protected:
  // The gradient of V1 is NaN if exp(x) overflows; the gradient of V2 is finite.
  Outcome run(const std::string& expectation, std::vector<std::string> more = {}) const {
    const std::string file =
        write("f.yaml",
              "cases:\n  - {op: softplus, inputs: [[4096]], formats: [ND], backward: "
              "true, variants: [softplus, softplus_v2], " +
                  expectation + "}\n");
    more.insert(more.begin(), {"--cases", file, "--time", "0.001", "--repetitions", "2"});
    return opbench_with(more);
  }

  const WideTerminal wide_;
};

// npu_910a computes |x| instead.
const std::string kWrongCast = "cast[64,int8,ND,to=uint8]";
const std::string kV1 = "expect: {status: failed, variants: [softplus]}, reason: V1 overflows";

}  // namespace

TEST_F(Expect, AnExpectedFailureIsReportedAndFailsNothing) {
  const Outcome outcome = run(kV1, {"--json", path("x.json"), "--junit", path("x.xml"),
                                    "--markdown", path("x.md"), "--csv", path("x.csv")});
  EXPECT_EQ(outcome.code, kAllWell) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("xfailed: V1 overflows ("));
  EXPECT_THAT(outcome.out, HasSubstr("1 passed, 1 xfailed"));
  EXPECT_EQ(nlohmann::json::parse(read("x.json"))["records"][0]["status"], "xfailed");
  EXPECT_THAT(read("x.xml"), HasSubstr("<skipped message=\"V1 overflows ("));
  EXPECT_THAT(read("x.md"), HasSubstr("xfailed: V1 overflows ("));
  EXPECT_THAT(read("x.csv"), HasSubstr(",xfailed,"));
  EXPECT_EQ(opbench_with({"report", path("x.json"), "--format", "csv"}).out, read("x.csv"));
}

// The kernel states a known limit: "as the device".
TEST_F(Expect, AKnownLimitOfAKernelFailsNothing) {
  const Outcome outcome = run("count: 1");
  EXPECT_EQ(outcome.code, kAllWell) << outcome.out << outcome.err;
  EXPECT_THAT(outcome.out,
              HasSubstr("xfailed: like the device: NaN for x > 88.7, Inf if dy*e^x is Inf ("));
  EXPECT_THAT(outcome.out, HasSubstr("1 passed, 1 xfailed"));
}

TEST_F(Expect, AnUnexpectedPassFails) {
  const Outcome outcome = run("expect: failed, reason: V1 overflows");
  EXPECT_EQ(outcome.code, kVerdictFailed);
  EXPECT_THAT(outcome.out, HasSubstr("1 failed, 1 xfailed"));
  EXPECT_THAT(outcome.out, HasSubstr("f.yaml:2 expects it to fail: V1 overflows"));
}

TEST_F(Expect, IsReadStrictly) {
  const std::pair<const char*, const char*> cases[] = {
      {"expect: failed", "f.yaml:2: what is expected to fail needs a 'reason'"},
      {"reason: x", "f.yaml:2: 'reason' is for 'expect: failed', and the case has no 'expect'"},
      {"expect: passed, reason: x", "f.yaml:2: expect is 'passed'; it must be 'failed'"},
      {"expect: {variants: [softplus]}, reason: x", "expect is ''; it must be 'failed'"},
      {"expect: {status: failed, variants: [softplusv1]}, reason: x",
       "no operator of this run has a variant 'softplusv1'"},
  };
  for (const auto& [text, message] : cases) {
    const Outcome outcome = run(text);
    EXPECT_EQ(outcome.code, kBadInput) << text;
    EXPECT_THAT(outcome.err, HasSubstr(message));
  }
}

// An unexpected pass has no wrong numbers that a dump, the judge or a smaller record could show.
TEST_F(Expect, AnUnexpectedPassHasNoWrongNumbers) {
  const std::string only_v2 = write("v2.yaml",
                                    "cases:\n  - {op: softplus, inputs: [[64]], variants: "
                                    "[softplus_v2], expect: failed, reason: none}\n");
  const Outcome alone = opbench_with(
      {"--cases", only_v2, "--time", "0.001", "--repetitions", "2", "--json", path("v2.json")});
  EXPECT_EQ(alone.code, kVerdictFailed);
  EXPECT_THAT(alone.out, HasSubstr("v2.yaml:2 expects it to fail: none"));
  EXPECT_THAT(alone.out, Not(HasSubstr("Next: find the error")));
  const Outcome words = opbench_with({"report", path("v2.json"), "--case", "softplus[64,fp32,ND]"});
  EXPECT_THAT(words.out, HasSubstr("  100 % of the elements")) << words.err;
  // The range of another variant is printed: on the 910A a cast of int8 to uint8 is |x|.
  const std::string casts =
      write("cast.yaml",
            "cases:\n  - {op: cast, inputs: [[64]], dtypes: int8, formats: [ND], attrs: {to: "
            "uint8}, variants: [cast, npu_910a], expect: {status: failed, variants: [cast]}, "
            "reason: none}\n");
  EXPECT_THAT(opbench_with({"--cases", casts, "--time", "0", "-q"}).out,
              testing::ContainsRegex("Next: find the error[^\n]*\n[^\n]*--variant npu_910a "));
}

// The message has the place, both values, the operator's inputs and the command.
TEST_F(Expect, AFailureTellsWhatToLookAt) {
  EXPECT_THAT(run("count: 1").out,
              testing::ContainsRegex("first at \\[[0-9]+\\]: NaN, expected [-0-9.e]+; "
                                     "inputs there: grad_output=[^,]+, self="));
  const WideTerminal wide;
  const Outcome outcome = opbench_with({"--case", kWrongCast, "--time", "0"});
  EXPECT_EQ(outcome.code, kVerdictFailed);
  EXPECT_THAT(outcome.out, HasSubstr("\n    again: opbench --case '" + kWrongCast + "'"));
  EXPECT_THAT(outcome.out, HasSubstr("\n  opbench --case '" + kWrongCast + "'"))
      << "below the summary";
}

// The case file expects the NaN of V1.
TEST_F(Expect, TheProfilingScriptExpectsIt) {
  const std::string text = text_of(source_file("cases/softplus_prof.yaml"));
  EXPECT_THAT(text,
              HasSubstr("expect: &v1 {status: failed, variants: [softplus], dtypes: [fp32]}"));
  const Outcome plan = opbench_with(
      {"--cases", source_file("cases/softplus_prof.yaml"), "--filter", "2048x8x8", "--dry-run"});
  EXPECT_EQ(plan.code, kAllWell) << plan.err;
}

}  // namespace opbench
