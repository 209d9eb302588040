// `opbench check` against builds that use the protocol but give impossible answers, end early or
// hang. Each has its message, and no run succeeds.
#include <gmock/gmock.h>

#include <algorithm>
#include <chrono>
#include <filesystem>

#include "tests/cli/check_cli.h"

namespace opbench {
namespace {

using testing::AllOf;
using testing::HasSubstr;

class CheckOtherBuild : public CheckCli {
 protected:
  /// Expects exit code 3, and one line on standard error with the program and `message`.
  void expect_told(const std::string& what, const FakeAnswers& answers,
                   const std::string& message) const {
    const std::string base = script("other build", fake_build("native", answers));
    const Outcome ran =
        check("--against '" + base +
              "' --case 'softplus[4096,fp32]' --variant native --threads 1 --sample 1 "
              "--time-limit 3 --threshold 900");
    EXPECT_EQ(ran.code, 3) << what << ran.out << ran.err;
    EXPECT_THAT(ran.err,
                AllOf(testing::StartsWith("opbench: "), HasSubstr(base + "'"), HasSubstr(message)))
        << what;
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << what << ran.err;
    EXPECT_LT(ran.peak_bytes, std::size_t{500} << 20) << what;
  }
};

}  // namespace

TEST_F(CheckOtherBuild, ThatDoesNotEndWellGaveNoAnswerToRelyOn) {
  expect_told("dies after its answers", {.end = "kill -SEGV $$"},
              "other build' was ended by signal 11 (Segmentation fault) after its last answer");
  expect_told("fails after its answers", {.end = "echo lost >&2; exit 7"},
              "ended with exit code 7 after its last answer; last on standard error: lost");
  expect_told("hangs after its answers", {.end = "sleep 1000"},
              "other build' did not end within 3 s after its last answer");
  expect_told("goes on after its answers", {.end = "echo more"},
              "other build' wrote 'more' after its last answer");
}

TEST_F(CheckOtherBuild, ThatAnswersWhatCannotBeTrueIsRefused) {
  expect_told("another case", {.open = "opened 'relu[1]'"},
              "other build' answered for the case 'relu[1]'; allowed is "
              "'softplus[4096,fp32,ND,beta=1,threshold=20]'");
  expect_told("a time without end", {.sample = R"(echo '{"us": 1e300}')"},
              "other build' answered 1e+300 us for a call of native; allowed is at most ");
  expect_told("a time of nothing", {.sample = R"(echo '{"us": 1e-9}')"},
              "the baseline answered 1e-09 us for a call, the current build ");
  for (const char* us : {"0", "-1", "\"1\"", "null", "NaN"}) {
    expect_told(us, {.sample = "echo '{\"us\": " + std::string(us) + "}'"},
                "other build' gave an answer that cannot be read: ");
  }
}

TEST_F(CheckOtherBuild, ThatAnswersSomethingElseIsRefused) {
  expect_told("an error", {.sample = R"(echo '{"error": "not today"}')"},
              "in the baseline: not today; the baseline is '");
  expect_told("to another request", {.sample = R"(echo '{"closed":true}')"},
              "other build' gave an answer that cannot be read: ");
  expect_told("no JSON", {.sample = "echo hello"}, "gave an answer that cannot be read: ");
  expect_told("twice", {.sample = R"(echo '{"us": 4}'; echo '{"us": 4}'; sleep 0.1)"},
              "other build' wrote '{\"us\": 4}' after its ");
  expect_told("a list without end",
              {.list = R"(printf '{"cases":['; yes '{"case":"x"},' | tr -d '\n')"},
              "other build' wrote a line longer than 8 MiB and was ended");
}

TEST_F(CheckOtherBuild, WhoseProcessesDieOrHangIsTold) {
  expect_told("dies", {.sample = "kill -KILL $$"}, "other build' was ended by signal 9 (Killed)");
  expect_told("hangs", {.sample = "sleep 1000"}, "other build' gave no answer within 3 s");
  expect_told("floods standard error", {.sample = "yes >&2"},
              "other build' gave no answer within 3 s");
}

// The remaining child holds the pipes and must be ended.
TEST_F(CheckOtherBuild, ThatIsKilledByItsOwnChildIsNotWaitedFor) {
  const std::string base = script(
      "other build",
      fake_build("native", {.sample = "setsid sh -c 'kill -KILL '$$'; exec sleep 77777'; wait"}));
  const auto start = std::chrono::steady_clock::now();
  const Outcome ran = check("--against '" + base + "'" + kSmall + " --time-limit 200");
  EXPECT_LT(std::chrono::steady_clock::now() - start, std::chrono::seconds(60));
  EXPECT_EQ(ran.code, 3) << ran.out << ran.err;
  EXPECT_THAT(ran.err, HasSubstr("was ended by signal 9"));
  EXPECT_NE(shell("pgrep -f 'sleep 7777[7]'").code, 0);
}

TEST_F(CheckOtherBuild, ThatIsThisProgramIsNotRun) {
  std::filesystem::copy_file(program(), path("copy"));
  const Outcome same =
      check("--against " + path("copy") + kSmall + " --budget 5 --json " + path("check.json"));
  EXPECT_EQ(same.code, 0) << same.out << same.err;
  EXPECT_THAT(same.out, AllOf(testing::StartsWith("No regression: 1 SAME"),
                              HasSubstr("is the same program as this one, byte for byte")));
  const Outcome none = check("--against " + path("copy") + kSmall + " --filter nosuch");
  EXPECT_EQ(none.code, 4) << none.out << none.err;
}

}  // namespace opbench
