// Parts of a dump by `opbench convert` through the built program, compared with h5copy if it is
// installed.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <filesystem>

#include "cli/cli.h"
#include "tests/cli/error_line.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class SelectedRecords : public testing::Test, protected TempDir {
 protected:
  Outcome extract(std::vector<std::string> args, const std::string& file = {}) const {
    args.insert(args.begin(), {"convert", file.empty() ? dump_ : file});
    args.insert(args.end(), {"-o", out_, "--overwrite"});
    return run_program(args);
  }
  /// The differences from h5copy's copy of these paths, in the lists of all objects (types,
  /// layouts, filters, attributes) and in the data.
  std::string difference_from_h5copy(const std::string& from,
                                     const std::vector<std::string>& paths) const {
    const std::string copied = path("copied.h5");
    for (const std::string& each : paths) {
      const Outcome made =
          shell(fmt::format("h5copy -p -i '{0}' -o '{1}' -s '{2}' -d '{2}'", from, copied, each));
      EXPECT_EQ(made.code, 0) << made.err;
    }
    const std::string list = "h5dump -p -A '{}' | sed 1d | grep -v OFFSET";
    const std::string ours = shell(fmt::format(fmt::runtime(list), out_)).out;
    EXPECT_THAT(ours, HasSubstr("DATASET"));
    if (ours != shell(fmt::format(fmt::runtime(list), copied)).out) return "other objects";
    return shell(fmt::format("h5diff '{}' '{}'", out_, copied)).out;
  }
  void expect_nothing_written(const Outcome& outcome, int code, const std::string& text) const {
    expect_one_line_error(outcome, code, text);
    EXPECT_FALSE(fs::exists(out_));
  }

  const std::string dump_ = source_file("examples/dumps/npu.h5"), out_ = path("out.h5");
};

TEST_F(SelectedRecords, MakesWhatH5copyMakes) {
  if (!has_command("h5copy")) GTEST_SKIP() << "hdf5-tools is not installed";
  const std::vector<std::string> paths = {"/softplus/2/", "/relu"};
  const Outcome outcome = extract({"--path", paths[0], "--path", paths[1]});
  EXPECT_EQ(outcome.code, kAllWell) << outcome.err;
  EXPECT_EQ(outcome.out, fmt::format("{}: 4 tensors of 2 paths from {}\n", out_, dump_));
  EXPECT_EQ(difference_from_h5copy(dump_, paths), "");
}

TEST_F(SelectedRecords, KeepsChunksFiltersAttributesAndLinks) {
  if (!has_command("h5copy")) GTEST_SKIP() << "hdf5-tools is not installed";
  const std::string odd = path("odd.h5");
  const std::string script = write("odd.py", fmt::format(R"(import h5py, numpy
with h5py.File('{}', 'w') as f:
    g = f.create_group('a/1/input')
    g.attrs['note'] = 'kept'
    f['a/1'].attrs['count'] = numpy.int64(3)
    d = g.create_dataset('packed', data=numpy.arange(6000, dtype='>f4').reshape(60, 100),
                         chunks=(7, 9), compression='gzip', shuffle=True)
    d.attrs['Stride'] = numpy.array([100, 1])
    g['linked'] = h5py.SoftLink('/a/1/input/packed')
    g.create_dataset('text', data='words')
    f.create_dataset('b/2/output/result', data=numpy.float16([1, 2]))
)",
                                                         odd));
  ASSERT_EQ(shell("/usr/bin/python3 " + script).code, 0);
  EXPECT_EQ(extract({"--path", "/a/1"}, odd).code, kAllWell);
  EXPECT_EQ(difference_from_h5copy(odd, {"/a/1"}), "");
}

TEST_F(SelectedRecords, OperatorsByPatternAndAllOfThem) {
  EXPECT_EQ(extract({"--only", "soft"}).code, kAllWell);
  EXPECT_EQ(run_program({"show", out_, "--no-values"}).out.find("/relu"), std::string::npos);
  EXPECT_EQ(extract({}).code, kAllWell);
  ASSERT_TRUE(has_command("h5diff")) << "hdf5-tools is installed with the tests' packages";
  EXPECT_EQ(shell("h5diff '" + out_ + "' '" + dump_ + "'").code, 0);
}

TEST_F(SelectedRecords, WhatAComparisonFoundWrong) {
  const std::string gpu = source_file("examples/dumps/gpu.h5"), report = path("report");
  EXPECT_EQ(run_program({"compare", dump_, gpu, "-o", report}).code, kVerdictFailed);
  const std::string json = report + "/compare.json";
  for (const std::string& side : {dump_, gpu}) {
    const Outcome outcome = extract({"--failed", json, "-v"}, side);
    EXPECT_EQ(outcome.code, kAllWell) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr("3 paths"));  // 3 operators fail, as in the README
    EXPECT_THAT(outcome.out, HasSubstr("  /softplus/2\n"));
  }
  fs::remove(out_);
  expect_nothing_written(
      extract({"--failed", json}, source_file("tests/data/ascend_dumper/cpu.h5")), kBadInput,
      "gpu.h5, not ");
  expect_nothing_written(extract({"--failed", write("x.json", "{}")}), kBadInput,
                         "opbench_compare");
}

TEST_F(SelectedRecords, WhatTheJudgeFoundGuilty) {
  const std::string gpu = source_file("examples/dumps/gpu.h5"), json = path("judge.json");
  for (const std::vector<std::string>& dumps : {std::vector{dump_}, std::vector{gpu, dump_}}) {
    std::vector<std::string> args = {"judge", "-q", "--json", json};
    args.insert(args.end(), dumps.begin(), dumps.end());
    EXPECT_EQ(run_program(args).code, kVerdictFailed);
    const Outcome outcome = extract({"--failed", json, "-v"});
    EXPECT_EQ(outcome.code, kAllWell) << outcome.err;
    EXPECT_THAT(outcome.out, HasSubstr(" of 1 paths from "));
    EXPECT_THAT(outcome.out, HasSubstr("  /softplus/2\n"));  // has the wrong threshold
  }
}

TEST_F(SelectedRecords, BadInputWritesNothing) {
  expect_nothing_written(extract({"--path", "/softplus/9"}), kBadInput,
                         "has no '/softplus/9'; /softplus holds 2");
  expect_nothing_written(extract({"--path", "/softplas/2"}), kBadInput,
                         "did you mean '/softplus'?");
  expect_nothing_written(extract({"--only", "nowhere"}), kNothingToJudge, "nothing in ");
  expect_nothing_written(extract({"--path", "/a"}, write("no.h5", "no")), kBadInput,
                         "not an HDF5 file");
  const Outcome itself = run_program({"convert", dump_, "--path", "/relu", "-o", dump_});
  EXPECT_EQ(itself.code, kBadInput);
  EXPECT_THAT(itself.err, HasSubstr("would replace what is read"));
}

TEST_F(SelectedRecords, AFullDiskLeavesWhatWasThere) {
  write("out.h5", "before");
  const Outcome outcome =
      shell(fmt::format("ulimit -f 1; trap '' XFSZ; {} convert {} --path / -o {} --overwrite",
                        program(), dump_, out_));
  EXPECT_EQ(outcome.code, kCouldNotFinish) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("cannot write "));
  EXPECT_EQ(read("out.h5"), "before");
  EXPECT_THAT(files(), ElementsAre("out.h5"));
}

}  // namespace
}  // namespace opbench
