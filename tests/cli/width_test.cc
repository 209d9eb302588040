// The output fits 80 columns if the width of the terminal is unknown.
#include <gmock/gmock.h>

#include <filesystem>
#include <sstream>
#include <string>
#include <vector>

#include "cli/help_text.h"
#include "tensor/utf8.h"
#include "tests/support/program.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::IsEmpty;
using testing::Not;

std::vector<std::string> lines_beyond(std::size_t width, const std::string& text) {
  std::vector<std::string> found;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) {
    if (utf8_length(line) > width) found.push_back(line);
  }
  return found;
}

class Width : public testing::Test, protected TempDir {
 protected:
  Width() {
    for (const char* name : {"cases", "examples"}) {
      fs::create_directory_symlink(source_file(name), path(name));
    }
  }
  void expect_fits(const std::string& arguments, const std::string& columns = "") const {
    SCOPED_TRACE(arguments);
    const Outcome outcome =
        shell("'" + program() + "' " + arguments,
              {.environment = {{"COLUMNS", columns}}, .directory = directory()});
    EXPECT_THAT(outcome.out, Not(IsEmpty())) << outcome.err;
    EXPECT_THAT(lines_beyond(80, outcome.out), IsEmpty());
  }
};

const std::string kShort = " --time 0.001 --repetitions 2";

}  // namespace

TEST_F(Width, TablesOfRunsFit) {
  expect_fits("--op softplus --shapes cases/resnet.yaml --set N=1 --filter 7x7" + kShort);
  expect_fits("report --last");
  expect_fits("--op softplus --shapes cases/resnet.yaml --set N=1 --filter '14x14|7x7' --plot" +
              kShort);
  expect_fits(
      "--case 'conv2d[1x16x8x8,16x16x3x3,fp32,NCHW,padding=1]' --case "
      "'softplus_grad[2x3x4x5,2x3x4x5,fp32,NCHW]'" +
      kShort);
  expect_fits("--cases cases/shufflenet_v2_unit.yaml --set N=1" + kShort);
  expect_fits("--cases cases/shufflenet_v2_unit.yaml --set N=1 --dry-run");
  expect_fits("--cases cases/shufflenet_v2_unit.yaml --set N=1 --explain");
}

TEST_F(Width, TheOtherCommandsFit) {
  for (const char* arguments :
       {"list", "list softplus conv2d", "list --verbose", "show examples/dumps/npu.h5",
        "show examples/dumps/npu.h5 /softplus/2", "show examples/dumps/npu.h5 --stats",
        "compare examples/dumps/npu.h5 examples/dumps/gpu.h5", "overflow examples/dumps/npu.h5",
        "remedy --cases cases/shufflenet_v2_unit.yaml", "opmap"}) {
    expect_fits(arguments);
  }
}

TEST_F(Width, MessagesWithPathsAndLongIdsFit) {
  expect_fits("compare examples/dumps/npu.h5 examples/dumps/gpu.h5 -o a_folder_with_a_long_name");
  expect_fits(
      "minimise examples/dumps/npu.h5 -o another_folder_with_a_very_long_name_for_the_call");
  expect_fits("--cases cases/shufflenet_v2_unit.yaml --set N=1 --check-overflow");
  expect_fits("--case 'mul[4,4,fp16]' --check-overflow");
  write("network.yaml",
        "cases:\n  - {name: layer1.0.downsample.relu, op: relu, inputs: [[8, 16]], count: 187, "
        "weight_us: 12.5, variants: [native]}\n");
  expect_fits("--cases network.yaml" + kShort);
  expect_fits("report --last --to words");
}

TEST_F(Width, AVerdictOfACheckFits) {
  const std::string runs =
      "--case 'softplus[2x3x4x5,fp32,NCHW]' --variant native,softplus_v2" + kShort;
  for (const char* name : {"a", "b"}) expect_fits(runs + " --json " + name + ".json");
  expect_fits("check --baseline a.json --current b.json --verbose");
}

TEST_F(Width, HelpFits) {
  for (const char* command :
       {"", "run", "list", "compare", "judge", "minimise", "opmap", "show", "overflow", "ingest",
        "remedy", "script", "convert", "report", "merge", "doctor", "check", "invariance"}) {
    expect_fits(std::string(command) + " --help");
    if (*command != '\0') expect_fits(std::string(command) + " --help-all");
  }
}

TEST_F(Width, AQuietRunPrintsNoTables) {
  const Outcome outcome = shell("'" + program() + "' --case 'relu[8,fp32]' -q" + kShort);
  EXPECT_THAT(outcome.out, testing::StartsWith("1 case, "));
}

TEST_F(Width, TheIdThatIsPrintedIsTakenAgain) {
  const Outcome outcome = shell("'" + program() + "' --case 'softplus[8,fp32,ND,beta=2]'" + kShort);
  EXPECT_THAT(outcome.out, testing::HasSubstr("\nsoftplus[8,fp32,ND,beta=2]  ("));
}

TEST(HelpText, KeepsSecondColumnsAndFillsProse) {
  EXPECT_EQ(help_within("  -o FILE   where it goes to\n", 20),
            "  -o FILE   where it\n            goes to\n");
  EXPECT_EQ(help_within("one two three four\nfive\n\nsix\n", 12),
            "one two\nthree four\nfive\n\nsix\n");
}

TEST(HelpText, CommandsCanStillBePasted) {
  EXPECT_EQ(help_within("  opbench --case 'a b' --threads 1,2\n", 26),
            "  opbench --case 'a b' \\\n      --threads 1,2\n");
}

}  // namespace opbench
