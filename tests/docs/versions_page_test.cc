// docs/versions.md: the table of file formats has the numbers that the program writes and reads.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <regex>
#include <string>

#include "harness/check/protocol.h"
#include "harness/check/report.h"
#include "harness/report/compare.h"
#include "harness/run/part_file.h"
#include "harness/run/results_file.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

struct FormatRow {
  std::string number, reads;
};

/// The row of the table with this key.
FormatRow format_row(const std::string& key) {
  static const std::string page = text_of(source_file("docs/versions.md"));
  std::smatch match;
  const std::regex pattern(R"(\n\| [^|\n]+ \| `)" + key + R"(` \| (\d+) \| ([^|\n]*)\|)");
  if (!std::regex_search(page, match, pattern)) return {};
  std::string reads = match[2];
  reads.erase(reads.find_last_not_of(' ') + 1);
  return {match[1], reads};
}

}  // namespace

TEST(VersionsPage, HasTheNumbersThatAreWritten) {
  EXPECT_EQ(format_row("opbench").number, std::to_string(kResultsVersion));
  EXPECT_EQ(format_row("opbench_part").number, std::to_string(units::kPartVersion));
  EXPECT_EQ(format_row("opbench_compare").number, std::to_string(report::kComparisonVersion));
  EXPECT_EQ(format_row("opbench_job").number, std::to_string(report::kJobVersion));
  EXPECT_EQ(format_row("opbench_check").number, std::to_string(check::kReportVersion));
  EXPECT_EQ(format_row("opbench_worker").number, std::to_string(check::kProtocolVersion));
}

TEST(VersionsPage, HasTheOldestNumbersThatAreRead) {
  EXPECT_EQ(format_row("opbench").reads, fmt::format("1 to {}", kResultsVersion));
  const std::string oldest = std::to_string(check::kOldestProtocol);
  EXPECT_THAT(format_row("opbench_worker").reads, testing::StartsWith(oldest));
}

}  // namespace opbench
