// `opbench overflow` and `opbench run --check-overflow` through the built program.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/cli.h"
#include "dump/dump_file.h"
#include "dump/dump_writer.h"
#include "tests/support/program.h"
#include "tests/support/source_tree.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

using Numbers = std::vector<double>;

class OverflowCli : public testing::Test, protected TempDir {
 protected:
  static void write_half(DumpWriter& writer, Side side, const std::string& name,
                         const Numbers& values, DType dtype = DType::fp16) {
    Tensor tensor(describe(dtype, {std::ssize(values)}));
    from_doubles(dtype, values.data(), std::ssize(values), tensor.data());
    if (side == Side::input)
      writer.write_input(name, tensor.desc, tensor.data());
    else
      writer.write_output(name, tensor.desc, tensor.data());
  }

  nlohmann::json scanned(const std::string& file, std::vector<std::string> more, int code) {
    const std::string json = path("overflow.json");
    more.insert(more.begin(), {"overflow", file, "--json", json});
    const Outcome outcome = run_program(more);
    EXPECT_EQ(outcome.code, code) << outcome.out << outcome.err;
    return nlohmann::json::parse(read("overflow.json"));
  }

  const std::string out_ = path("out.h5");
};

}  // namespace

// 300 * 300 = 90000 overflows fp16. Arithmetic without Inf gives 65504.
TEST_F(OverflowCli, ARunPrintsTheLineAndBothDetectors) {
  const Outcome run = run_program({"run", "--case", "mul[8,8,fp16,ND,data=constant(300)]",
                                   "--variant", "mul", "--check-overflow"});
  EXPECT_EQ(run.code, kVerdictFailed) << run.out << run.err;
  EXPECT_THAT(run.out, StartsWith("IR: mul SeqId: 1 is overflow!\n    flag, value: 8 of "
                                  "+-65504 among 8 elements\n      (mul["));
  EXPECT_THAT(run.out, HasSubstr("1 of 1 operators overflowed, first SeqId 1 (mul)\n"));
}

// e^x/(1 + e^x) is NaN for x > 88.72. Arithmetic without NaN gives 0, so the result is finite.
TEST_F(OverflowCli, TheFlagIsRaisedWhereTheResultIsFinite) {
  const Outcome run = run_program({"run", "--case",
                                   "softplus_grad[64,64,fp16,ND,data.grad_output=uniform(-1,1),"
                                   "data.self=arange(80,0.25)]",
                                   "--variant", "softplus_grad", "--check-overflow"});
  EXPECT_EQ(run.code, kVerdictFailed) << run.out << run.err;
  EXPECT_THAT(run.out,
              HasSubstr("IR: SoftplusBackward SeqId: 1 is overflow!\n    flag\n      (softplus_"));
  EXPECT_THAT(run.out, Not(HasSubstr("value")));
}

TEST_F(OverflowCli, WhatInputsHoldIsNoOverflow) {
  const Outcome run = run_program({"run", "--case", "relu[8,fp16,ND,data=constant(65504)]",
                                   "--variant", "relu", "--check-overflow", "--dump", out_});
  EXPECT_EQ(run.code, kAllWell) << run.out << run.err;
  EXPECT_EQ(run.out, "0 of 1 operators overflowed\n");
  EXPECT_THAT(run.err, HasSubstr("nothing overflowed: " + out_ + " is not written\n"));
  EXPECT_FALSE(std::filesystem::exists(out_));
}

TEST_F(OverflowCli, TheDumpHasThoseAloneUnderTheirNumbers) {
  const Outcome run = run_program({"run", "--case", "relu[8,fp16,ND]", "--case",
                                   "muls[8,fp16,ND,value=1000,data=constant(100)]", "--variant",
                                   "relu,muls", "--check-overflow", "--dump", out_});
  EXPECT_EQ(run.code, kVerdictFailed) << run.out << run.err;
  DumpFile file(out_);
  ASSERT_EQ(file.records().size(), 1u);
  EXPECT_EQ(file.records()[0].seq, 2);
  EXPECT_EQ(file.records()[0].on(Side::input).size(), 2u) << "a tensor and a number";
  EXPECT_EQ(file.records()[0].on(Side::output).size(), 1u);
}

TEST_F(OverflowCli, LoadedRecordsKeepTheirNumbers) {
  const std::string gpu = path("gpu.h5");
  {
    DumpWriter writer(gpu);
    writer.begin_record("mul_Tensor", DeviceType::cuda, {}, 5);
    write_half(writer, Side::input, "self", {300, 1});
    write_half(writer, Side::input, "other", {300, 1});
    write_half(writer, Side::output, "result", {INFINITY, 1});
    writer.begin_record("relu", DeviceType::cuda, {}, 6);
    write_half(writer, Side::input, "self", {300, -1});
    write_half(writer, Side::output, "result", {300, 0});
    writer.finish();
  }
  const Outcome run = run_program({"run", "--load", gpu, "--check-overflow", "--dump", out_});
  EXPECT_EQ(run.code, kVerdictFailed) << run.out << run.err;
  EXPECT_THAT(run.out, StartsWith("IR: mul_Tensor SeqId: 5 is overflow!\n"));
  EXPECT_THAT(run.out, HasSubstr("1 of 2 operators overflowed"));
  DumpFile file(out_);
  ASSERT_EQ(file.records().size(), 1u);
  EXPECT_EQ(file.records()[0].seq, 5);
}

// The headroom is log2(65504 / 1024) = 5.9993 and log2(65504 / 3) = 14.414. With the recorded scale
// of 1024, gradients of at most 3 may grow by 2^14. 2 of 100 gradients are 2^-20. A factor of 2^6
// lifts them to 2^-14, the smallest normal number.
TEST_F(OverflowCli, AFileTellsHeadroomAndLossScales) {
  const std::string file = path("npu.h5");
  {
    DumpWriter writer(file);
    writer.begin_record("mul_Tensor", DeviceType::npu);
    write_half(writer, Side::input, "self", {32, 1});
    write_half(writer, Side::output, "result", {1024, 1});
    writer.begin_record("MulBackward0", DeviceType::npu);
    Numbers gradients(200, 0);  // 100 of them stay 0
    std::fill(gradients.begin(), gradients.begin() + 98, 3);
    std::fill(gradients.begin() + 98, gradients.begin() + 100, 0x1p-20);
    write_half(writer, Side::input, "grads/grads_0", {1, 0.5});
    write_half(writer, Side::output, "grad_inputs/grad_inputs_0", gradients);
    writer.finish();
  }
  const auto found = scanned(file, {"--loss-scale", "1024"}, kAllWell);
  EXPECT_EQ(found["overflowed"], 0);
  EXPECT_EQ(found["records"][0]["headroom_bits"], 5.99);
  EXPECT_EQ(found["records"][1]["headroom_bits"], 14.41);
  EXPECT_EQ(found["loss_scale"]["largest"], 1024.0 * 16384);
  EXPECT_EQ(found["loss_scale"]["limit"], "/MulBackward0/2/output/grad_inputs/grad_inputs_0");
  EXPECT_EQ(found["loss_scale"]["smallest"], 1024.0 * 64);
  EXPECT_EQ(found["loss_scale"]["zero_share"], 0.5);
  EXPECT_EQ(found["loss_scale"]["subnormal_share"], 0.02);
  const Outcome text = run_program({"overflow", file, "--loss-scale", "1024"});
  EXPECT_THAT(text.out, StartsWith("None of 2 operators holds Inf, NaN or +-65504"));
  EXPECT_THAT(text.out, HasSubstr("   5.99  fp16   /mul_Tensor/1/output/result\n"));
  EXPECT_THAT(text.out, HasSubstr("largest without overflow: 1.67772e+07 (/MulBackward0/2/output/"
                                  "grad_inputs/grad_inputs_0 holds 3 at most)"));
}

TEST_F(OverflowCli, AFileTellsTheFirstOperator) {
  const std::string file = path("npu.h5");
  {
    DumpWriter writer(file);
    writer.begin_record("relu", DeviceType::npu);
    write_half(writer, Side::input, "self", {INFINITY, 1});
    write_half(writer, Side::output, "result", {INFINITY, 1});
    writer.begin_record("sub", DeviceType::npu);
    write_half(writer, Side::input, "self", {INFINITY, 1});
    write_half(writer, Side::output, "result", {NAN, 65504});
    writer.begin_record("exp", DeviceType::npu);
    write_half(writer, Side::input, "self", {89}, DType::fp32);
    write_half(writer, Side::output, "result", {INFINITY}, DType::fp32);
    writer.finish();
  }
  const Outcome text = run_program({"overflow", file});
  EXPECT_EQ(text.code, kVerdictFailed);
  EXPECT_THAT(text.out,
              StartsWith("IR: sub SeqId: 2 is overflow!\n    value: 1 NaN, 1 of +-65504 among 2 "
                         "elements\nIR: exp SeqId: 3 is overflow!\n    value: 1 Inf among 1 "
                         "elements\n2 of 3 operators overflowed, first /sub/2\n"));
  EXPECT_EQ(run_program({"overflow", file, "--only", "relu"}).code, kAllWell);
  EXPECT_EQ(run_program({"overflow", file, "--only", "none"}).code, kNothingToJudge);
}

// The advised loss scale does not overflow, and twice the scale does.
TEST_F(OverflowCli, TheAdvisedLossScaleIsTheLargestThatSurvives) {
  const std::vector<std::string> step = {
      "run",       "--cases", source_file("cases/shufflenet_v2_training.yaml"), "--set", "N=1",
      "--variant", "11.O2"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), step.begin(), step.end());
    return run_program(more);
  };
  const std::string dump = path("step.h5");
  const Outcome dumped = with({"--loss-scale", "128", "--no-verify", "--time", "0.001",
                               "--repetitions", "1", "--dump", dump});
  ASSERT_EQ(dumped.code, kAllWell) << dumped.out << dumped.err;
  const auto found = scanned(dump, {"--loss-scale", "128"}, kAllWell);
  const double scale = found["loss_scale"]["largest"];
  EXPECT_GT(scale, 128);
  const Outcome fits = with({"--check-overflow", "--loss-scale", fmt::format("{}", scale)});
  EXPECT_EQ(fits.code, kAllWell) << fits.out << fits.err;
  const Outcome twice = with({"--check-overflow", "--loss-scale", fmt::format("{}", 2 * scale)});
  EXPECT_EQ(twice.code, kVerdictFailed) << twice.out << twice.err;
  EXPECT_THAT(twice.out, HasSubstr(" is overflow!\n"));
}

// Source: the output of CANN's tool for the same files (tests/data/README.md).
TEST_F(OverflowCli, DebugFilesOfADeviceGiveTheOriginalSummary) {
  const std::filesystem::path data = test_data("msaccucmp_convert/overflow");
  const std::string out = path("out");
  const Outcome run =
      run_program({"overflow", "-d", (data / "in").string(), "-out", out, "-n", "3"});
  EXPECT_EQ(run.code, kAllWell) << run.err;
  std::vector<std::string> expected, written;
  for (const auto& entry : std::filesystem::directory_iterator(data / "expected")) {
    expected.push_back(entry.path().filename().string());
  }
  for (const auto& entry : std::filesystem::directory_iterator(out)) {
    std::string name = entry.path().filename().string();
    const bool is_summary = name.starts_with("overflow_summary_");
    if (is_summary) name = "overflow_summary.txt";
    written.push_back(name);
    EXPECT_EQ(text_of(entry.path()), text_of(data / "expected" / name)) << name;
  }
  EXPECT_THAT(written, testing::UnorderedElementsAreArray(expected));
  const Outcome one = run_program({"overflow", (data / "in").string()});
  EXPECT_EQ(one.code, kVerdictFailed);
  EXPECT_THAT(one.out, HasSubstr("[MatMul] fc/1\n [AIC][TaskId:9][StreamId:5][Status:16]\n"));
  EXPECT_THAT(one.out, Not(HasSubstr("Conv2D"))) << "the earliest alone";
}

TEST_F(OverflowCli, DamagedDebugFilesTakeNothingFromOthers) {
  const std::filesystem::path data = test_data("msaccucmp_convert/overflow") / "in";
  for (const auto& entry : std::filesystem::directory_iterator(data)) {
    const std::string name = entry.path().filename().string();
    const std::string whole = text_of(entry.path());
    const bool is_cut = name.starts_with("Opdebug.Node_OpDebug.2");
    write("in/" + name, is_cut ? whole.substr(0, whole.size() - 9) : whole);
  }
  const Outcome run = run_program({"overflow", "-d", path("in"), "-out", path("out"), "-n", "2"});
  EXPECT_EQ(run.code, kBadInput);
  EXPECT_THAT(run.err, HasSubstr("Opdebug.Node_OpDebug.2.5"));
  EXPECT_THAT(run.out, HasSubstr("[Conv2D] conv/1"));
  write("empty/x.txt", "");
  EXPECT_EQ(run_program({"overflow", "-d", path("empty")}).code, kNothingToJudge);
  EXPECT_EQ(run_program({"overflow", "-d", path("none")}).code, kBadInput);
}

TEST_F(OverflowCli, BadInput) {
  EXPECT_EQ(run_program({"overflow", path("none.h5")}).code, kBadInput);
  EXPECT_EQ(run_program({"overflow", write("text.h5", "no dump")}).code, kBadInput);
  const std::string dump = source_file("examples/dumps/npu.h5");
  EXPECT_THAT(run_program({"overflow", dump, "--loss-scale", "0"}).err,
              HasSubstr("--loss-scale is 0; it must be above 0"));
  EXPECT_EQ(run_program({"overflow", dump, "--json", dump}).code, kBadInput);
  const Outcome timed = run_program({"--case", "relu[8,fp16]", "--check-overflow", "--json", "-"});
  EXPECT_EQ(timed.code, kBadInput);
  EXPECT_THAT(timed.err, HasSubstr("--json does not go with --check-overflow"));
  EXPECT_THAT(run_program({"--case", "relu[8,fp16]", "--loss-scale", "8"}).err,
              HasSubstr("--loss-scale needs a step whose precision has a loss_scale"));
}

}  // namespace opbench
