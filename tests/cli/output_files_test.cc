// Tests the files of a command after faults: a full disk, closed streams, a name given twice,
// signals.
#include <gmock/gmock.h>
#include <signal.h>

#include <chrono>
#include <filesystem>
#include <string>
#include <thread>
#include <vector>

#include "tests/support/program.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::Contains;
using testing::ElementsAre;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;

const std::string kQuick = " --variant native --no-verify --time 0.0001 --repetitions 1 -q ";
const std::string kRelu = "--case 'relu[1000,fp32]'" + kQuick;
const std::string kShapes = "shapes:\n  - [2, 3]\n";

class OutputFiles : public testing::Test, protected TempDir {
 protected:
  /// The output of the program on both streams, and "exit CODE". `before` holds shell commands,
  /// such as a limit, that do not apply to this output.
  std::string opbench(const std::string& arguments, const std::string& before = ":") const {
    return shell("cd '" + directory().string() + "'; (" + before + "; '" + program() + "' " +
                 arguments + "; echo exit $?) 2>&1 | cat")
        .out;
  }

  /// Expects that no file can be written. The message names the file at the end of `arguments`, and
  /// no file is left.
  void expect_full(const std::string& arguments, const std::string& file) const {
    const std::vector<std::string> before = files();
    const std::string printed = opbench(arguments, "ulimit -f 0");
    EXPECT_THAT(printed, HasSubstr("opbench: cannot write " + file)) << arguments;
    EXPECT_THAT(printed, HasSubstr(": File too large\n")) << arguments;
    EXPECT_THAT(printed, HasSubstr("exit 3\n")) << arguments;
    EXPECT_THAT(printed, Not(HasSubstr(".part"))) << arguments;
    EXPECT_EQ(files(), before) << arguments;
  }

  void expect_refused(const std::string& arguments, const std::string& message) const {
    const std::string printed = opbench(arguments);
    EXPECT_THAT(printed, HasSubstr(message)) << arguments;
    EXPECT_THAT(printed, EndsWith("exit 2\n")) << arguments;
  }

  std::vector<std::string> unfinished() const {
    std::vector<std::string> found;
    for (const std::string& name : files()) {
      if (name.ends_with(".part")) found.push_back(name);
    }
    return found;
  }

  /// A run that takes minutes unless it is ended.
  std::vector<std::string> long_run() const {
    std::vector<std::string> words = {program(),      "--variant", "native",     "--json",
                                      path("x.json"), "--dump",    path("x.h5"), "--time",
                                      "0.1",          "-v",        "--overwrite"};
    for (int i = 0; i < 100; ++i) {
      words.insert(words.end(), {"--case", "relu[" + std::to_string(100 + i) + ",fp32]"});
    }
    return words;
  }
};

}  // namespace

TEST_F(OutputFiles, AFullDiskEndsARunWithAMessage) {
  for (const std::string flag :
       {"--json", "--csv", "--markdown", "--junit", "--benchmark-json", "--trace", "--dump"}) {
    expect_full(kRelu + flag + " x.out", "x.out");
  }
  const std::string context =
      "--cases '" + source_file("cases/shufflenet_v2_unit.yaml") + "' --set N=1" + kQuick;
  for (const std::string flag : {"--op-summary", "--op-statistic", "--dot"}) {
    expect_full(context + flag + " x.out", "x.out");
  }
}

// HDF5 buffers its writes, so every size gives another fault.
TEST_F(OutputFiles, ADumpThatTheDiskEndsIsNoCrash) {
  const std::string run =
      "--case 'softplus[2x4,fp32,ND]' --case 'softplus[32x1000,fp32,ND]'" + kQuick + "--dump d.h5";
  ASSERT_THAT(opbench(run), EndsWith("exit 0\n"));
  const std::uintmax_t blocks = fs::file_size(path("d.h5")) / 512;
  fs::remove(path("d.h5"));
  for (std::uintmax_t limit = 1; limit < blocks; limit += blocks / 20) {
    const std::string printed = opbench(run, "ulimit -f " + std::to_string(limit));
    EXPECT_THAT(printed, HasSubstr("opbench: cannot write d.h5: ")) << limit;
    EXPECT_THAT(printed, EndsWith("File too large\nexit 3\n")) << limit;
    EXPECT_THAT(files(), IsEmpty()) << limit;
  }
}

TEST_F(OutputFiles, AFullDiskEndsTheOtherCommandsWithAMessage) {
#ifdef __SANITIZE_THREAD__
  GTEST_SKIP() << "the thread sanitizer's runtime writes a file of its own before main";
#endif
  for (const std::string name : {"a", "b"}) {
    ASSERT_THAT(opbench(kRelu + "--dump " + name + ".h5 --json " + name + ".json"),
                EndsWith("exit 0\n"));
  }
  fs::create_directory(path("out"));
  expect_full("compare a.h5 b.h5 -o out", "out/compare.json");
  expect_full("report a.json -o x.md", "x.md");
  const std::string check = "check --baseline a.json --current b.json ";
  expect_full(check + "--out out", "out/check.json");
  expect_full(check + "--junit x.xml", "x.xml");
  expect_full(check + "--markdown x.md", "x.md");
  const std::string baseline = read("a.json");
  expect_full(check + "--update", "a.json");
  EXPECT_EQ(read("a.json"), baseline);
  EXPECT_TRUE(fs::is_empty(path("out")));
}

TEST_F(OutputFiles, ClosedStreamsGetNoFilesNumber) {
  ASSERT_THAT(opbench(kRelu + "--dump good.h5"), EndsWith("exit 0\n"));
  const std::string loud = "--case 'relu[1000,fp32]' --variant native --time 0.0001 --dump d.h5";
  for (const std::string closed : {"2>&-", ">&-", "<&-", "<&- >&- 2>&-"}) {
    EXPECT_THAT(opbench(loud + " " + closed), EndsWith("exit 0\n")) << closed;
    EXPECT_THAT(opbench("compare d.h5 good.h5 --standard exact " + closed), EndsWith("exit 0\n"))
        << closed;
    fs::remove(path("d.h5"));
  }
}

TEST_F(OutputFiles, ResultsDoNotReplaceWhatIsRead) {
  const std::string cases = write("in.yaml", kShapes);
  fs::create_symlink("in.yaml", path("link.yaml"));
  fs::create_hard_link(cases, path("twin.yaml"));
  for (const std::string output : {"in.yaml", "./in.yaml", "link.yaml", "twin.yaml"}) {
    for (const std::string flag : {"--json ", "--dump ", "--dry-run --dot "}) {
      expect_refused("--op relu --shapes in.yaml" + kQuick + flag + output,
                     "would replace what is read, --shapes 'in.yaml'");
    }
  }
  EXPECT_EQ(read("in.yaml"), kShapes);
  write("dir/results.json", kShapes);
  expect_refused("--op relu --shapes dir/results.json" + kQuick + "--out dir",
                 "--out 'dir/results.json' would replace what is read, --shapes");
}

TEST_F(OutputFiles, ACheckAndAComparisonReplaceNothingThatTheyRead) {
  ASSERT_THAT(opbench(kRelu + "--json r.json --dump a.h5"), EndsWith("exit 0\n"));
  const std::string results = read("r.json");
  const std::string check = "check --baseline r.json --current r.json ";
  expect_refused(check + "--json r.json", "would replace what is read, --current 'r.json'");
  expect_refused("check --baseline r.json --op relu --markdown r.json",
                 "would replace what is read, --baseline 'r.json'");
  expect_refused("check --baseline r.json --op relu --update --junit r.json",
                 "two results cannot go to the same file: --junit 'r.json' and --baseline");
  EXPECT_EQ(read("r.json"), results);
  fs::create_directory(path("out"));
  fs::copy_file(path("a.h5"), path("out/compare.csv"));
  expect_refused("compare a.h5 out/compare.csv -o out", "would replace what is read");
}

TEST_F(OutputFiles, TwoResultsOfOneNameAreRefused) {
  expect_refused(kRelu + "--json a.json --csv ./a.json",
                 "two results cannot go to the same file: --json 'a.json' and --csv './a.json'");
  fs::create_symlink("to_come.json", path("link.json"));
  expect_refused(kRelu + "--json to_come.json --csv link.json", "two results cannot go to");
  fs::create_directory(path("d"));
  expect_refused(kRelu + "--json to_come.json --csv d/../to_come.json", "two results cannot go to");
  expect_refused("check --baseline a --current b --json x --markdown ./x",
                 "two results cannot go to");
  EXPECT_THAT(files(), ElementsAre("d", "link.json"));
}

TEST_F(OutputFiles, TooFewOpenFilesAreSaidAtOnce) {
  const std::string printed = opbench(kRelu + "--json x.json", "ulimit -n 16");
  EXPECT_THAT(printed, HasSubstr("opbench: 16 files may be open at once (ulimit -n), at least 32"));
  EXPECT_THAT(printed, EndsWith("exit 3\n"));
  EXPECT_THAT(files(), IsEmpty());
  // The program raises a soft limit.
  EXPECT_THAT(opbench(kRelu + "--json x.json", "ulimit -S -n 16"), EndsWith("exit 0\n"));
}

TEST_F(OutputFiles, NoSignalThatCanBeCaughtLeavesAnUnfinishedFile) {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGQUIT}) {
    Process process(long_run());
    ASSERT_TRUE(process.has_printed("relu[101,fp32,ND]"));
    process.send(signal);
    EXPECT_EQ(process.wait().code, 3) << signal;
    EXPECT_THAT(files(), ElementsAre("x.h5", "x.json")) << signal;
  }
}

// The signal arrives before the handlers are installed, while files are opened, or later.
TEST_F(OutputFiles, NorDoesOneThatComesEarly) {
  constexpr int kKilledBySigint = 128 + SIGINT;
  for (int trial = 0; trial < 10; ++trial) {
    Process process(long_run());
    std::this_thread::sleep_for(std::chrono::milliseconds(5 * trial));
    process.send(SIGINT);
    EXPECT_THAT(process.wait().code, testing::AnyOf(3, kKilledBySigint));
    EXPECT_THAT(unfinished(), IsEmpty());
  }
}

TEST_F(OutputFiles, AKilledRunLeavesNothing) {
  Process process(long_run());
  ASSERT_TRUE(process.has_printed("relu[101,fp32,ND]"));
  process.send(SIGKILL);
  process.wait();
  EXPECT_THAT(unfinished(), IsEmpty()) << "or the file system has no O_TMPFILE";
}

// File systems without O_TMPFILE leave such a file.
TEST_F(OutputFiles, WhatAKilledRunLeftGoesWithTheNext) {
  write(".opbench-1-1.part", "");
  ASSERT_THAT(opbench(kRelu + "--csv y.csv"), EndsWith("exit 0\n"));
  EXPECT_THAT(files(), ElementsAre("y.csv"));
}

}  // namespace opbench
