// Tests how a command line is parsed before any command runs.
#include <gmock/gmock.h>

#include "cli/cli.h"
#include "tests/support/program.h"
#include "tests/support/source_tree.h"

namespace opbench {

using testing::HasSubstr;

TEST(Usage, UnknownFlagsAndCommandsGetASuggestion) {
  const std::pair<std::vector<std::string>, const char*> cases[] = {
      {{"--varient", "native"}, "unknown flag '--varient' of run; did you mean '--variant'?"},
      {{"check", "--agianst=x"}, "unknown flag '--agianst' of check; did you mean '--against'?"},
      {{"report", "x.json", "--zzzzzzzz"}, "unknown flag '--zzzzzzzz' of report; see"},
      {{"lst"}, "unknown command 'lst'; did you mean 'list'?"},
      {{"help", "--bogus"}, "unknown command '--bogus'; allowed: run, list"},
      {{"help", "-V"}, "unknown command '-V'; allowed: run, list"},
      {{"compare", "-V"}, "unknown flag '-V' of compare; see"},
      {{"compare", "-x"}, "unknown flag '-x' of compare; see"},
      {{"help", "repotr"}, "unknown command 'repotr'; did you mean 'report'?"}};
  for (const auto& [args, message] : cases) {
    const Outcome outcome = opbench_with(args);
    EXPECT_EQ(outcome.code, kBadInput);
    EXPECT_THAT(outcome.err, HasSubstr(message));
  }
}

TEST(Usage, HelpAndVersionGoByTheirUsualNames) {
  EXPECT_EQ(opbench_with({"help"}).out, opbench_with({"--help"}).out);
  EXPECT_EQ(opbench_with({"help", "-h"}).out, opbench_with({"--help"}).out);
  EXPECT_EQ(opbench_with({"help", "--help"}).out, opbench_with({"--help"}).out);
  EXPECT_EQ(opbench_with({"help", "check"}).out, opbench_with({"check", "--help"}).out);
  EXPECT_EQ(opbench_with({"-V"}).out, opbench_with({"--version"}).out);
}

// An empty tensor takes no time and tests nothing.
TEST(Usage, AnExtentOfNothingIsRefused) {
  const Outcome outcome =
      opbench_with({"--op", "relu", "--shapes", source_file("cases/resnet.yaml"), "--set", "N=0"});
  EXPECT_EQ(outcome.code, kBadInput);
  EXPECT_THAT(outcome.err, HasSubstr("--set 'N=0' must be NAME=VALUE with a whole number from 1"));
}

}  // namespace opbench
