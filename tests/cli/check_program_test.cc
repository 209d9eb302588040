// `opbench check` with the built program on both sides, and with programs that are none.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/support/program.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

class CheckProgram : public testing::Test, protected TempDir {
 protected:
  /// Runs `opbench check ARGS`, `environment` before it.
  Outcome check(const std::string& args, const std::string& environment = "",
                const ProcessOptions& options = {}) const {
    return shell("env -u GITHUB_ACTIONS " + environment + " " + program() + " check -q " + args,
                 options);
  }
  Outcome check_here(const std::string& args) const {
    return check(args, "", {.environment = {}, .directory = directory()});
  }

  /// A shell script as the other build.
  std::string script(const std::string& name, const std::string& body) const {
    const std::string path = write(name, "#!/bin/sh\n" + body);
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }

  /// A case, and a context: a step with kernels of `whose` choice, and one that is skipped. The
  /// device's pool takes NC1HWC0, a framework's plain tensors.
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

const std::string kSmall =
    " --case 'softplus[4096,fp32]' --variant native,softplus_v2 --threads 1 --sample 2";
// Says hello as this version does.
const std::string kHello =
    R"(echo '{"opbench_worker":2,"oldest":2,"version":"0","revision":"r","compiler":"c",)"
    R"("flags":"f","build_type":"Release"}'
)";
const std::string kSelf = program();

}  // namespace

// Noise may make the machine unfit to judge speed, never a regression of a build against itself:
// with these thresholds only a change by half counts.
TEST_F(CheckProgram, ABuildIsNoSlowerThanItself) {
  const Outcome ran =
      check("--against " + kSelf + kSmall + " --threshold 50 --out " + directory().string());
  EXPECT_TRUE(ran.code == 0 || ran.code == 5) << ran.code << ran.out << ran.err;
  const auto json = nlohmann::json::parse(read("check.json"));
  EXPECT_EQ(json["exit_code"], ran.code);
  EXPECT_EQ(json["items"].size(), 2u);
  for (const auto& item : json["items"]) {
    EXPECT_EQ(item["base_accuracy"], item["current_accuracy"]);
    EXPECT_TRUE(item["notices"].empty()) << "the same bits";
  }
  EXPECT_THAT(read("junit.xml"), HasSubstr("tests=\"2\""));
  EXPECT_THAT(read("check.md"), HasSubstr("opbench: "));
}

// The other build answers every sample with a nanosecond: it shows no noise, and any machine is
// slower in every round.
TEST_F(CheckProgram, ASlowerVariantIsFoundAndNamed) {
  const std::string base = script("base", kHello + R"(while read -r line; do case $line in
  *list*) echo '{"error": "cannot say"}';;
  *open*) echo '{"case":"c","variants":[{"variant":"softplus_v2","status":"unverified","reason":""}]}';;
  *close*) echo '{"closed":true}';;
  *) echo '{"us": 0.001}';;
esac; done
)");
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

// The other build has a case of its own, and not the one that is asked for.
TEST_F(CheckProgram, AnnotationsWhereGitHubRuns) {
  const std::string base = script("base", kHello + R"(read -r line
echo '{"cases":[{"case":"relu[1]","key":"relu[1]","name":"","count":1,"variants":[]}]}'
cat)");
  const Outcome ran = check("--against " + base + kSmall, "GITHUB_ACTIONS=true");
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("::error title=GONE relu[1]"));
  EXPECT_THAT(ran.out, HasSubstr("1 GONE, 2 NEW"));
}

TEST_F(CheckProgram, OnlyNewCasesAreNothingToJudge) {
  const std::string base = script("base", kHello + "read -r line\necho '{\"cases\": []}'\ncat\n");
  const Outcome ran = check("--against " + base + kSmall);
  EXPECT_EQ(ran.code, 4) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("2 NEW"));
}

TEST_F(CheckProgram, ProgramsThatAreNoOtherBuildAreBadInput) {
  const Outcome missing = check("--against " + path("missing") + kSmall);
  EXPECT_EQ(missing.code, 2);
  EXPECT_THAT(missing.err, HasSubstr("cannot start"));
  for (const char* other : {"/bin/true", "/bin/cat", "/etc/passwd"}) {
    const Outcome ran = check(std::string("--against ") + other + kSmall);
    EXPECT_EQ(ran.code, 2) << other << ran.out << ran.err;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
  const Outcome talker = check("--against " + script("talker", "echo hello; cat\n") + kSmall);
  EXPECT_EQ(talker.code, 2);
  EXPECT_THAT(talker.err, HasSubstr("is no opbench with `check`"));
}

TEST_F(CheckProgram, AnotherProtocolIsRefused) {
  const std::string future =
      script("future",
             R"(echo '{"opbench_worker":9,"oldest":7,"version":"9","revision":"new","compiler":"",)"
             R"("flags":"","build_type":""}'
cat)");
  const Outcome ran = check("--against " + future + kSmall);
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("speaks versions 7 to 9 of the protocol"));
}

TEST_F(CheckProgram, ACrashCostsTheCaseAndIsNoSuccess) {
  const std::string base = script("crash", kHello + "read line; kill -SEGV $$\n");
  const Outcome ran = check("--against " + base + kSmall);
  EXPECT_EQ(ran.code, 3) << ran.out << ran.err;
  EXPECT_THAT(ran.out + ran.err, HasSubstr("signal 11"));
}

// Its first sample is one of the noise; the worker that is started in its place lives.
TEST_F(CheckProgram, AWorkerKilledWhileNoiseIsMeasuredIsSaid) {
  const std::string base = script("base", kHello + R"(while read -r line; do case $line in
  *list*) echo '{"error": "cannot say"}';;
  *open*) echo '{"case":"c","variants":[{"variant":"native","status":"unverified","reason":""}]}';;
  *close*) echo '{"closed":true}';;
  *) [ -e killed ] || { touch killed; kill -KILL $$; }; echo '{"us": 1000000}';;
esac; done
)");
  const Outcome ran =
      check_here("--against " + base +
                 " --case 'relu[64,fp32]' --variant native --threads 1 --sample 1 --threshold 50");
  EXPECT_EQ(ran.code, 0) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("note: a worker was lost while noise was measured with "
                                 "relu[64,fp32,ND]: '" +
                                 base + "' was ended by signal 9 (Killed)"));
}

TEST_F(CheckProgram, AnAnswerThatDoesNotEndIsSaid) {
  const std::string base = script("base", "tr '\\0' x < /dev/zero\n");
  const Outcome ran = check("--against " + base + kSmall);
  EXPECT_EQ(ran.code, 2) << ran.out;
  EXPECT_THAT(ran.err, HasSubstr("'" + base + "' wrote a line longer than 64 MiB and was ended"));
}

// Hangs on the first case only: the other one is judged. It is so slow there that any machine is
// faster, so the hung one alone decides.
TEST_F(CheckProgram, AHungWorkerIsEndedAndTheOthersGoOn) {
  const std::string base = script("hang", kHello + R"(while read -r line; do case $line in
  *relu*open*|*open*relu*) sleep 1000;;
  *list*) echo '{"error": "cannot say"}';;
  *open*) echo '{"case":"c","variants":[{"variant":"native","status":"passed","reason":""}]}';;
  *close*) echo '{"closed":true}';;
  *) echo '{"us": 1000000}';;
esac; done
)");
  const Outcome ran = check("--against " + base +
                            " --case 'relu[64,fp32]' --case 'softplus[64,fp32]' --variant native "
                            "--threads 1 --time-limit 5 --no-verify --json " +
                            path("x.json"));
  EXPECT_EQ(ran.code, 3) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("gave no answer within 5 s"));
  const auto json = nlohmann::json::parse(read("x.json"));
  ASSERT_EQ(json["items"].size(), 2u);
  EXPECT_EQ(json["counts"]["ERROR"], 1);
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

// Noise may make the machine unfit to judge speed; a step is no worse than itself.
TEST_F(CheckProgram, AContextIsNoWorseThanItself) {
  write_context("c.yaml", "npu");
  const Outcome ran = check("--against " + kSelf + " --cases " + path("c.yaml") +
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

// The step of this build takes a framework's pool, between two TransData: no time counts any more.
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
  EXPECT_EQ(check("--baseline " + baseline + " --current " + baseline + " --gate stored").code, 0);
}

TEST_F(CheckProgram, BrokenResultsAreBadInput) {
  const std::string bad = path("bad.json");
  for (const char* text : {"", "{", "[]", "{\"opbench\": 99}"}) {
    write("bad.json", text);
    const Outcome ran = check("--baseline " + bad + " --current " + bad);
    EXPECT_EQ(ran.code, 2) << text << ran.out << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(bad));
  }
  EXPECT_EQ(check("--baseline " + bad + " --against " + kSelf + kSmall).code, 2) << "one of both";
}

TEST_F(CheckProgram, BadFlagsAreBadInput) {
  EXPECT_EQ(check(kSmall).code, 2) << "neither --against nor --baseline";
  EXPECT_EQ(check("--against " + kSelf).code, 4) << "no case named";
  EXPECT_EQ(check("--against " + kSelf + " --case 'nosuch[1]'").code, 2);
  for (const char* bad :
       {"--threshold -1", "--threshold x", "--budget 0", "--sample 0", "--floor -1",
        "--time-limit 0", "--isa nosuch", "--threads 0", "--fail-over x"}) {
    EXPECT_EQ(check("--against " + kSelf + kSmall + " " + bad).code, 2) << bad;
  }
}

// With any of these nothing would ever be a regression.
TEST_F(CheckProgram, FlagsThatWouldSwitchTheGateOffAreRefusedWithWhatIsAllowed) {
  const struct {
    const char *flags, *message;
  } kCases[] = {
      {"--floor inf", "--floor is inf; it must be from 0 to 1000000"},
      {"--floor nan", "--floor is nan; it must be from 0 to 1000000"},
      {"--fail-over inf", "--fail-over is inf; it must be from 0 to 1000"},
      {"--fail-over nan", "--fail-over is nan; it must be from 0 to 1000"},
      {"--fail-over -1", "--fail-over is -1; it must be from 0 to 1000"},
      {"--threshold 0", "--threshold is 0; it must be above 0 and at most 1000"},
      {"--threshold inf", "--threshold is inf; it must be above 0 and at most 1000"},
      {"--budget inf", "--budget is inf; it must be above 0 and at most 604800"},
      {"--update", "--update is for stored results, --baseline FILE, and not for --against"},
      {"--gate stored", "--gate is for stored results"},
      {"--current x.json", "--current is for stored results"},
      {"--shard ''", "--shard '' must be I/N with 1 <= I <= N, such as 1/4"},
  };
  for (const auto& c : kCases) {
    const Outcome ran = check("--against " + kSelf + kSmall + " " + c.flags);
    EXPECT_EQ(ran.code, 2) << c.flags << ran.out;
    EXPECT_THAT(ran.err, HasSubstr(c.message));
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
}

TEST_F(CheckProgram, ProgramsAndBaselinesThatCannotBeLookedAtAreBadInput) {
  fs::create_symlink("loop", path("loop"));
  for (const std::string& name : {path("loop"), std::string(5000, 'x')}) {
    for (const std::string& flags :
         {"--against " + name + kSmall, "--baseline " + name + " --current " + name}) {
      const Outcome ran = check(flags);
      EXPECT_EQ(ran.code, 2) << ran.out << ran.err;
      EXPECT_THAT(ran.err, testing::Not(HasSubstr("internal error")));
      EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
    }
  }
}

// The budget ends before the first case's turn.
TEST_F(CheckProgram, WhatTheBudgetDoesNotReachIsNoSuccess) {
  const Outcome ran = check("--against " + kSelf + kSmall + " --budget 0.001");
  EXPECT_EQ(ran.code, 3) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("the budget ended"));
}

TEST_F(CheckProgram, AFileThatCannotBeWrittenIsAFailure) {
  EXPECT_EQ(check("--against " + kSelf + kSmall + " --json /no/such/x.json").code, 3);
}

}  // namespace opbench
