// `opbench check` with the built program on both sides.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <set>

#include "tests/cli/check_cli.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class CheckProgram : public CheckCli {
 protected:
  /// A case, and a context with a step of `whose` kernels and a skipped step. The device's pool
  /// takes NC1HWC0, a framework's pool takes plain tensors.
  void write_context(const std::string& name, const std::string& whose) const {
    write(name, R"(cases: [{op: relu, inputs: [[64]], variants: [native]}]
contexts:
  - name: pair
    inputs: {x: {shape: [1, 16, 8, 8], format: NC1HWC0}}
    nodes: [{op: relu, in: x, out: y}, {op: global_avg_pool2d, in: y, out: z}]
    outputs: [z]
    steps:
      - {name: elsewhere, not_applicable: "on a device only"}
      - name: tuned
        variants: {default: )" +
                    whose + "}\n");
  }
};

}  // namespace

// The builds differ in a script and run the same machine code.
TEST_F(CheckProgram, ABuildIsNoSlowerThanItself) {
  const Outcome ran =
      check("--against " + other_build() + kSmall + " --out " + directory().string());
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("note: 2 of 2 run the same machine code in both builds"));
  const auto json = nlohmann::json::parse(read("check.json"));
  EXPECT_EQ(json["exit_code"], ran.code);
  EXPECT_EQ(json["items"].size(), 2u);
  for (const auto& item : json["items"]) {
    EXPECT_EQ(item["base_accuracy"], item["current_accuracy"]);
    EXPECT_TRUE(item["notices"].empty()) << "the same bits";
    EXPECT_TRUE(item["same_code"]);
    EXPECT_TRUE(item["noise_percent"].is_null()) << "not measured";
  }
  EXPECT_THAT(read("junit.xml"), HasSubstr("tests=\"2\""));
  EXPECT_THAT(read("check.md"), HasSubstr("opbench: "));
}

// oneDNN prints to standard output if its variable is set. The workers' answers also go to standard
// output.
TEST_F(CheckProgram, ALibraryThatPrintsIsNotInTheWay) {
  const std::string args = "--against " + other_build() +
                           " --case 'relu[4096,fp32]' --variant onednn --threads 1 --sample 2"
                           " --threshold 50 --json check.json";
  const Outcome ran = check(args, "DNNL_VERBOSE=2", {.environment = {}, .directory = directory()});
  EXPECT_TRUE(ran.code == 0 || ran.code == 5) << ran.code << ran.out << ran.err;
  EXPECT_EQ(nlohmann::json::parse(read("check.json"))["items"].size(), 1u);
}

// The other build answers every sample with 20 ns. It shows no noise, and every machine is slower
// in every round.
TEST_F(CheckProgram, ASlowerVariantIsFoundAndNamed) {
  const std::string base =
      script("base", fake_build("softplus_v2", {.sample = R"(echo '{"us": 0.02}')"}));
  const Outcome ran = check("--against " + base +
                            " --case 'softplus[4096,fp32]' --variant softplus_v2 --threads 1 "
                            "--sample 2 --threshold 50");
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, testing::StartsWith("REGRESSION: 1 SLOWER"));
  EXPECT_THAT(ran.out, HasSubstr("SLOWER       softplus_v2 on softplus[4096,fp32,ND]"));
  EXPECT_THAT(ran.out, HasSubstr("slower in 60 of 60 rounds"));
  EXPECT_THAT(ran.out, HasSubstr("next: opbench check --against " + base +
                                 " --case 'softplus[4096,fp32,ND]' --variant softplus_v2"));
}

// The kernels keep their machine code in a program with further code.
TEST_F(CheckProgram, AProgramOfTheSameKernelsRunsTheSameCode) {
  const Outcome ran = check_faulty(kSmall, "");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("note: 2 of 2 run the same machine code in both builds"));
}

// The planted slowdown changes the code, but not the speed. Noise may hide the speed, but must not
// make a regression of equal builds. With this threshold only a change by half counts.
TEST_F(CheckProgram, EqualCallsAreNoRegression) {
  const Outcome ran = check_faulty(kSmall + " --threshold 50 --json " + path("check.json"),
                                   "OPBENCH_TEST_SLOWDOWN=nothing=1");
  EXPECT_TRUE(ran.code == 0 || ran.code == 5) << ran.code << ran.out << ran.err;
  const auto json = nlohmann::json::parse(read("check.json"));
  EXPECT_EQ(json["items"].size(), 2u);
  for (const auto& item : json["items"]) {
    EXPECT_FALSE(item["rounds"].empty());
    EXPECT_GE(item["noise_percent"].get<double>(), 0);
  }
}

TEST_F(CheckProgram, WhatIsMadeSlowerIsARegression) {
  const Outcome slowed =
      check_faulty(kSmall + " --threshold 50", "OPBENCH_TEST_SLOWDOWN=softplus_v2=300");
  EXPECT_EQ(slowed.code, 1) << slowed.out << slowed.err;
  EXPECT_THAT(slowed.out, HasSubstr("SLOWER       softplus_v2 on softplus[4096,fp32,ND]"));
}

// The other build answers every sample with 20 ns, also first calls.
TEST_F(CheckProgram, FirstCallsAreComparedWhereWanted) {
  const std::string base = script(
      "base",
      fake_build("native",
                 {.sample = R"(echo '{"us": 0.02}')",
                  .open = R"(case $line in *'"first_call":true'*) first=true;; *) first=false;; esac
    opened "$id")"}));
  const std::string args = "--against " + base +
                           " --case 'softplus[4096,fp32]' --variant native --threads 1 --sample 2 "
                           "--threshold 50 --cold-start --json - -q";
  const Outcome ran = check(args);
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("SLOWER       first call of native on softplus[4096,fp32,ND]"));
  const auto json = nlohmann::json::parse(ran.out);
  ASSERT_EQ(json["items"].size(), 2u);
  std::set<std::string> measures;
  for (const auto& item : json["items"]) measures.insert(item["measure"]);
  EXPECT_EQ(measures, (std::set<std::string>{"call", "first call"}));
}

TEST_F(CheckProgram, FirstCallsAreOfProcessesAndNotOfStoredResults) {
  const Outcome ran = check("--baseline old.json --cold-start");
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("--cold-start is for --against, and not for --baseline"));
  for (const char* flag : {"--bits", "--fail-over 5", "--fail-on ambiguous"}) {
    const Outcome refused = check(std::string("--baseline x.json ") + flag);
    EXPECT_EQ(refused.code, 2) << flag;
    EXPECT_THAT(refused.err, HasSubstr(" is for --against, and not for --baseline")) << flag;
  }
}

// The other build has its own case and lacks the requested case.
TEST_F(CheckProgram, AnnotationsWhereGitHubRuns) {
  const std::string base = script(
      "base",
      fake_build(
          "native",
          {.list =
               R"(echo '{"cases":[{"case":"relu[1]","key":"relu[1]","name":"","count":1,"variants":[]}]}')"}));
  const Outcome ran = check("--against " + base + kSmall, "GITHUB_ACTIONS=true");
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("::error title=GONE relu[1]"));
  EXPECT_THAT(ran.out, HasSubstr("1 GONE, 2 NEW"));
}

TEST_F(CheckProgram, OnlyNewCasesAreNothingToJudge) {
  const std::string base =
      script("base", fake_build("native", {.list = R"(echo '{"cases": []}')"}));
  const Outcome ran = check("--against " + base + kSmall);
  EXPECT_EQ(ran.code, 4) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("2 NEW"));
}

TEST_F(CheckProgram, ACaseThatOnlyTheOtherBuildHasIsGone) {
  const std::string cases = "cases: [{op: relu, inputs: [[64]], variants: [native]}";
  write("old/c.yaml", cases + ", {op: softplus, inputs: [[64]]}]\n");
  write("c.yaml", cases + "]\n");
  const Outcome ran =
      check_here("--against " + kSelf +
                 " --against-directory old --cases c.yaml --threads 1 --sample 2 --threshold 50");
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("GONE         softplus[64,fp32,ND]"));
}

TEST_F(CheckProgram, AVariantThatTheCaseFileDropsIsGone) {
  const std::string start = "cases: [{op: softplus, inputs: [[64]], variants: [native";
  write("old/c.yaml", start + ", softplus_v2]}]\n");
  write("c.yaml", start + "]}]\n");
  const Outcome ran =
      check_here("--against " + kSelf +
                 " --against-directory old --cases c.yaml --threads 1 --sample 2 --threshold 50");
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("GONE         softplus_v2 on softplus[64,fp32,ND"));
}

// Noise may prevent judging the speed. A step is not worse than itself.
TEST_F(CheckProgram, AContextIsNoWorseThanItself) {
  write_context("c.yaml", "npu");
  const Outcome ran = check("--against " + other_build() + " --cases " + path("c.yaml") +
                            " --threads 1 --sample 2 --threshold 50 --json " + path("x.json"));
  EXPECT_TRUE(ran.code == 0 || ran.code == 5) << ran.code << ran.out << ran.err;
  const auto json = nlohmann::json::parse(read("x.json"));
  EXPECT_EQ(json["exit_code"], ran.code);
  ASSERT_EQ(json["items"].size(), 3u) << "a case, a step, a step that is skipped";
  EXPECT_EQ(json["counts"]["INCOMPARABLE"], 1);
  EXPECT_THAT(ran.out, HasSubstr("INCOMPARABLE step elsewhere of pair[fp32], 1 thread"));
  EXPECT_THAT(ran.out, HasSubstr("skipped: on a device only"));
  int steps = 0;
  for (const auto& item : json["items"]) {
    EXPECT_EQ(item["base_accuracy"], item["current_accuracy"]);
    if (item["variant"] != "tuned") continue;
    ++steps;
    EXPECT_EQ(item["case"], "pair[fp32]");
    EXPECT_EQ(item["base_conversions"], item["current_conversions"]);
    EXPECT_TRUE(item["base_conversions"].is_object());
    EXPECT_TRUE(item["base_accuracy"].is_object()) << "verified";
  }
  EXPECT_EQ(steps, 1);
}

// 30% of the calls leave a wrong element. The screening alone judges 36 calls, which are all
// correct with a probability of 0.7^36 = 3e-6.
TEST_F(CheckProgram, ARaceIsFoundByWhatTimedCallsLeave) {
  const Outcome ran =
      check_faulty(kSmall + " --threshold 50", "OPBENCH_TEST_WRONG_CALLS=native=30");
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("ERROR        native on softplus[4096,fp32,ND]"));
  EXPECT_THAT(ran.out, HasSubstr("its results differ from call to call on the same values"));
}

// Results are correct when they are verified and wrong in every timed call.
TEST_F(CheckProgram, WhatIsWrongInAllTimedCallsIsFound) {
  const Outcome ran =
      check_faulty(kSmall + " --threshold 50", "OPBENCH_TEST_WRONG_CALLS=native=100");
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("1 ERROR"));
  EXPECT_THAT(ran.out, HasSubstr("after timed calls its results differ from the verified results"));
}

// The step of this build takes a framework's pool, between two TransData. The number of conversions
// decides, without times.
TEST_F(CheckProgram, OneMoreTransDataIsARegressionWithoutStatistics) {
  write_context("old/c.yaml", "npu");
  write_context("c.yaml", "native");
  const Outcome ran =
      check_here("--against " + kSelf +
                 " --against-directory old --cases c.yaml --threads 1 --sample 2 --threshold 900");
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("ERROR        step tuned of pair[fp32], 1 thread"));
  EXPECT_THAT(ran.out,
              HasSubstr("converts more: 2 TransData, was 0; 8320 bytes of TransData, was 0"));
  EXPECT_THAT(ran.out, HasSubstr("--cases c.yaml --filter '^pair$' --dtype fp32 --variant tuned"));
}

TEST_F(CheckProgram, NothingSelectedIsNoSuccess) {
  const Outcome ran = check("--against " + kSelf + " --case 'relu[64,fp32]' --filter nothing");
  EXPECT_EQ(ran.code, 4) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("NOTHING TO JUDGE"));
}

TEST_F(CheckProgram, ABaselineIsMadeComparedAndRenewed) {
  const std::string baseline = path("b.json");
  const std::string what = "--baseline " + baseline + " --case 'relu[64,fp32]' --threads 1";
  const Outcome missing = check(what);
  EXPECT_EQ(missing.code, 4);
  EXPECT_THAT(missing.err, HasSubstr("there is no baseline"));
  EXPECT_FALSE(fs::exists(baseline));
  EXPECT_EQ(check(what + " --update").code, 0);
  const std::string first = text_of(baseline);
  EXPECT_EQ(text_of(baseline + ".anchor"), first);
  const Outcome again = check(what + " --update");
  EXPECT_EQ(again.code, 0) << again.out << again.err;
  EXPECT_THAT(again.out, HasSubstr("since the anchor of"));
  EXPECT_NE(text_of(baseline), first);
  EXPECT_EQ(text_of(baseline + ".anchor"), first) << "stays";
  EXPECT_EQ(
      check("--baseline " + baseline + ".anchor --current " + baseline + " --threshold 900").code,
      0);
}

}  // namespace opbench
