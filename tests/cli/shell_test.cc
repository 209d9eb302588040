// Tests completion and the manual: they contain every flag of every command, and shells accept
// them.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <regex>
#include <sstream>

#include "cli/cli.h"
#include "tensor/processor.h"
#include "tests/support/program.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

const std::vector<std::string> kCommands = {
    "run",      "list",     "check",   "doctor", "remedy", "script", "compare", "judge",     "show",
    "minimise", "overflow", "convert", "opmap",  "ingest", "report", "merge",   "invariance"};

std::string output_of(std::vector<std::string> args) {
  const Outcome outcome = opbench_with(std::move(args));
  EXPECT_EQ(outcome.code, kAllWell) << outcome.err;
  return outcome.out;
}

/// The output of a shell command on both streams.
std::string printed_by(const std::string& command) { return shell(command + " 2>&1").out; }

std::string quoted(const std::string& word) { return fmt::format("'{}'", word); }

/// All long flags of a command.
std::vector<std::string> flags_of(const std::string& command) {
  const std::string help = output_of({command, "--help-all"});
  const std::regex pattern("\n  (?:-[a-z],)?(--[a-z_-]+)");
  std::vector<std::string> flags;
  for (std::sregex_iterator match(help.begin(), help.end(), pattern), end; match != end; ++match) {
    flags.push_back((*match)[1]);
  }
  EXPECT_THAT(flags, Contains("--help"));
  return flags;
}

std::vector<std::string> lines_of(const std::string& text) {
  std::istringstream in(text);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) {
    if (!line.empty()) lines.push_back(line);
  }
  return lines;
}

/// The text from the first `begin` to the next `end`.
std::string between(const std::string& text, const std::string& begin, const std::string& end) {
  const std::size_t first = text.find(begin);
  if (first == std::string::npos) return {};
  return text.substr(first, text.find(end, first + begin.size()) - first);
}

class Shell : public testing::Test, protected TempDir {
 protected:
  Shell() {
    std::filesystem::create_directory(path("a folder"));
    write("one case.yaml", "x");
  }

  /// bash's completions of the last word.
  std::vector<std::string> completed(const std::vector<std::string>& words) const {
    const std::string completion = write("opbench.bash", output_of({"__generate", "bash"}));
    std::string line;
    for (const std::string& word : words) line += fmt::format(" {}", quoted(word));
    const std::string script = fmt::format(
        "cd {}\n. {}\nCOMP_WORDS=({}{})\nCOMP_CWORD={}\n_opbench\n"
        "printf '%s\\n' \"${{COMPREPLY[@]}}\"\n",
        quoted(directory()), quoted(completion), quoted(program()), line, words.size());
    return lines_of(printed_by(fmt::format("bash {}", quoted(write("complete.bash", script)))));
  }

  /// fish's completions of a line after the program's name.
  std::vector<std::string> completed_by_fish(const std::string& line) const {
    const std::string script = fmt::format(
        "cd {}\nsource {}\ncomplete -C \"{} {}\"\n", quoted(directory()),
        quoted(write("opbench.fish", output_of({"__generate", "fish"}))), program(), line);
    return lines_of(printed_by("fish -N " + quoted(write("complete.fish", script))));
  }

  /// The completions that the script passes to zsh's functions, for the last word.
  std::vector<std::string> handed_to_zsh(const std::string& words, const std::string& last) const {
    const std::string script = fmt::format(
        "_describe() {{ print -rl -- ${{(M)found:#$PREFIX*}} ${{argv[3,-1]}} }}\n"
        "_files() {{ print files $* }}\ncompset() {{ PREFIX=${{PREFIX#*=}} }}\n"
        "words=({} {} {}) CURRENT=$#words PREFIX={}\n. {}\n",
        quoted(program()), words, quoted(last), quoted(last),
        quoted(write("_opbench", output_of({"__generate", "zsh"}))));
    return lines_of(printed_by("zsh -f " + quoted(write("complete.zsh", script))));
  }
};

}  // namespace

TEST_F(Shell, EveryFlagOfEveryCommandIsThere) {
  const std::string man = output_of({"__generate", "man"});
  for (const std::string& command : kCommands) {
    SCOPED_TRACE(command);
    const std::string offered = output_of({"__complete", command, "-"});
    const std::string title = command == "run" ? "[run]" : command;
    const std::string in_man = between(man, fmt::format(".SS \"opbench {}", title), "\n.S");
    for (const std::string& flag : flags_of(command)) {
      EXPECT_THAT(offered, HasSubstr(fmt::format("\n{}\t", flag)));
      const std::string escaped = std::regex_replace(flag, std::regex("-"), "\\-");
      EXPECT_THAT(in_man, HasSubstr(fmt::format("\\fB{}\\fR", escaped)));
    }
  }
}

TEST_F(Shell, BashCompletesCommandsAndFlags) {
  EXPECT_EQ(printed_by("bash -n " + quoted(write("x", output_of({"__generate", "bash"})))), "");
  EXPECT_EQ(completed({""}), kCommands);
  EXPECT_THAT(completed({"rep"}), ElementsAre("report"));
  EXPECT_EQ(completed({"help", ""}), kCommands);
  EXPECT_THAT(completed({"help", "rep"}), ElementsAre("report"));
  EXPECT_THAT(completed({"help", "report", ""}), ElementsAre());
  EXPECT_THAT(completed({"__"}), ElementsAre());
  EXPECT_THAT(completed({"--ju"}), ElementsAre("--junit"));
  EXPECT_THAT(completed({"--vers"}), ElementsAre("--version"));
  EXPECT_THAT(completed({"run", "--ju"}), ElementsAre("--junit"));
  EXPECT_THAT(completed({"report", "--ju"}), ElementsAre());
  EXPECT_THAT(completed({"--op", "relu", "--benchm"}), ElementsAre("--benchmark-json"));
  EXPECT_THAT(completed({"doctor", ""}), ElementsAre());
}

TEST_F(Shell, BashCompletesValues) {
  EXPECT_THAT(completed({"--op", "softp"}), AllOf(Contains("softplus"), Contains("softplus_grad")));
  EXPECT_THAT(completed({"--op", "relu,axp"}), ElementsAre("relu,axpy"));
  EXPECT_THAT(completed({"--dtype", "bf"}), ElementsAre("bf16"));
  EXPECT_THAT(completed({"--dtype", "=", "bf"}), ElementsAre("bf16"));
  EXPECT_THAT(completed({"--format", "NC1"}), ElementsAre("NC1HWC0"));
  EXPECT_THAT(completed({"--variant", "softplus_v2_s"}), ElementsAre("softplus_v2_static"));
  EXPECT_THAT(completed({"report", "--to", "=", "ju"}), ElementsAre("junit"));
  EXPECT_THAT(completed({"report", "--to", "ma"}), ElementsAre("markdown"));
  EXPECT_THAT(completed({"list", "axp"}), ElementsAre("axpy"));
  const std::string isa = supported_isas().back();
  EXPECT_THAT(completed({"--isa", isa.substr(0, 3)}), ElementsAre(isa));
  EXPECT_THAT(completed({"compare", "--standard", "stat"}), ElementsAre("statistical"));
  EXPECT_THAT(completed({"list", "relu", "axp"}), ElementsAre("axpy"));
  EXPECT_THAT(completed({"--filter", ""}), ElementsAre());
  EXPECT_THAT(completed({"--op", "$(touch made),axp"}), ElementsAre("$(touch made),axpy"));
  EXPECT_FALSE(std::filesystem::exists(path("made"))) << "what was typed is run";
}

TEST_F(Shell, BashCompletesFiles) {
  EXPECT_THAT(completed({"--shapes", "one"}), ElementsAre("one case.yaml"));
  EXPECT_THAT(completed({"--cases", "one case.yaml", "one"}), ElementsAre("one case.yaml"));
  EXPECT_THAT(completed({"--out", "a"}), ElementsAre("a folder"));
  EXPECT_THAT(completed({"report", "one"}), ElementsAre("one case.yaml"));
  EXPECT_THAT(completed({"report", "x.json", "--quiet", "one"}), ElementsAre("one case.yaml"));
  EXPECT_THAT(completed({"compare", "one"}), ElementsAre("one case.yaml"));
  EXPECT_THAT(completed({"compare", "x.h5", "one"}), ElementsAre("one case.yaml"));
  EXPECT_THAT(completed({"check", "--against", "one"}), ElementsAre("one case.yaml"));
}

TEST_F(Shell, BashCompletesVariantsOfTheOperatorsNamed) {
  EXPECT_THAT(completed({"--op", "relu", "--variant", ""}),
              AllOf(Contains("native"), Contains("relu"), Contains("reference"),
                    Not(Contains("softplus_v2"))));
  EXPECT_THAT(completed({"run", "--op", "=", "relu,softplus", "--variant", "native,softplus_v2_"}),
              ElementsAre("native,softplus_v2_static"));
  EXPECT_THAT(completed({"--case", "relu[64,fp32]", "--variant", "softplus"}), ElementsAre());
  EXPECT_THAT(completed({"--variant", "softplus_v2_s"}), ElementsAre("softplus_v2_static"));
}

TEST_F(Shell, ZshCompletes) {
  if (!has_command("zsh")) GTEST_SKIP() << "no zsh";
  EXPECT_THAT(handed_to_zsh("", "rep"), ElementsAre(StartsWith("report:Show stored results")));
  EXPECT_THAT(handed_to_zsh("run", "--ju"),
              ElementsAre(StartsWith("--junit:JUnit XML for CI\\: ")));
  EXPECT_THAT(handed_to_zsh("", "--op=relu,axp"), ElementsAre("relu,axpy", "-S"));
  EXPECT_THAT(handed_to_zsh("--case 'relu[64,fp32]' --variant", "softplus"), ElementsAre("-S"));
  EXPECT_THAT(handed_to_zsh("report --to", "ma"), ElementsAre("markdown"));
  EXPECT_THAT(handed_to_zsh("--shapes", "one"), ElementsAre("files"));
  EXPECT_THAT(handed_to_zsh("--out", "a"), ElementsAre("files -/"));
}

TEST_F(Shell, FishCompletes) {
  if (!has_command("fish")) GTEST_SKIP() << "no fish";
  EXPECT_THAT(completed_by_fish("rep"), ElementsAre(StartsWith("report\tShow stored results")));
  EXPECT_THAT(completed_by_fish("run --ju"), ElementsAre(StartsWith("--junit\t")));
  EXPECT_THAT(completed_by_fish("--op=relu,axp"), ElementsAre("--op=relu,axpy"));
  EXPECT_THAT(completed_by_fish("--op relu --variant softplus"), ElementsAre());
  EXPECT_THAT(completed_by_fish("report --to ma"), ElementsAre("markdown"));
  EXPECT_THAT(completed_by_fish("--shapes one"), ElementsAre("one case.yaml"));
  EXPECT_THAT(completed_by_fish("--out a"), ElementsAre(StartsWith("a folder/")));
}

TEST_F(Shell, ManualHasItsParts) {
  const std::string man = output_of({"__generate", "man"});
  EXPECT_THAT(man, HasSubstr(".TH OPBENCH 1 "));
  for (const char* part : {"NAME", "SYNOPSIS", "DESCRIPTION", "COMMANDS", "ENVIRONMENT"}) {
    EXPECT_THAT(man, HasSubstr(std::string("\n.SH ") + part + "\n"));
  }
  EXPECT_THAT(man, HasSubstr("\n.SS \"opbench report [\\fIoptions\\fP] [\\fIFILE\\fP...]\"\n"));
  EXPECT_THAT(man, HasSubstr("Exit codes: 0 all well"));
  EXPECT_THAT(man, HasSubstr("(default 9)")) << "--repetitions";
  EXPECT_THAT(man, Not(HasSubstr("__generate")));
}

TEST_F(Shell, TroffUnderstandsTheManual) {
  const std::string page = quoted(write("opbench.1", output_of({"__generate", "man"})));
  if (has_command("groff")) {
    EXPECT_EQ(printed_by("groff -man -ww -Tutf8 " + page + " 2>&1 >/dev/null"), "");
  } else if (has_command("mandoc")) {
    EXPECT_EQ(printed_by("mandoc -T lint -W error " + page), "");
  } else {
    GTEST_SKIP() << "neither groff nor mandoc";
  }
}

TEST_F(Shell, GeneratorIsHiddenAndStrict) {
  EXPECT_THAT(output_of({"--help"}), Not(HasSubstr("__generate")));
  std::ostringstream out, err;
  EXPECT_EQ(run_cli({"__generate", "powershell"}, out, err), kBadInput);
  EXPECT_EQ(err.str(), "opbench: cannot generate 'powershell'; allowed: bash, zsh, fish, man\n");
}

}  // namespace opbench
