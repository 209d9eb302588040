// Commands and flags under their earlier names do what they do under those of today.
#include "cli/earlier_names.h"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "tests/support/program.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using Words = std::vector<std::string>;

Words todays(Words args) {
  use_todays_names(args);
  return args;
}

}  // namespace

TEST(EarlierNames, BecomeThoseOfToday) {
  EXPECT_THAT(
      todays({"extract", "a.h5", "-s", "/relu", "--source=/mul", "-o", "b"}),
      ElementsAre("convert", "--to", "h5", "a.h5", "--path", "/relu", "--path=/mul", "-o", "b"));
  EXPECT_THAT(todays({"explain", "-q", "run.h5", "relu[8=x"}),
              ElementsAre("report", "--to", "words", "-q", "run.h5", "--case=relu[8=x"));
  EXPECT_THAT(todays({"explain", "run.h5"}), ElementsAre("report", "--to", "words", "run.h5"));
  EXPECT_THAT(todays({"report", "x", "--format", "csv", "--output", "y"}),
              ElementsAre("report", "x", "--to", "csv", "--out", "y"));
  EXPECT_THAT(todays({"run", "--format", "NCHW"}), ElementsAre("run", "--format", "NCHW"));
}

TEST(EarlierNames, AreListedByHelpAllOnly) {
  const std::string all = opbench_with({"--help-all"}).out;
  EXPECT_THAT(all, HasSubstr("\n  explain FILE CASE "));
  EXPECT_THAT(all, HasSubstr("\n  report --format "));
  EXPECT_THAT(opbench_with({"--help"}).out, Not(HasSubstr("explain FILE")));
  EXPECT_EQ(opbench_with({"help", "extract"}).out, opbench_with({"convert", "--help"}).out);
}

TEST(EarlierNames, WorkThroughTheProgram) {
  const TempDir directory;
  const std::string npu = source_file("examples/dumps/npu.h5");
  for (const char* name : {"a.h5", "b"}) {
    const Outcome outcome =
        opbench_with({"extract", npu, "-s", "/relu", "-o", directory.path(name)});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr(": 2 tensors of 1 paths from "));
  }
  const std::string results = source_file("results/samples/results.json");
  EXPECT_EQ(opbench_with({"explain", results, "softplus"}).out,
            opbench_with({"report", results, "--case", "softplus"}).out);
  EXPECT_EQ(opbench_with({"explain", results, "none"}).code, 4);
  const Outcome all = opbench_with({"extract", npu, "-o", directory.path("all.h5")});
  EXPECT_EQ(all.code, 2);
  EXPECT_THAT(all.err, HasSubstr("nothing is selected: use -s /op/number"));
}

}  // namespace opbench
