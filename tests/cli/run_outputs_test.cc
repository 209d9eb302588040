// Tests the files of a run with contexts.
#include "cli/run_outputs.h"

#include <gmock/gmock.h>
#include <unistd.h>

#include <filesystem>
#include <sstream>

#include "cli/cli.h"
#include "tensor/error.h"
#include "tests/cli/csv.h"
#include "tests/support/refusal.h"
#include "tests/support/source_tree.h"
#include "tests/support/step_records.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::HasSubstr;
using testing::SizeIs;

class RunFiles : public testing::Test, protected TempDir {
 protected:
  RunFiles() { result_.records = step_records::shufflenet(); }

  std::string refusal(const RunFlags& flags, std::span<const WorkUnit> units) {
    return refusal_by([&] { RunOutputs(flags, context_, units); });
  }

  static PlannedContext context() {
    PlannedContext planned;
    planned.spec.name = "shufflenet";
    return planned;
  }

  const std::vector<WorkUnit> operators_ = {PlannedCase{parse_case_id("relu[8,fp32]"), {}, {}}};
  const std::vector<WorkUnit> contexts_ = {context()};

  std::ostringstream out_, err_;
  CommandContext context_{.out = out_, .err = err_, .command_line = "opbench"};
  RunResult result_;
};

}  // namespace

TEST_F(RunFiles, ADirectoryHoldsTheTasksOfContexts) {
  RunFlags flags;
  flags.out_dir = directory();
  ASSERT_TRUE(RunOutputs(flags, context_, contexts_).write(result_)) << err_.str();
  for (const char* name : {"results.json", "results.csv", "results.md", "trace.json"}) {
    EXPECT_TRUE(fs::exists(directory() / name)) << name;
  }
  EXPECT_THAT(csv::read(directory() / "op_summary.csv"), SizeIs(1 + 4 * 2));
  EXPECT_THAT(csv::read(directory() / "op_statistic.csv"), SizeIs(1 + 43));
}

// Further files are written in addition.
TEST_F(RunFiles, ADirectoryIsWholeWhateverOtherFilesThereAre) {
  RunFlags flags;
  flags.out_dir = directory() / "out";
  flags.json = directory() / "x.json";
  flags.csv = directory() / "out" / "." / "results.csv";  // also a file of --out
  ASSERT_TRUE(RunOutputs(flags, context_, operators_).write(result_)) << err_.str();
  EXPECT_EQ(read("x.json"), read("out/results.json"));
  EXPECT_TRUE(fs::exists(directory() / "out" / "results.csv"));
  flags.markdown = directory() / "out" / "results.json";
  EXPECT_THAT(refusal(flags, operators_),
              HasSubstr("two results cannot go to the same file: --out"));
}

TEST_F(RunFiles, ADirectoryOfOperatorsHoldsNone) {
  RunFlags flags;
  flags.out_dir = directory();
  ASSERT_TRUE(RunOutputs(flags, context_, operators_).write(RunResult{})) << err_.str();
  EXPECT_TRUE(fs::exists(directory() / "results.json"));
  EXPECT_FALSE(fs::exists(directory() / "op_summary.csv"));
  EXPECT_FALSE(fs::exists(directory() / "op_statistic.csv"));
}

TEST_F(RunFiles, OperatorsHaveNoTasksToWrite) {
  RunFlags flags;
  flags.op_summary = directory() / "s.csv";
  EXPECT_EQ(refusal(flags, contexts_), "accepted");
  EXPECT_EQ(refusal(flags, operators_),
            "--op-summary '" + flags.op_summary +
                "' needs a context, but only single operators are selected");
  flags = {};
  flags.op_statistic = "x.csv";
  EXPECT_THAT(refusal(flags, operators_), HasSubstr("--op-statistic 'x.csv' needs a context"));
}

TEST_F(RunFiles, NoFileTakesTwoResults) {
  RunFlags flags;
  flags.op_summary = flags.op_statistic = directory() / "s.csv";
  EXPECT_THAT(refusal(flags, contexts_), HasSubstr("two results cannot go to the same file"));
  flags.op_statistic.clear();
  flags.dot = flags.op_summary;
  EXPECT_THAT(refusal(flags, contexts_), HasSubstr("two results cannot go to the same file"));
}

TEST_F(RunFiles, TheCommandRefusesBeforeItRuns) {
  const std::string path = directory() / "s.csv";
  std::ostringstream out, err;
  EXPECT_EQ(run_cli({"--case", "relu[64,fp32]", "--op-summary", path}, out, err), kBadInput);
  EXPECT_THAT(err.str(), HasSubstr("only single operators are selected"));
  EXPECT_EQ(out.str(), "");
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(RunFiles, AProfOfACaseIsReadAgain) {
  const std::string folder = directory() / "prof";
  const std::vector<std::string> run = {"--case",      "softplus[2x16x4x4,fp32,NC1HWC0]",
                                        "--backward",  "--variant",
                                        "softplus_v2", "--threads",
                                        "1",           "--time",
                                        "0.002",       "--repetitions",
                                        "3",           "-q",
                                        "--prof-dir",  folder};
  std::ostringstream out, err;
  ASSERT_EQ(run_cli(run, out, err), kAllWell) << err.str();
  ASSERT_EQ(run_cli(run, out, err), kAllWell) << err.str() << "files of opbench are replaced";
  const std::string file = folder + "/softplus_device_cpu_dtype_fp32_shape_2_16_4_4_5HD.prof";
  ASSERT_EQ(run_cli({"ingest", file}, out, err), kAllWell) << err.str();
  EXPECT_THAT(out.str(), HasSubstr("softplus/softplus_v2\n"));
  write("prof/mine.prof", "[]");
  EXPECT_EQ(run_cli(run, out, err), kBadInput);
  EXPECT_THAT(err.str(), HasSubstr("mine.prof exists; choose another name, or pass --overwrite"));
  EXPECT_EQ(run_cli({"--cases", source_file("cases/shufflenet_v2_unit.yaml"), "--prof-dir", folder,
                     "--overwrite"},
                    out, err),
            kBadInput);
}

}  // namespace opbench
