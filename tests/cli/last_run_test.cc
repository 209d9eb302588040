// The results of the last run are kept, for all flags.
#include <gmock/gmock.h>

#include <filesystem>

#include "cli/run_outputs.h"
#include "tests/support/program.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;
using testing::Not;

class LastRun : public testing::Test, protected TempDir {
 protected:
  Outcome opbench(std::vector<std::string> words, const std::string& cache) const {
    return run_program(std::move(words),
                       {.environment = {{"XDG_CACHE_HOME", cache}}, .directory = directory()});
  }
  Outcome run(const std::string& id, const std::string& cache) const {
    return opbench({"--case", id, "--variant", "native", "--time", "0.0001", "--repetitions", "1"},
                   cache);
  }
};

}  // namespace

TEST_F(LastRun, EveryRowIsShownLater) {
  const std::string cache = path("cache");
  EXPECT_THAT(opbench({"report", "--last"}, cache).err,
              AllOf(HasSubstr("--last: no run is kept yet in "), HasSubstr("opbench/last.json")));
  ASSERT_EQ(run("relu[8,fp32]", cache).code, 0);
  ASSERT_EQ(run("abs[9,fp32]", cache).code, 0);
  const Outcome shown = opbench({"report", "--last"}, cache);
  EXPECT_EQ(shown.code, 0) << shown.err;
  EXPECT_THAT(shown.out,
              AllOf(HasSubstr("abs[9,fp32,ND]"), HasSubstr("* native "), Not(HasSubstr("relu")),
                    HasSubstr("\nOver all cases, "), HasSubstr("\n1 case, 1 result: 1 passed.\n")));
  EXPECT_EQ(opbench({"report", "--last", "--html", "page.html"}, cache).code, 0);
  EXPECT_EQ(opbench({"report", "--last", "-o", "last.csv"}, cache).code, 0);
  EXPECT_THAT(read("last.csv"), HasSubstr("abs[9,fp32,ND]"));
  EXPECT_EQ(opbench({"report", "--last", "last.csv"}, cache).code, 2);
}

TEST_F(LastRun, AFolderThatCannotBeWrittenIsNoError) {
  const Outcome outcome = run("relu[8,fp32]", write("file", ""));
  EXPECT_EQ(outcome.code, 0);
  EXPECT_THAT(outcome.err, Not(HasSubstr("cannot")));
}

TEST_F(LastRun, ALongRunNamesIt) {
  std::vector<std::string> words = {"--variant", "native",        "--time",
                                    "0.0001",    "--repetitions", "1"};
  for (int i = 1; i <= 13; ++i) {
    words.insert(words.end(), {"--case", "relu[" + std::to_string(i) + ",fp32]"});
  }
  EXPECT_THAT(opbench(words, path("cache")).out, HasSubstr("\nEvery row: opbench report --last\n"));
  EXPECT_THAT(opbench(words, write("file", "")).out, HasSubstr("--verbose\n"));
}

}  // namespace opbench
