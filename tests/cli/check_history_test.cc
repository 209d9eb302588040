// check --history and report --history, through the built program.
#include <gmock/gmock.h>

#include "tests/cli/check_cli.h"

namespace opbench {

using testing::HasSubstr;

class CheckHistoryCli : public CheckCli {
 protected:
  // The other build has no case, so all cases are NEW, without measuring.
  Outcome check_new(const std::string& args) const {
    const std::string base =
        script("base", fake_build("native", {.list = R"(echo '{"cases": []}')"}));
    return check_here("--against " + base + kSmall + " " + args);
  }
};

TEST_F(CheckHistoryCli, EveryRunAddsALineThatTheReportReads) {
  EXPECT_EQ(check_new("--history h.jsonl").code, 4);
  EXPECT_EQ(check_new("--history h.jsonl").code, 4);
  const Outcome ran = run_program({"report", "--history", path("h.jsonl")});
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, testing::StartsWith("### opbench: 2 runs from 20"));
  EXPECT_THAT(ran.out, HasSubstr("2 NEW"));
}

TEST_F(CheckHistoryCli, ItIsRefusedBeforeAnythingRuns) {
  EXPECT_EQ(check_new("--history no/h.jsonl").code, 3);
  const Outcome twice = check_new("--history h.json --json h.json");
  EXPECT_EQ(twice.code, 2);
  EXPECT_EQ(read("h.json"), "");
}

TEST_F(CheckHistoryCli, ReportsOfAHistoryAreMarkdownAndOfNothingElse) {
  const std::string history = write("h.jsonl", "\n");
  EXPECT_EQ(run_program({"report", "--history", history}).code, 4);
  EXPECT_EQ(run_program({"report", "--history", history, "--format", "csv"}).code, 2);
  EXPECT_EQ(run_program({"report", "--history", history, "-o", history}).code, 2);
  EXPECT_EQ(run_program({"report", "--history", history, history}).code, 2);
  EXPECT_EQ(run_program({"report", "--history", path("none")}).code, 2);
  const Outcome none = run_program({"report"});
  EXPECT_EQ(none.code, 2);
  EXPECT_THAT(none.err, HasSubstr("--history"));
}

}  // namespace opbench
