// `opbench show` through the built program.
#include <H5Cpp.h>
#include <gmock/gmock.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/cli.h"
#include "dump/dump_writer.h"
#include "tests/cli/error_line.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wide_terminal.h"

namespace opbench {
namespace {

using testing::HasSubstr;
using testing::Not;

class ShowCli : public testing::Test, protected TempDir {
 protected:
  const WideTerminal wide_;
  ShowCli() {
    DumpWriter writer(file_);
    writer.begin_record("softplus", DeviceType::npu);
    const float x[] = {0, 1, NAN, 3, 4, INFINITY};
    writer.write_input("self", describe(DType::fp32, {2, 3}), x);
    writer.write_input_scalar("beta", 2.5);
    writer.begin_record("relu", DeviceType::npu);
    const std::int64_t index[] = {7, -9};
    writer.write_output("result", describe(DType::int64, {2}), index);
    writer.finish();
  }
  Outcome show(std::vector<std::string> args) const {
    args.insert(args.begin(), {"show", file_});
    return run_program(args);
  }

  const std::string file_ = path("npu.h5");
};

TEST_F(ShowCli, TheTreeWithRangesInTheOrderOfExecution) {
  const Outcome outcome = show({});
  EXPECT_EQ(outcome.code, kAllWell) << outcome.err;
  const std::string expected =
      file_ +
      ": 2 operators, 2 tensors, 40 bytes, NPU\n"
      "                dtype format shape device        min        max       mean  histogram\n"
      "/softplus/1\n"
      "  input  beta   2.5\n"
      "  input  self   fp32  ND     [2,3] NPU             0          4          2  "
      "█   █       █  █  1 NaN  1 Inf\n"
      "/relu/2\n"
      "  output result int64 ND     [2]   NPU            -9          7         -1  "
      "█              █\n";
  EXPECT_EQ(outcome.out, expected);
}

TEST_F(ShowCli, APathShowsTheValuesAsNumpyDoes) {
  const Outcome outcome = show({"/softplus/1/input/self"});
  EXPECT_EQ(outcome.code, kAllWell) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("      [[ 0.  1. nan]\n       [ 3.  4. inf]]\n"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("relu")));
}

TEST_F(ShowCli, StatsSayHowItIsStored) {
  const Outcome outcome = show({"--stats", "--only", "self$"});
  EXPECT_THAT(outcome.out, HasSubstr("6 elements, 24 bytes, stored as float32; std 1.581, 1 zeros "
                                     "(16.7 %), 1 NaN, 1 Inf, 0 -Inf\n"));
  EXPECT_THAT(outcome.out, HasSubstr("               0            1 ####"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("beta")));
}

TEST_F(ShowCli, WhatCannotBeReadIsNamedOnStandardError) {
  {
    H5::H5File file(file_, H5F_ACC_RDWR);
    const std::string path = "/relu/2/output/none";
    file.createDataSet(path, H5::PredType::IEEE_F32LE, H5::DataSpace(H5S_NULL));
  }
  const Outcome outcome = show({});
  EXPECT_EQ(outcome.code, kCouldNotFinish);
  EXPECT_EQ(outcome.err, "opbench: " + file_ +
                             ": 1 tensor could not be read, first /relu/2/output/none: it has no "
                             "extents (a null dataspace)\n");
}

TEST_F(ShowCli, WithoutValuesNoDataIsRead) {
  const Outcome outcome = show({"--no-values"});
  EXPECT_THAT(outcome.out, HasSubstr("  output result int64 ND     [2]   NPU\n"));
  EXPECT_THAT(outcome.out, Not(HasSubstr("min")));
}

TEST_F(ShowCli, JsonIsATableOfFlatRows) {
  const Outcome outcome = show({"--json", "-"});
  EXPECT_THAT(outcome.err, HasSubstr("/relu/2"));  // the table goes to standard error
  const auto rows = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(rows.size(), 3u);
  EXPECT_EQ(rows[0]["value"], 2.5);
  EXPECT_EQ(rows[0]["kind"], "scalar");
  const auto& self = rows[1];
  EXPECT_EQ(self["path"], "/softplus/1/input/self");
  EXPECT_EQ(self["operator"], "softplus");
  EXPECT_EQ(self["number"], 1);
  EXPECT_EQ(self["shape"], (std::vector<int>{2, 3}));
  EXPECT_EQ(self["min"], 0.0);
  EXPECT_EQ(self["max"], 4.0);
  EXPECT_EQ(self["nan"], 1);
  EXPECT_EQ(self["inf"], 1);
  EXPECT_EQ(self["histogram"].size(), 16u);
  EXPECT_TRUE(self["problem"].is_null());
  EXPECT_EQ(rows[2]["max"].get<std::int64_t>(), 7);
}

TEST_F(ShowCli, AsciiWhereTheLocaleIsNoUtf8) {
  const Outcome outcome = run_program({"show", file_, "--only", "relu"},
                                      {.environment = {{"LC_ALL", "C"}}, .directory = {}});
  EXPECT_THAT(outcome.out, HasSubstr("@              @\n"));
}

TEST_F(ShowCli, WhatCannotBeShownIsOneLine) {
  expect_refusal(show({"/softplus/3"}), file_ + " has no '/softplus/3'; /softplus holds 1");
  expect_refusal(show({"/softplas"}), "did you mean '/softplus'?");
  expect_refusal(show({"--only", "("}), "--only '(' is not a regular expression");
  expect_refusal(run_program({"show", write("no.h5", "no dump")}), "not an HDF5 file");
  expect_refusal(run_program({"show", path("missing.h5")}), "No such file or directory");
  const std::string whole = text_of(file_);
  expect_refusal(run_program({"show", write("cut.h5", whole.substr(0, whole.size() / 2))}),
                 "cut.h5");
}

TEST_F(ShowCli, ATensorThatIsTooLargeIsLeftUnread) {
  const Outcome outcome = show({"--max-elements", "3"});
  EXPECT_EQ(outcome.code, kCouldNotFinish);
  EXPECT_THAT(outcome.out, HasSubstr("not read: 6 elements, more than --max-elements 3"));
  EXPECT_THAT(outcome.out, HasSubstr("/relu/2\n"));
}

}  // namespace
}  // namespace opbench
