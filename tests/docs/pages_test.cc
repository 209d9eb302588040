// Tests the pages of the root and of docs/. Every link must have a target, every command must have
// the flags on the page, and every run and case file on a page must be plannable.
#include <gmock/gmock.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <regex>
#include <string>
#include <vector>

#include "cli/cli.h"
#include "judge/standards.h"
#include "tensor/processor.h"
#include "tests/docs/page_blocks.h"
#include "tests/support/program.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::SizeIs;

const fs::path kRoot = source_file("");
const std::vector<std::string> kCommands = {
    "run",    "list",   "compare", "judge",  "minimise", "opmap",  "show",  "overflow",  "ingest",
    "remedy", "script", "convert", "report", "merge",    "doctor", "check", "invariance"};

std::vector<fs::path> pages() {
  std::vector<fs::path> result = {kRoot / "results/README.md"};
  for (const char* page :
       {"README.md", "AGENTS.md", "CHANGELOG.md", "CONTRIBUTING.md", "SECURITY.md"}) {
    result.push_back(kRoot / page);
  }
  for (const auto& entry : fs::directory_iterator(kRoot / "docs")) result.push_back(entry.path());
  return result;
}

std::vector<std::string> matches(const std::string& text, const char* pattern) {
  const std::regex regex(pattern);
  std::vector<std::string> result;
  for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match) {
    result.push_back((*match)[1]);
  }
  return result;
}

/// The anchor that GitHub gives to a heading: lower case, hyphens for spaces, no punctuation.
std::string anchor_of(const std::string& heading) {
  std::string result;
  for (const char letter : heading) {
    if (letter == ' ') result += '-';
    if (std::isalnum(static_cast<unsigned char>(letter)) != 0 || letter == '_' || letter == '-') {
      result += static_cast<char>(std::tolower(static_cast<unsigned char>(letter)));
    }
  }
  return result;
}

std::vector<std::string> anchors_of(const fs::path& page) {
  std::vector<std::string> result;
  for (const std::string& heading : matches(text_of(page), "\n#+ ([^\n]+)")) {
    result.push_back(anchor_of(heading));
  }
  return result;
}

TEST(Pages, LinksLeadSomewhere) {
  int links = 0;
  for (const fs::path& page : pages()) {
    for (const std::string& target : matches(text_of(page), R"(\]\(([^)\s]+)\))")) {
      if (target.starts_with("http")) continue;
      SCOPED_TRACE(page.string() + ": " + target);
      const std::size_t hash = std::min(target.find('#'), target.size());
      const fs::path file = hash == 0 ? page : page.parent_path() / target.substr(0, hash);
      EXPECT_TRUE(fs::exists(file));
      if (hash < target.size()) {
        EXPECT_THAT(anchors_of(file), Contains(target.substr(hash + 1)));
      }
      ++links;
    }
  }
  EXPECT_GE(links, 50);
}

/// Words as a shell splits them, with single quotes, and comments from " #" on.
std::vector<std::string> words_of(const std::string& line) {
  std::vector<std::string> words;
  std::string word;
  bool is_quoted = false, has_word = false;
  for (const char letter : line + ' ') {
    if (letter == '\'') {
      is_quoted = !is_quoted;
      has_word = true;
    } else if (letter == ' ' && !is_quoted) {
      if (has_word) words.push_back(word);
      word.clear();
      has_word = false;
    } else if (letter == '#' && !has_word && !is_quoted) {
      break;
    } else {
      word += letter;
      has_word = true;
    }
  }
  return words;
}

TEST(Pages, WordsAreCutAsAShellDoes) {
  EXPECT_THAT(words_of("opbench --case 'relu[8 x,b]' -q   # a comment"),
              ElementsAre("opbench", "--case", "relu[8 x,b]", "-q"));
  EXPECT_THAT(words_of("a '' b#c"), ElementsAre("a", "", "b#c"));
}

/// Every `opbench ...` of a page, in shell blocks and spans of code, without the name.
std::vector<std::vector<std::string>> command_lines(const std::string& text) {
  std::vector<std::string> lines = matches(text, "`opbench ([^`]*)`");
  for (const std::string& block : page_blocks(text, "sh")) {
    const std::string joined = std::regex_replace(block, std::regex(R"(\\\n)"), " ");
    for (const std::string& line : matches("\n" + joined, "\nopbench ([^\n|]*)")) {
      lines.push_back(line);
    }
  }
  std::vector<std::vector<std::string>> result;
  for (const std::string& line : lines) result.push_back(words_of(line));
  return result;
}

std::vector<std::string> flags_not_in_help(const std::string& command,
                                           const std::vector<std::string>& words) {
  const std::string help = opbench_with({command, "--help-all"}).out;
  std::vector<std::string> unknown;
  for (const std::string& word : words) {
    if (word.size() < 2 || word[0] != '-' || std::isdigit(word[1]) != 0) continue;
    const std::string flag = word.substr(0, word.find('='));
    if (!std::regex_search(help, std::regex("(^|[ ,])" + flag + "([ ,).]|\n|$)"))) {
      unknown.push_back(flag);
    }
  }
  return unknown;
}

/// The plan of a run, which writes no file. Case files are those of the repository.
Outcome planned(std::vector<std::string> words) {
  const auto dot = std::find(words.begin(), words.end(), "--dot");
  if (dot != words.end()) words.erase(dot, dot + 2);
  for (std::string& word : words) {
    if (word.starts_with("cases/")) word = (kRoot / word).string();
  }
  std::replace(words.begin(), words.end(), std::string("avx2"), current_isa());  // or Arm's
  words.emplace_back("--dry-run");
  return opbench_with(words);
}

// A line that stands for several lines, such as `opbench COMMAND --help`.
bool is_pattern(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word.find("...") != std::string::npos || word == "COMMAND" || word == "OP" ||
           word == "FILE";
  });
}

// Planning starts the guests.
bool has_guests(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "--kernels" || word == "--device";
  });
}

bool is_a_run(const std::vector<std::string>& words) {
  return std::any_of(words.begin(), words.end(), [](const std::string& word) {
    return word == "--op" || word == "--cases" || word == "--case";
  });
}

TEST(Pages, CommandsHaveTheirFlagsAndCanBePlanned) {
  int lines = 0, plans = 0;
  for (const fs::path& page : pages()) {
    for (std::vector<std::string> words : command_lines(text_of(page))) {
      SCOPED_TRACE(page.string() + ": opbench " + testing::PrintToString(words));
      ++lines;
      if (words.empty() || words[0] == "COMMAND") continue;
      if (words[0] == "--help" || words[0] == "--version") continue;
      if (words[0].starts_with("-")) words.insert(words.begin(), "run");
      EXPECT_THAT(kCommands, Contains(words[0]));
      EXPECT_THAT(flags_not_in_help(words[0], words), IsEmpty());
      if (is_pattern(words)) continue;
      if (words[0] == "list") {
        EXPECT_EQ(opbench_with(words).code, 0);
      }
      if (words[0] != "run" || !is_a_run(words) || has_guests(words)) continue;
      const Outcome outcome = planned(words);
      EXPECT_EQ(outcome.code, 0) << outcome.err;
      ++plans;
    }
  }
  EXPECT_GE(lines, 80);
  EXPECT_GE(plans, 30);
}

TEST(Pages, AFlagOrACaseThatDoesNotExistIsFound) {
  EXPECT_THAT(flags_not_in_help("run", {"run", "--theads", "2", "--csv=a"}),
              ElementsAre("--theads"));
  EXPECT_NE(planned({"run", "--case", "soft[8,fp32,NCHW]"}).code, 0);
  EXPECT_NE(planned({"run", "--cases", "cases/resnet50.yaml"}).code, 0);
}

class CaseFileOfAPage : public testing::TestWithParam<const char*> {};

TEST_P(CaseFileOfAPage, CanBePlanned) {
  const std::vector<std::string> files = page_blocks(text_of(kRoot / GetParam()), "yaml");
  ASSERT_THAT(files, SizeIs(1));
  const TempDir directory;
  const Outcome outcome = planned({"run", "--cases", directory.write("page.yaml", files[0])});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
}
INSTANTIATE_TEST_SUITE_P(Pages, CaseFileOfAPage,
                         testing::Values("README.md", "docs/case-files.md", "docs/contexts.md"));

TEST(Pages, TheStandardsOfTheAccuracyPageCanBeRead) {
  const std::vector<std::string> files = page_blocks(text_of(kRoot / "docs/accuracy.md"), "yaml");
  ASSERT_THAT(files, SizeIs(1));
  EXPECT_THAT(parse_standards(files[0], "docs/accuracy.md").rules, SizeIs(2));
}

TEST(Pages, TheReadmeCanBeReadInTenMinutes) {
  const std::string text = text_of(kRoot / "README.md");
  EXPECT_LT(std::count(text.begin(), text.end(), '\n'), 350);
}

}  // namespace
}  // namespace opbench
