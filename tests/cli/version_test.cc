// Tests `opbench --version`, which distinguishes two builds. Every file that states the version of
// opbench states this version.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>
#include <regex>
#include <sstream>
#include <string>

#include "cli/cli.h"
#include "harness/run/machine.h"
#include "tests/support/program.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

/// The version that follows `mark` in `text`; empty if the mark is missing.
std::string version_after(const std::string& text, const std::string& mark) {
  const std::size_t at = text.find(mark);
  if (at == text.npos) return "";
  const std::size_t begin = at + mark.size();
  return text.substr(begin, text.find_first_not_of("0123456789.", begin) - begin);
}

std::string version_of_program() { return version_after(opbench_with({"-V"}).out, "opbench "); }

std::string version_in_source(const std::string& file, const std::string& mark) {
  return version_after(text_of(source_file(file)), mark);
}

}  // namespace

TEST(Version, TellsRevisionCompilerVectorsAndLibraries) {
  std::ostringstream out, err;
  ASSERT_EQ(run_cli({"--version"}, out, err), kAllWell) << err.str();
  const std::string text = out.str();
  const Machine m = describe_machine();
  EXPECT_THAT(text, testing::StartsWith(fmt::format("opbench {} ({}), {}, {}\nflags ", m.version,
                                                    m.revision, m.compiler, m.build_type)));
  EXPECT_THAT(text, testing::HasSubstr(fmt::format("\nvectors {} (of {}", m.isa, m.isas.front())));
  for (const char* library : {"Eigen", "Highway", "oneTBB", "HDF5", "Google Benchmark", "yaml-cpp",
                              "nlohmann-json", "CLI11", "fmt"}) {
    EXPECT_TRUE(std::regex_search(text, std::regex(fmt::format("\n{} [0-9]+\\.[0-9]+", library))))
        << library << " in\n"
        << text;
  }
}

// The results file has the same information as the program.
TEST(Version, ResultsNameTheSameLibraries) {
  std::ostringstream out, err;
  ASSERT_EQ(run_cli({"--version"}, out, err), kAllWell) << err.str();
  for (const auto& [library, version] : describe_machine().libraries) {
    EXPECT_THAT(out.str(), testing::HasSubstr(fmt::format("\n{} {}\n", library, version)));
  }
}

TEST(Version, SourcesAgree) {
  const std::string version = version_of_program();
  ASSERT_NE(version, "");
  EXPECT_EQ(version_in_source("CMakeLists.txt", "\nproject(opbench VERSION "), version);
  EXPECT_EQ(version_in_source("CHANGELOG.md", "\n## ["), version) << "the newest heading";
  EXPECT_EQ(version_in_source("python/pyproject.toml", "\nversion = \""), version);
  EXPECT_EQ(version_in_source("python/opbench_torch/__init__.py", "\n__version__ = \""), version);
}

TEST(Version, TheManualAndTheCMakePackageAgree) {
  const std::string version = version_of_program();
  const std::string manual = opbench_with({"__generate", "man"}).out;
  EXPECT_EQ(version_after(manual, ".TH OPBENCH 1 \"\" \"opbench "), version);
  const std::filesystem::path build = std::filesystem::path(program()).parent_path();
  const std::string package = text_of(build / "opbench-config-version.cmake");
  EXPECT_EQ(version_after(package, "\nset(PACKAGE_VERSION \""), version);
}

}  // namespace opbench
