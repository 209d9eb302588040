// check --waivers, through the built program.
#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "tests/cli/check_cli.h"

namespace opbench {

using testing::HasSubstr;

class CheckWaivers : public CheckCli {
 protected:
  // The other build has a case that this build lacks.
  CheckWaivers() {
    const std::string cases = "cases: [{op: relu, inputs: [[64]], variants: [native]}";
    write("old/c.yaml", cases + ", {op: softplus, inputs: [[64]], variants: [native]}]\n");
    write("c.yaml", cases + "]\n");
  }

  Outcome check_with(const std::string& waivers) const {
    write("w.yaml", waivers);
    return check_here("--against " + kSelf + " --against-directory old --cases c.yaml" +
                      " --threads 1 --sample 2 --threshold 50 --json x.json --waivers w.yaml");
  }
};

// Exit code 5: the machine is too noisy to judge the speed of the other case.
TEST_F(CheckWaivers, AnIntendedChangePassesWithItsReason) {
  const Outcome ran = check_with(
      "waivers:\n"
      "  - {id: '^softplus', reason: nobody runs it, expires: 9999-12-31, allow: {gone: true}}\n");
  EXPECT_TRUE(ran.code == 0 || ran.code == 5) << ran.out << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("; 1 waived ("));
  EXPECT_THAT(ran.out, HasSubstr("waived until 9999-12-31: nobody runs it (w.yaml:2)"));
  const auto json = nlohmann::json::parse(read("x.json"));
  for (const auto& item : json["items"]) {
    EXPECT_EQ(item["regression"], false);
    EXPECT_EQ(item["waiver"].is_null(), item["verdict"] != "GONE");
  }
  EXPECT_THAT(read("x.json"), HasSubstr(R"("reason": "nobody runs it")"));
}

TEST_F(CheckWaivers, AnExpiredOneCoversNothing) {
  const Outcome ran = check_with(
      "waivers:\n"
      "  - {id: '^softplus', reason: nobody runs it, expires: 2020-12-31, allow: {gone: true}}\n");
  EXPECT_EQ(ran.code, 1);
  EXPECT_THAT(ran.out, HasSubstr("note: w.yaml:2: the waiver of '^softplus' expired on 2020-12-31 "
                                 "and covers nothing: nobody runs it\n"));
}

TEST_F(CheckWaivers, AFileThatIsNoneIsBadInputBeforeAnythingRuns) {
  const Outcome ran = check_with("waivers: [{id: '\x1b[31m('}]\n");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(ran.out, "");
  EXPECT_THAT(ran.err, testing::StartsWith("opbench: w.yaml:1: "));
  EXPECT_THAT(ran.err, testing::Not(HasSubstr("\x1b")));
  EXPECT_EQ(check_here("--against " + kSelf + kSmall + " --waivers gone.yaml").code, 2);
}

TEST_F(CheckWaivers, NoResultReplacesTheFile) {
  write("w.yaml", "waivers: []\n");
  const Outcome ran = check_here("--against " + kSelf + kSmall + " --waivers w.yaml --json w.yaml");
  EXPECT_EQ(ran.code, 2);
  EXPECT_EQ(read("w.yaml"), "waivers: []\n");
}

}  // namespace opbench
