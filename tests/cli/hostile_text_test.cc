// Tests names that would run a command in a pasted line, control a terminal, or command a CI
// system.
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>
#include <vector>

#include "tests/support/program.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::Not;

// A colour, a command for GitHub and for Azure, U+009B and U+202E, in the spelling of YAML and
// JSON.
const std::string kHostile =
    R"(\u001b[31mred\n::error::line\n  ::add-mask::x##[error]y##vso[z]\u009b31m\u202eback)";

class HostileText : public testing::Test, protected TempDir {
 protected:
  Outcome run(const std::string& args, const std::string& environment = "") const {
    return shell("env -u GITHUB_ACTIONS " + environment + " " + program() + " " + args,
                 {.environment = {}, .directory = directory()});
  }

  /// Pastes a line that opbench printed into bash.
  Outcome paste(const std::string& line) const {
    write("line.sh", "opbench() { " + program() + " \"$@\"; }\n" + line + "\n");
    return shell("bash line.sh", {.environment = {}, .directory = directory()});
  }

  std::string script(const std::string& name, const std::string& answers) const {
    const std::string path = write(
        name,
        "#!/bin/sh\n"
        R"(printf '%s\n' '{"opbench_worker":2,"oldest":2,"version":"0","revision":")" +
            kHostile + R"(","compiler":"c","flags":"f","build_type":"Release"}')" + "\n" + answers);
    fs::permissions(path, fs::perms::owner_all);
    return path;
  }
};

/// Expects that `text` has no character with an effect on a terminal. Only the lines of
/// `annotations` may command a CI system.
void expect_harmless(const std::string& text, const std::vector<std::string>& annotations = {}) {
  for (const char* hidden : {"\x1b", "\xc2\x9b", "\xe2\x80\xae", "##[", "##vso", "\xff"}) {
    EXPECT_THAT(text, Not(HasSubstr(hidden)));
  }
  std::istringstream lines(text);
  for (std::string line; std::getline(lines, line);) {
    const std::string word = line.substr(std::min(line.size(), line.find_first_not_of(' ')));
    const bool is_known =
        std::any_of(annotations.begin(), annotations.end(),
                    [&](const std::string& start) { return word.starts_with(start); });
    EXPECT_FALSE(word.starts_with("::") && !is_known) << line;
  }
}

// A command goes on after a backslash at the end of a line.
std::string line_after(const std::string& text, const std::string& mark) {
  const auto begin = text.find(mark);
  if (begin == text.npos) return "exit 99";
  auto end = text.find('\n', begin);
  while (end != text.npos && text[end - 1] == '\\') end = text.find('\n', end + 1);
  return text.substr(begin + mark.size(), end - begin - mark.size());
}

}  // namespace

TEST_F(HostileText, APastedReproduceLineRunsOpbenchAlone) {
  write("sp ace/$(touch hit).yaml", R"(
contexts:
  - name: a.b
    inputs: {x: {shape: [1, 16, 8, 8]}}
    nodes: [{op: relu, in: x, out: y}]
    outputs: [y]
)");
  const Outcome first =
      run("--cases 'sp ace/$(touch hit).yaml' --time 0.001 --repetitions 1 -q --json x.json");
  ASSERT_EQ(first.code, 0) << first.err;
  const std::string line = nlohmann::json::parse(read("x.json"))["records"][0]["reproduce"];
  EXPECT_THAT(line, HasSubstr(R"(--cases 'sp ace/$(touch hit).yaml' --filter '^a\.b$')"));
  const Outcome again = paste(line + " --time 0.001 --repetitions 1");
  EXPECT_EQ(again.code, 0) << line << again.err;
  EXPECT_THAT(again.out, HasSubstr("1 case, 1 result: 1 passed."));
  EXPECT_FALSE(fs::exists(path("hit")));
}

// The other build has its own case, so the next line runs that build.
TEST_F(HostileText, APastedNextLineRunsOneProgramAlone) {
  script("b;$(touch hit)", R"(echo "$@" >> calls; read -r line
echo '{"cases":[{"case":"relu[1]","key":"relu[1]`touch hit`","name":"","count":1,"variants":[]}]}'
cat)");
  const Outcome ran = run("check -q --against './b;$(touch hit)' --case 'relu[64]' --threads 1");
  EXPECT_EQ(ran.code, 1) << ran.out << ran.err;
  paste(line_after(ran.out, "next: ") + " < /dev/null");
  EXPECT_FALSE(fs::exists(path("hit"))) << ran.out;
  EXPECT_THAT(read("calls"), HasSubstr("--case relu[1]`touch hit` --threads 1"));
}

TEST_F(HostileText, NamesOfACaseFileAreEscapedWhereverTheyAreShown) {
  write("c.yaml", "cases:\n  - {name: \"" + kHostile +
                      "\", op: relu, inputs: [[64]], variants: [native]}\n"
                      "contexts:\n  - name: unit\n"
                      "    inputs: {x: {shape: [1, 16, 8, 8]}}\n"
                      "    nodes: [{op: relu, in: x, out: y}]\n    outputs: [y]\n"
                      "    steps: [{name: none, not_applicable: \"" +
                      kHostile + "\"}]\n");
  const std::string name = R"(\x1b[31mred\x0a::error::line\x0a  \x3a:add-mask::x\x23#[error]y)";
  const Outcome ran = run("--cases c.yaml --time 0.001 --repetitions 1 -v --markdown c.md");
  EXPECT_EQ(ran.code, 0) << ran.err;
  EXPECT_THAT(ran.out, HasSubstr("(" + name + R"(\x23#vso[z]\u009b31m\u202eback x1, )"));
  for (const char* args : {"--cases c.yaml --dry-run", "--cases c.yaml --explain"}) {
    expect_harmless(run(args).out);
  }
  expect_harmless(ran.out + ran.err + read("c.md"));
  write("bad.yaml", "cases: [{op: \"" + kHostile + "\"}]\n");
  expect_harmless(run("--cases bad.yaml").err);
}

TEST_F(HostileText, WhatTheOtherBuildSaysIsEscaped) {
  const std::string one = R"({"case":"relu[1]","key":")" + kHostile + R"(","name":")" + kHostile +
                          R"(","count":1,"variants":[]})";
  script("base", "read -r line\nprintf '%s\\n' '{\"cases\":[" + one + "]}'\ncat\n");
  script("refuses",
         "while read -r line; do printf '%s\\n' '{\"error\":\"" + kHostile + "\"}'; done\n");
  script("talks", "printf '\\033[31m\\n::error::x\\377\\n' >&2; exit 1\n");
  for (const char* base : {"base", "refuses", "talks"}) {
    SCOPED_TRACE(base);
    const Outcome ran = run(std::string("check -v --against ./") + base +
                                " --case 'relu[64]' --variant native --threads 1 --sample 1 "
                                "--markdown c.md",
                            "GITHUB_ACTIONS=true");
    EXPECT_NE(ran.code, 0);
    expect_harmless(ran.out, {"::error title=", "::warning title=opbench::"});
    expect_harmless(ran.err + read("c.md"));
  }
}

TEST_F(HostileText, ArgumentsAreEscapedInMessages) {
  const std::string bad = "\x1b[31m\n::error::x\xff\u202e";
  const std::vector<std::vector<std::string>> commands = {
      {bad},
      {"--" + bad},
      {"--cases", bad},
      {"--case", "relu[" + bad + "]"},
      {"report", bad},
      {"check", "--against", bad, "--case", "relu[1]"}};
  for (const auto& args : commands) {
    const Outcome ran = run_program(args);
    EXPECT_EQ(ran.code, 2) << args.front();
    expect_harmless(ran.out + ran.err);
    EXPECT_EQ(std::count(ran.err.begin(), ran.err.end(), '\n'), 1) << ran.err;
  }
}

// The message holds both ends of the wrong argument, not all 100 KB.
TEST_F(HostileText, LongArgumentsAreCutInMessages) {
  const std::string word(100000, 'x');
  const std::vector<std::vector<std::string>> commands = {
      {word},
      {"--" + word},
      {"--cases", word},
      {"--case", word + "[1]"},
      {"report", word},
      {"compare", word, word},
      {"check", "--against", word, "--case", "relu[1]"}};
  for (const auto& args : commands) {
    const Outcome ran = run_program(args);
    EXPECT_EQ(ran.code, 2) << args.front().substr(0, 20);
    EXPECT_LT(ran.err.size(), 5000u) << "compare has a line of progress, too";
    EXPECT_THAT(ran.err, HasSubstr("x ... "));
  }
}

}  // namespace opbench
