// `opbench --version`: all that is needed to tell two builds apart.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <regex>
#include <sstream>

#include "cli/cli.h"
#include "harness/run/machine.h"

namespace opbench {

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

// As the results file has it, so that its reader knows no less than who asks the program.
TEST(Version, ResultsNameTheSameLibraries) {
  std::ostringstream out, err;
  ASSERT_EQ(run_cli({"--version"}, out, err), kAllWell) << err.str();
  for (const auto& [library, version] : describe_machine().libraries) {
    EXPECT_THAT(out.str(), testing::HasSubstr(fmt::format("\n{} {}\n", library, version)));
  }
}

}  // namespace opbench
