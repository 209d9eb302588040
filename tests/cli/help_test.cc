// Tests the groups of --help, the common flags of a command and --help-all.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <regex>
#include <set>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "tests/support/program.h"

namespace opbench {
namespace {

using testing::AnyOf;
using testing::ContainerEq;
using testing::HasSubstr;

/// Everything that the pattern's first group takes, in order.
std::vector<std::string> found_in(const std::string& text, const std::string& pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> found;
  for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match) {
    found.push_back((*match)[1]);
  }
  return found;
}

std::string help_of(const std::string& command, const std::string& flag) {
  const Outcome outcome = opbench_with({command, flag});
  EXPECT_EQ(outcome.code, kAllWell) << outcome.err;
  return outcome.out;
}

/// Long flags in the order of a help text.
std::vector<std::string> flags_in_help(const std::string& help) {
  return found_in(help, "\n  (?:-[a-z],)?(--[a-z_-]+)");
}

/// The commands in the order of the program's help.
std::vector<std::string> commands() {
  return found_in(opbench_with({"--help"}).out, "\n  ([a-z]+)  +[A-Z]");
}

/// Long flags of a command in the manual.
std::set<std::string> flags_in_manual(const std::string& command) {
  const std::string manual = opbench_with({"__generate", "man"}).out;
  const std::string title = command == "run" ? "[run]" : command;
  const std::size_t begin = manual.find(fmt::format(".SS \"opbench {} ", title));
  if (begin == manual.npos) return {};
  const std::size_t end = manual.find("\n.S", begin);
  std::set<std::string> flags;
  for (const std::string& flag :
       found_in(manual.substr(begin, end - begin), R"(\\fB(\\-\\-[^\n ,]+)\\fR)")) {
    flags.insert(std::regex_replace(flag, std::regex(R"(\\-)"), "-"));
  }
  return flags;
}

}  // namespace

TEST(Help, GroupsTheCommandsByQuestion) {
  const std::string help = opbench_with({"--help"}).out;
  std::size_t last = 0;
  for (const char* text :
       {"\nMeasure: ",  "\n  run ",       "\n  list ",     "\n  check ",   "\n  doctor ",
        "\n  remedy ",  "\n  script ",    "\nCompare: ",   "\n  compare ", "\n  judge ",
        "\n  show ",    "\n  minimise ",  "\n  overflow ", "\n  convert ", "\n  opmap ",
        "\nProfiles: ", "\n  ingest ",    "\nReports: ",   "\n  report ",  "\n  merge ",
        "\nTrust: ",    "\n  invariance "}) {
    const std::size_t at = help.find(text);
    ASSERT_NE(at, help.npos) << text;
    EXPECT_GT(at, last) << text;
    last = at;
  }
  EXPECT_EQ(commands().size(), 17u) << help;
  EXPECT_EQ(found_in(help, "\n  (Example: opbench )").size(), 5u) << help;
}

TEST(Help, EveryCommandTakesOneLine) {
  const std::string help = opbench_with({"--help"}).out;
  const std::size_t begin = help.find("\nMeasure: "), end = help.find("`run` is the default");
  ASSERT_NE(end, help.npos);
  EXPECT_THAT(found_in(help.substr(begin, end - begin), "\n(   +[^\n]*)"), testing::IsEmpty())
      << "lines that continue another";
}

TEST(Help, ShowsTheCommonFlagsAndNamesTheRest) {
  const std::string help = help_of("run", "--help");
  const std::vector<std::string> shown = flags_in_help(help);
  EXPECT_LT(shown.size(), 16u);
  EXPECT_EQ(shown.front(), "--op");
  const std::vector<std::string> all = flags_in_help(help_of("run", "--help-all"));
  // The two flags that print help are not counted.
  EXPECT_THAT(help, HasSubstr(fmt::format("\n{} more flags: opbench run --help-all\n",
                                          all.size() - shown.size() - 2)));
  EXPECT_THAT(help, HasSubstr("Examples:"));
}

TEST(Help, IsShortForEveryCommand) {
  for (const std::string& command : commands()) {
    SCOPED_TRACE(command);
    const std::string help = help_of(command, "--help");
    EXPECT_LT(flags_in_help(help).size(), 16u);
    EXPECT_THAT(help, AnyOf(HasSubstr("--help-all"), HasSubstr("\n  -h,--help")));
    if (help.find("--help-all") == help.npos) {
      EXPECT_EQ(help_of(command, "--help-all"), help);
    }
  }
}

TEST(Help, AllFlagsAreThoseOfTheManual) {
  for (const std::string& command : commands()) {
    SCOPED_TRACE(command);
    const std::vector<std::string> listed = flags_in_help(help_of(command, "--help-all"));
    EXPECT_THAT(std::set<std::string>(listed.begin(), listed.end()),
                ContainerEq(flags_in_manual(command)));
  }
}

}  // namespace opbench
