// docs/api.md: every public header has a section, which names exactly what the header declares.
#include <gmock/gmock.h>

#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>

#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::ContainerEq;
using Names = std::set<std::string>;

void add_matches(const std::string& text, const char* pattern, Names& names) {
  const std::regex regex(pattern);
  for (std::sregex_iterator match(text.begin(), text.end(), regex), end; match != end; ++match) {
    for (std::size_t i = 1; i < match->size(); ++i) {
      if ((*match)[i].matched) names.insert((*match)[i]);
    }
  }
}

/// The text of a header's namespace without inner namespaces, which are not public.
std::string public_text(const std::string& header) {
  std::istringstream lines(text_of(source_file(header)));
  std::string text;
  bool is_public = false;
  for (std::string line; std::getline(lines, line);) {
    const bool is_ours = line == "namespace opbench {" || line == "namespace HWY_NAMESPACE {" ||
                         line == "namespace opbench::plugin {";
    if (line.starts_with("namespace ") && line.ends_with(" {")) is_public = is_ours;
    if (line.starts_with("}  // namespace") || line == "extern \"C\" {") is_public = true;
    if (is_public) text += '\n' + line;
  }
  return text;
}

/// The names of a header's declarations, which begin in the first column.
Names declared_in(const std::string& header) {
  const std::string text = public_text(header);
  Names names;
  add_matches(text, R"(\n(?:struct|class|enum class) (\w+)|\nusing (\w+) =)", names);
  add_matches(text, R"(\ninline const(?:expr)? [^=(\n]*?(\w+)(?: =|\[))", names);
  add_matches(text, R"(\n(?:\[\[nodiscard\]\] )?[A-Za-z][\w:<>,&*\[\] ]*?[ *&](\w+)\()", names);
  // Headers in C have typedefs, numbers and constants.
  add_matches(text, R"(\n\} (\w+);|\n#define (\w+) \d)", names);
  add_matches(text, R"([{,] (OPBENCH_\w+))", names);
  return names;
}

/// The names of a public header: its own, else those of the headers that it collects.
Names public_names(const std::string& header) {
  Names names = declared_in(header);
  if (!names.empty()) return names;
  Names included;
  add_matches(text_of(source_file(header)), "\n#include \"([^\"]+)\"", included);
  for (const std::string& one : included) {
    if (!one.starts_with("opbench/")) names.merge(declared_in(one));
  }
  return names;
}

/// The names in the first column of each section's table, by the header of the section.
std::map<std::string, Names> sections_of_page() {
  std::map<std::string, Names> sections;
  std::istringstream lines(text_of(source_file("docs/api.md")));
  std::string header;
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("## `<")) {
      header = line.substr(5, line.find('>') - 5);
      sections[header];
    } else if (line.starts_with("| `")) {
      add_matches(line.substr(0, line.find(" | ")), "`(\\w+)`", sections[header]);
    }
  }
  return sections;
}

Names public_headers() {
  Names headers = {"opbench/testing.h"};
  for (const auto& entry : fs::directory_iterator(source_file("opbench"))) {
    if (entry.path().extension() == ".h")
      headers.insert("opbench/" + entry.path().filename().string());
  }
  return headers;
}

}  // namespace

TEST(ApiPage, HasEveryPublicHeaderWithItsNames) {
  const auto sections = sections_of_page();
  Names named;
  for (const auto& [header, names] : sections) named.insert(header);
  EXPECT_THAT(named, ContainerEq(public_headers()));
  for (const auto& [header, names] : sections) {
    const bool is_of_tests = header == "opbench/testing.h";
    EXPECT_THAT(names, ContainerEq(public_names(is_of_tests ? "tests/testing.h" : header)))
        << header;
  }
}

TEST(ApiPage, DeclarationsOfEveryKindAreFound) {
  EXPECT_THAT(
      declared_in("opbench/run.h"),
      testing::ElementsAre("FunctionOptions", "FunctionTiming", "run_program", "time_function"));
  EXPECT_THAT(declared_in("tensor/dtype.h"),
              testing::IsSupersetOf({"DType", "kAllDTypes", "at", "visit_width"}));
}

}  // namespace opbench
