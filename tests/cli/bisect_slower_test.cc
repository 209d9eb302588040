// tools/bisect-slower: its exit codes for `git bisect run`, and a bisection.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <sstream>

#include "harness/check/report.h"
#include "tests/support/scripted_checkout.h"

namespace opbench {

namespace fs = std::filesystem;
using testing::HasSubstr;

namespace {

// The source of an opbench whose check ends with this code and writes this check.json. `--json
// FILE` comes fourth, as in `check --against PROGRAM --json FILE`.
std::string launcher(int code, const check::CheckReport& report) {
  std::ostringstream json;
  check::write_json(json, report, {});
  std::string quoted;
  for (const char letter : json.str()) {
    if (letter == '\n') quoted += "\\n\"\n\"";
    if (letter == '"' || letter == '\\') quoted += '\\';
    if (letter != '\n') quoted += letter;
  }
  return "#include <stdio.h>\nint main(int argc, char** argv) {\n"
         "  FILE* file = argc > 5 ? fopen(argv[5], \"w\") : NULL;\n"
         "  if (file) fputs(\"" +
         quoted + fmt::format("\", file);\n  if (file) fclose(file);\n  return {};\n}}\n", code);
}

// A report with this many slower items, which are regressions, and ambiguous items.
check::CheckReport report_of(int slower, int ambiguous) {
  check::CheckReport report;
  report.items.resize(static_cast<std::size_t>(slower + ambiguous));
  for (std::size_t i = 0; i < static_cast<std::size_t>(slower); ++i) {
    report.items[i].verdict = check::ChangeVerdict::slower;
    report.items[i].is_regression = true;
  }
  return report;
}

std::string launcher(int code, int slower, int ambiguous) {
  return launcher(code, report_of(slower, ambiguous));
}

}  // namespace

class BisectSlower : public ScriptedCheckout {
 protected:
  BisectSlower() : ScriptedCheckout("bisect-slower", launcher(0, 0, 0)) {
    fs::copy_file(root() + "/tools/bisect-slower", path("bisect-slower"));
    write("good", "#!/bin/sh\n");
    fs::permissions(path("good"), fs::perms::owner_all);
  }

  Outcome run(const std::string& args) const { return sh(path("bisect-slower") + " " + args); }
};

TEST_F(BisectSlower, ExitCodesAsGitBisectRunReadsThem) {
  const struct {
    int code, slower, ambiguous, expected;
    std::string says;
  } kChecks[] = {
      {0, 0, 0, 0, ""},
      {0, 0, 1, 125, "skipped: AMBIGUOUS"},
      {1, 2, 0, 1, ""},
      {1, 1, 1, 1, ""},
      {1, 0, 0, 125, "skipped: wrong or gone"},
      {2, 0, 0, 125, "skipped: bad input"},
      {3, 1, 0, 125, "skipped: it could not finish"},
      {4, 0, 0, 125, "skipped: nothing to judge"},
      {5, 0, 0, 125, "skipped: the machine is too noisy"},
      {139, 0, 0, 125, "skipped: opbench check ended with exit code 139"},
  };
  for (const auto& check : kChecks) {
    write("checkout/opbench.c", launcher(check.code, check.slower, check.ambiguous));
    const Outcome ran = run(path("good"));
    EXPECT_EQ(ran.code, check.expected) << check.code;
    EXPECT_THAT(ran.err, HasSubstr(check.says));
  }
}

// One item is wrong, another is slower by an amount that a waiver allows.
TEST_F(BisectSlower, WhatIsWaivedIsNotSlower) {
  check::CheckReport report = report_of(2, 0);
  report.items[0].verdict = check::ChangeVerdict::error;
  report.items[1].is_regression = false;
  write("checkout/opbench.c", launcher(1, report));
  const Outcome ran = run(path("good"));
  EXPECT_EQ(ran.code, 125);
  EXPECT_THAT(ran.err, HasSubstr("skipped: wrong or gone"));
}

// The item is ambiguous, and a waiver allows the difference.
TEST_F(BisectSlower, WhatIsWaivedIsNotOpen) {
  check::CheckReport report = report_of(0, 1);
  report.items[0].waived = check::WaivedBy{"w.yaml:2", "the reason", "2099-01-01"};
  write("checkout/opbench.c", launcher(0, report));
  EXPECT_EQ(run(path("good")).code, 0);
}

// With --fail-over no item fails by itself. One item takes 4% of the network's time, another is
// wrong.
TEST_F(BisectSlower, AllThatIsSlowerTogetherCountsWhereAsked) {
  check::CheckReport report = report_of(2, 0);
  report.items[0].verdict = check::ChangeVerdict::error;
  report.items[1].is_regression = false;
  report.items[1].network_percent = 4;
  for (const double limit : {3.0, 5.0}) {
    report.fail_over_percent = limit;
    write("checkout/opbench.c", launcher(1, report));
    EXPECT_EQ(run(path("good")).code, limit == 3 ? 1 : 125) << limit;
  }
}

// The path of the good build is relative, as in common use.
TEST_F(BisectSlower, TheRealCheckIsRead) {
  commit("opbench.c", "#include <unistd.h>\nint main(int argc, char** argv) { execv(\"" +
                          program() + "\", argv); }\n");
  const std::string args =
      "../good --case 'softplus[4096,fp32]' --variant native --threads 1 --sample 2 -q "
      "--threshold ";
  fs::remove(path("good"));
  fs::create_symlink(program(), path("good"));
  Outcome ran = run(args + "50");
  EXPECT_TRUE(ran.code == 0 || ran.code == 125) << ran.code << ran.err;
  EXPECT_THAT(ran.out, HasSubstr(" against "));
  ran = run(args + "nothing");
  EXPECT_EQ(ran.code, 125);
  EXPECT_THAT(ran.err, HasSubstr("bad input (exit code 2)"));
}

// Seven revisions: the second does not build, the third is ambiguous, and all from the fifth on are
// slower.
TEST_F(BisectSlower, FindsTheCommitThatMadeItSlower) {
  ASSERT_EQ(sh("git tag good").code, 0);
  commit("broken", "");
  ASSERT_EQ(sh("git rm -q broken").code, 0);
  commit("opbench.c", launcher(0, 0, 1));
  commit("opbench.c", launcher(0, 0, 0));
  commit("opbench.c", launcher(1, 1, 0));
  const std::string first = revision("HEAD");
  commit("NEWS", "one\n");
  commit("NEWS", "two\n");
  ASSERT_EQ(sh("git bisect start HEAD good").code, 0);
  const Outcome ran = sh("git bisect run " + path("bisect-slower") + " " + path("good"));
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr(first + " is the first bad commit"));
}

// 255 ends a bisection, because every revision would fail in this way.
TEST_F(BisectSlower, MistakesEndTheBisection) {
  EXPECT_EQ(run("").code, 255);
  Outcome ran = run("nowhere");
  EXPECT_EQ(ran.code, 255);
  EXPECT_EQ(
      ran.err,
      "bisect-slower: 'nowhere' is not a program; it must be the opbench of the good build\n");
  ASSERT_EQ(sh("./build.sh build").code, 0);
  ran = run("build/release/opbench");
  EXPECT_EQ(ran.code, 255);
  EXPECT_THAT(ran.err, HasSubstr("built anew for every revision"));
  for (const char* flag : {"--json", "--against", "--baseline"}) {
    for (const char* value : {" x", "=x"}) {
      ran = run(path("good") + " --op relu " + flag + value);
      EXPECT_EQ(ran.code, 255) << flag << value;
      EXPECT_THAT(ran.err, HasSubstr(std::string(flag) + " is not for FLAGS"));
    }
  }
}

TEST_F(BisectSlower, SaysHowItIsUsed) {
  const Outcome ran = run("--help");
  EXPECT_EQ(ran.code, 0);
  EXPECT_THAT(ran.out, HasSubstr("git bisect run /tmp/bisect-slower"));
}

}  // namespace opbench
