// `opbench check` with programs that are not another build or that end early, and with wrong flags
// and files.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/check_cli.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;

using CheckFaults = CheckCli;

}  // namespace

TEST_F(CheckFaults, ProgramsThatAreNoOtherBuildAreBadInput) {
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
  EXPECT_THAT(talker.err, HasSubstr("is not an opbench with `check`"));
}

TEST_F(CheckFaults, AnotherProtocolIsRefused) {
  const std::string future =
      script("future",
             R"(echo '{"opbench_worker":9,"oldest":7,"version":"9","revision":"new","compiler":"",)"
             R"("flags":"","build_type":""}'
cat)");
  const Outcome ran = check("--against " + future + kSmall);
  EXPECT_EQ(ran.code, 2);
  EXPECT_THAT(ran.err, HasSubstr("supports versions 7 to 9 of the protocol"));
}

TEST_F(CheckFaults, ACrashCostsTheCaseAndIsNoSuccess) {
  const std::string base = script("crash", kHello + "read line; kill -SEGV $$\n");
  const Outcome ran = check("--against " + base + kSmall);
  EXPECT_EQ(ran.code, 3) << ran.out << ran.err;
  EXPECT_THAT(ran.out + ran.err, HasSubstr("signal 11"));
}

// The worker hangs on the first case only, and the other case is judged. The other build reports
// slow times, so only the hang decides the exit code.
TEST_F(CheckFaults, AHungWorkerIsEndedAndTheOthersGoOn) {
  const std::string base = script(
      "hang",
      fake_build("native", {.open = R"(case $id in relu*) sleep 1000;; esac; opened "$id")"}));
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

TEST_F(CheckFaults, BrokenResultsAreBadInput) {
  const std::string bad = path("bad.json");
  for (const char* text : {"", "{", "[]", "{\"opbench\": 99}"}) {
    write("bad.json", text);
    const Outcome ran = check("--baseline " + bad + " --current " + write("other", ""));
    EXPECT_EQ(ran.code, 2) << text << ran.out << ran.err;
    EXPECT_THAT(ran.err, HasSubstr(bad));
  }
  EXPECT_EQ(check("--baseline " + bad + " --against " + kSelf + kSmall).code, 2) << "one of both";
}

TEST_F(CheckFaults, BadFlagsAreBadInput) {
  EXPECT_EQ(check(kSmall).code, 2) << "neither --against nor --baseline";
  EXPECT_EQ(check("--against " + kSelf).code, 4) << "no case named";
  EXPECT_EQ(check("--against " + kSelf + " --case 'nosuch[1]'").code, 2);
  for (const char* bad :
       {"--threshold -1", "--threshold x", "--budget 0", "--sample 0", "--floor -1",
        "--time-limit 0", "--isa nosuch", "--threads 0", "--fail-over x"}) {
    EXPECT_EQ(check("--against " + kSelf + kSmall + " " + bad).code, 2) << bad;
  }
}

// These values would prevent every regression from being reported.
TEST_F(CheckFaults, FlagsThatWouldSwitchTheGateOffAreRefusedWithWhatIsAllowed) {
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
      {"--part ''", "--part '' must be K/N with 1 <= K <= N <= 1000000, such as 1/4"},
  };
  for (const auto& c : kCases) {
    const Outcome ran = check("--against " + kSelf + kSmall + " " + c.flags);
    EXPECT_EQ(ran.code, 2) << c.flags << ran.out;
    EXPECT_THAT(ran.err, HasSubstr(c.message));
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
}

TEST_F(CheckFaults, ProgramsAndBaselinesThatCannotBeLookedAtAreBadInput) {
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

// The budget ends before the first case begins.
TEST_F(CheckFaults, WhatTheBudgetDoesNotReachIsNoSuccess) {
  const Outcome ran = check("--against " + other_build() + kSmall + " --budget 0.001");
  EXPECT_EQ(ran.code, 3) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("the budget ended"));
}

TEST_F(CheckFaults, AFileThatCannotBeWrittenIsAFailure) {
  EXPECT_EQ(check("--against " + kSelf + kSmall + " --json /no/such/x.json").code, 3);
}

}  // namespace opbench
