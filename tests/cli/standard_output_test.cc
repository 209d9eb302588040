// Tests the output of the built program on standard output and on standard error.
#include <gmock/gmock.h>

#include <filesystem>
#include <nlohmann/json.hpp>

#include "tests/cli/check_cli.h"
#include "tests/cli/csv.h"

namespace opbench {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::vector<std::string> kReluRun = {"--case", "relu[64,fp32]", "--variant",     "native",
                                           "--time", "0.001",         "--repetitions", "2"};

class StandardOutput : public CheckCli {
 protected:
  Outcome run(std::vector<std::string> more) const {
    more.insert(more.begin(), kReluRun.begin(), kReluRun.end());
    return run_program(std::move(more), {.environment = {}, .directory = directory()});
  }
};

/// The output on a terminal of this kind.
std::string on_terminal(const std::string& kind, const std::string& args) {
  const Outcome outcome =
      shell("env -u NO_COLOR TERM=" + kind +
            " python3 -c 'import pty, sys; pty.spawn(sys.argv[1:])' '" + program() + "' " + args);
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  return outcome.out;
}

}  // namespace

TEST_F(StandardOutput, AResultMayHaveItForItself) {
  const Outcome json = run({"--json", "-"});
  EXPECT_EQ(json.code, 0);
  EXPECT_EQ(nlohmann::json::parse(json.out)["records"][0]["op"], "relu");
  EXPECT_THAT(json.err, HasSubstr("relu[64,fp32,ND]")) << "the table";
  EXPECT_FALSE(std::filesystem::exists(directory() / "-"));
  const Outcome csv = run({"--csv", "-", "--json", "x.json"});
  EXPECT_THAT(csv.out, StartsWith("case,"));
  EXPECT_THAT(csv.out, Not(HasSubstr("1 case, 1 result")));
  const Outcome report = run_program({"report", path("x.json"), "--format", "csv", "-o", "-"});
  EXPECT_EQ(report.out, csv.out);
  ASSERT_EQ(run({"--json", "y.json"}).code, 0);
  const Outcome checked =
      check_here("--baseline x.json --current y.json --threshold 900 --json - --markdown c.md");
  EXPECT_EQ(nlohmann::json::parse(checked.out)["mode"], "watch") << checked.err;
  EXPECT_THAT(checked.err, HasSubstr("1 SAME"));
}

TEST_F(StandardOutput, HoldsOneResultAndNoDump) {
  const Outcome two = run({"--json", "-", "--csv", "-"});
  EXPECT_EQ(two.code, 2);
  EXPECT_THAT(two.err, HasSubstr("two results cannot go to the same file: --json '-' and --csv"));
  const Outcome dump = run({"--dump", "-"});
  EXPECT_EQ(dump.code, 2);
  EXPECT_THAT(dump.err, HasSubstr("--dump writes HDF5, which cannot go to standard output"));
}

TEST_F(StandardOutput, HasTheJsonOfInvariance) {
  const Outcome outcome = run_program({"invariance", "--op", "relu", "--json", "-", "-q"},
                                      {.environment = {}, .directory = directory()});
  EXPECT_TRUE(nlohmann::json::accept(outcome.out)) << outcome.out;
  EXPECT_THAT(outcome.err, HasSubstr("relu")) << "the table";
  EXPECT_FALSE(std::filesystem::exists(directory() / "-"));
}

// Commands that write more than text would create a file or folder with the name "-".
TEST_F(StandardOutput, TakesNeitherHdf5NorFolders) {
  ASSERT_EQ(run({"--dump", "a.h5", "--json", "a.json"}).code, 0);
  const std::vector<std::vector<std::string>> commands = {
      {"extract", "a.h5", "-s", "/relu/1", "-o", "-"},
      {"compare", "a.h5", "a.h5", "-o", "-"},
      {"convert", "a.h5", "-o", "-"},
      {"convert", "a.h5", "--to", "npz", "-o", "-"},
      {"minimise", "a.h5", "-o", "-"},
      {"overflow", "-d", ".", "-o", "-"},
      {"check", "--baseline", "a.json", "--current", "a.json", "--out", "-"},
      {"check", "--baseline", "a.json", "--current", "a.json", "--history", "-"},
      {"--case", "relu[64,fp32]", "--out", "-"},
      {"--case", "relu[64,fp32]", "--resume", "-"},
      {"--load", "a.h5", "--out", "-"}};
  for (const std::vector<std::string>& command : commands) {
    const Outcome outcome = run_program(command, {.environment = {}, .directory = directory()});
    EXPECT_EQ(outcome.code, 2) << command.front() << outcome.out;
    EXPECT_THAT(outcome.err, HasSubstr("which cannot go to standard output; name a f"));
    EXPECT_FALSE(std::filesystem::exists(directory() / "-")) << command.front();
  }
}

// The reader ends before the first byte is written, as with `| head`.
TEST_F(StandardOutput, AReaderThatGoesIsNoError) {
  const auto ended = [&](const std::string& args) {
    return shell("{ sleep 0.2; '" + program() + "' " + args + "; echo code $? >&2; } | true").err;
  };
  EXPECT_EQ(ended("list"), "code 141\n");
  EXPECT_EQ(ended("--case 'relu[64,fp32]' -q --json - 2>/dev/null"), "code 141\n");
  // A result that goes to a file is complete.
  EXPECT_EQ(ended("--case 'relu[64,fp32]' -q --json " + path("kept.json")), "code 141\n");
  EXPECT_EQ(nlohmann::json::parse(read("kept.json"))["run"]["interrupted"], false);
}

// The run must not continue with 2000 cases.
TEST_F(StandardOutput, ARunEndsWithItsReader) {
  std::string cases;
  for (int i = 0; i < 2000; ++i) cases += " --case 'relu[" + std::to_string(100 + i) + ",fp32]'";
  const Outcome ended = shell("'" + program() + "' --verbose --time 0.05 --variant native" + cases +
                              " 2>/dev/null | head -3; test $? = 0");
  EXPECT_EQ(ended.code, 0);
  EXPECT_THAT(ended.out, HasSubstr("relu[100,fp32,ND]"));
}

TEST_F(StandardOutput, ADumbTerminalGetsNoColour) {
  if (!has_command("python3")) GTEST_SKIP() << "no python3";
  const std::string args = "--case 'relu[64,fp32]' --variant native --time 0.001 --repetitions 2";
  EXPECT_THAT(on_terminal("xterm", args), HasSubstr("\x1b["));
  EXPECT_THAT(on_terminal("dumb", args), Not(HasSubstr("\x1b[")));
}

// Without a terminal, progress is printed in whole lines.
TEST_F(StandardOutput, ProgressInPlainLinesIsWhole) {
  ASSERT_EQ(run({"--dump", "a.h5"}).code, 0);
  ASSERT_EQ(run({"--dump", "b.h5"}).code, 0);
  const Outcome compared =
      run_program({"compare", "a.h5", "b.h5"}, {.environment = {}, .directory = directory()});
  EXPECT_THAT(compared.err, StartsWith("listing a.h5 and b.h5\ncomparing 1 KiB\n"));
  EXPECT_THAT(run({}).err, StartsWith("[1/1] relu[64,fp32,ND]\n"));
}

}  // namespace opbench
