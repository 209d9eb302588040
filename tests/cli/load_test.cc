// `opbench run --load` through the built program: runs operators of a dump on their recorded
// inputs.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <nlohmann/json.hpp>

#include "cli/cli.h"
#include "dump/dump_file.h"
#include "dump/dump_writer.h"
#include "tests/cli/error_line.h"
#include "tests/support/source_tree.h"
#include "tests/support/wide_terminal.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::StartsWith;

using Numbers = std::vector<double>;

class LoadCli : public testing::Test, protected TempDir {
 protected:
  std::string dump(std::vector<std::string> selecting, const std::string& name) {
    const std::string file = path(name);
    selecting.insert(selecting.end(), {"--dump", file, "--time", "0.001", "--repetitions", "1"});
    const Outcome run = run_program(selecting);
    EXPECT_NE(run.code, 2) << run.err;
    return file;
  }
  Outcome load(std::vector<std::string> more, const std::string& from) const {
    more.insert(more.begin(), {"--load", from});
    return run_program(more);
  }
  void expect_nothing_written(const Outcome& outcome, int code, const std::string& text) const {
    expect_one_line_error(outcome, code, text);
    EXPECT_FALSE(std::filesystem::exists(out_));
  }

  const std::string out_ = path("out.h5");
};

void write_tensor(DumpWriter& writer, Side side, const std::string& name, const Dims& shape,
                  const Numbers& values, DType dtype = DType::fp32) {
  Tensor tensor(describe(dtype, shape));
  from_doubles(dtype, values.data(), std::ssize(values), tensor.data());
  if (side == Side::input)
    writer.write_input(name, tensor.desc, tensor.data());
  else
    writer.write_output(name, tensor.desc, tensor.data());
}

std::vector<std::string> paths_of(const DumpRecord& record) {
  std::vector<std::string> paths;
  for (const DumpEntry& entry : record.entries) paths.push_back(entry.path);
  return paths;
}

std::vector<float> values_of(DumpFile& file, const std::string& path) {
  for (const DumpRecord& record : file.records()) {
    for (const DumpEntry& entry : record.entries) {
      if (entry.path != path) continue;
      std::vector<float> values(static_cast<std::size_t>(entry.desc.elements()));
      file.read(entry, {0, entry.desc.elements()}, values.data());
      return values;
    }
  }
  return {};
}

// A dump with records as Ascend's dumper names them: a list, two operators in one record, a number
// other than the first, and an unknown operator.
void write_as_the_dumper(const std::string& path) {
  DumpWriter writer(path);
  writer.begin_record("cat", DeviceType::cuda, {}, 3);
  write_tensor(writer, Side::input, "tensors/tensors_0", {1, 2}, {1, 2});
  write_tensor(writer, Side::input, "tensors/tensors_1", {1, 3}, {3, 4, 5});
  writer.write_input_scalar("dim", std::int64_t{1});
  write_tensor(writer, Side::output, "result", {1, 5}, {1, 2, 3, 4, 5});
  writer.begin_record("MmBackward", DeviceType::cuda, {}, 8);
  write_tensor(writer, Side::input, "grads/grads_0", {1, 2}, {1, 10});
  write_tensor(writer, Side::input, "self", {1, 2}, {2, 3});
  write_tensor(writer, Side::input, "mat2", {2, 2}, {1, 2, 3, 4});
  write_tensor(writer, Side::output, "grad_inputs/grad_inputs_0", {1, 2}, {21, 43});
  write_tensor(writer, Side::output, "grad_inputs/grad_inputs_1", {2, 2}, {2, 20, 3, 30});
  writer.begin_record("no_such_operator", DeviceType::cuda, {}, 9);
  write_tensor(writer, Side::input, "self", {1}, {1});
  write_tensor(writer, Side::output, "result", {1}, {1});
  writer.finish();
}

}  // namespace

TEST_F(LoadCli, WritesOutputsAloneUnderTheSameNumbers) {
  const std::string gpu = path("gpu.h5");
  write_as_the_dumper(gpu);
  const Outcome run = load({"--dump", out_}, gpu);
  EXPECT_EQ(run.code, kAllWell) << run.err << run.out;
  DumpFile file(out_);
  ASSERT_EQ(file.records().size(), 2u);
  EXPECT_THAT(paths_of(file.records()[0]),
              ElementsAre("/MmBackward/8/output/grad_inputs/grad_inputs_0",
                          "/MmBackward/8/output/grad_inputs/grad_inputs_1"));
  EXPECT_FALSE(file.records()[0].has_input_group) << "that is what load mode is known by";
  EXPECT_THAT(paths_of(file.records()[1]), ElementsAre("/cat/3/output/result"));
  // By hand: the gradients are products with mat2^T and self^T.
  EXPECT_THAT(values_of(file, "/MmBackward/8/output/grad_inputs/grad_inputs_0"),
              ElementsAre(21, 43));
  EXPECT_THAT(values_of(file, "/MmBackward/8/output/grad_inputs/grad_inputs_1"),
              ElementsAre(2, 20, 3, 30));
  EXPECT_THAT(values_of(file, "/cat/3/output/result"), ElementsAre(1, 2, 3, 4, 5));
  const Outcome compared = run_program({"compare", out_, gpu});
  EXPECT_THAT(compared.out, HasSubstr("3 tensors compared: 3 passed"));
}

TEST_F(LoadCli, TellsWhatIsNotRunWithItsShare) {
  const std::string gpu = path("gpu.h5");
  write_as_the_dumper(gpu);
  const Outcome run = load({"--dump", out_}, gpu);
  EXPECT_THAT(run.out, HasSubstr("2 of 3 records of " + gpu +
                                 " are run, with 91.7 % of the elements of all results\n"));
  EXPECT_THAT(run.out, HasSubstr("  no_such_operator 1x, 8.33 % of all elements: no operator of "
                                 "that name is known\n"));
  const Outcome none = load({"--only", "no_such"}, gpu);
  EXPECT_EQ(none.code, kNothingToJudge);
  EXPECT_THAT(none.err, HasSubstr("no record of " + gpu + " can be run\n"));
  EXPECT_THAT(load({"--only", "relu"}, gpu).err, HasSubstr("check --only\n"));
}

// One step is dumped: every task of both passes, with conversions. The kernels of the other step
// load it.
TEST_F(LoadCli, AContextOfOneVariantPassesWithAnother) {
  const std::string native = dump({"--cases", source_file("cases/shufflenet_v2_unit.yaml"), "--set",
                                   "N=1", "--filter", "^stride1$", "--variant", "native"},
                                  "native.h5");
  const Outcome run = load({"--dump", out_, "-q"}, native);
  EXPECT_EQ(run.code, kAllWell) << run.err << run.out;
  EXPECT_THAT(run.out, HasSubstr("with 100 % of the elements of all results\n"));
  const Outcome compared = run_program({"compare", out_, native});
  EXPECT_EQ(compared.code, kAllWell) << compared.out;
  EXPECT_THAT(compared.out, StartsWith("PASSED"));
  DumpFile file(out_);
  EXPECT_EQ(file.records().size(), DumpFile(native).records().size());
}

// SoftplusGrad (V1) is e^x/(1 + e^x). It is NaN for x > 88.72, because e^x overflows fp32.
TEST_F(LoadCli, AWrongVariantIsFound) {
  const WideTerminal wide;
  const std::string right =
      dump({"--case",
            "softplus_grad[64,64,fp32,ND,data.grad_output=uniform(-1,1),data.self=arange(80,0.25)]",
            "--variant", "softplus_v2_grad"},
           "r.h5");
  const Outcome good = load({"--variant", "native", "--dump", out_}, right);
  EXPECT_EQ(good.code, kAllWell) << good.out;
  EXPECT_EQ(run_program({"compare", out_, right}).code, kAllWell);
  const Outcome wrong = load({"--variant", "softplus_grad", "--dump", out_, "--overwrite"}, right);
  EXPECT_EQ(wrong.code, kVerdictFailed);
  EXPECT_THAT(wrong.out, HasSubstr("FAILED"));
  EXPECT_THAT(wrong.out, HasSubstr(fmt::format("--load {} --only '^SoftplusBackward/1$' --variant "
                                               "softplus_grad",
                                               right)));
  const Outcome compared = run_program({"compare", out_, right});
  EXPECT_EQ(compared.code, kVerdictFailed);
  EXPECT_THAT(compared.out, HasSubstr("/SoftplusBackward/1/output/"));
}

TEST_F(LoadCli, TheOriginalToolsRowsAreThoseOfLoadMode) {
  const std::string gpu = path("gpu.h5");
  write_as_the_dumper(gpu);
  ASSERT_EQ(load({"--dump", out_}, gpu).code, kAllWell);
  const Outcome compared =
      run_program({"compare", "-m", out_, "-g", gpu, "-out", directory().string()});
  EXPECT_EQ(compared.code, kAllWell) << compared.err;
  std::string rows;
  for (const std::string& name : files()) {
    if (name.starts_with("result_")) rows = read(name);
  }
  EXPECT_THAT(rows, HasSubstr("8,MmBackward,/MmBackward/8/output/grad_inputs/grad_inputs_0,"));
  EXPECT_THAT(rows, HasSubstr("3,cat,/cat/3/output/result,"));
  EXPECT_THAT(rows, Not(HasSubstr("/input/")));
}

TEST_F(LoadCli, WithTimeItIsACorpusOfDistinctCalls) {
  const std::string twice = path("twice.h5"), json = path("r.json");
  {
    DumpWriter writer(twice);
    const Numbers x = {-2, -1, 0, 1, 2, 3, 4, 5};
    for (const double sign : {1.0, -1.0}) {
      writer.begin_record("relu", DeviceType::cuda);
      Numbers in(x), out(x);
      for (double& value : in) value *= sign;
      std::transform(in.begin(), in.end(), out.begin(), [](double v) { return std::max(v, 0.0); });
      write_tensor(writer, Side::input, "self", {8}, in);
      write_tensor(writer, Side::output, "result", {8}, out);
    }
    writer.finish();
  }
  const Outcome run = load(
      {"--time", "0.002", "--repetitions", "2", "--variant", "native,relu", "--json", json}, twice);
  EXPECT_EQ(run.code, kAllWell) << run.out << run.err;
  const auto records = nlohmann::json::parse(read("r.json"))["records"];
  ASSERT_EQ(records.size(), 2u);
  EXPECT_EQ(records[0]["case"], "relu[8,fp32,ND]");
  EXPECT_EQ(records[0]["name"], "/relu/1");
  EXPECT_EQ(records[0]["count"], 2) << "the network runs it twice";
  EXPECT_EQ(records[0]["status"], "passed");
  EXPECT_GT(records[1]["median_us"], 0);
}

// Two records have the same shapes. The variant is wrong for the values of the second.
TEST_F(LoadCli, EveryRecordIsVerifiedOnItsOwnValues) {
  const std::string file = path("two.h5");
  {
    DumpWriter writer(file);
    for (const double x : {1.0, 100.0}) {
      writer.begin_record("SoftplusBackward", DeviceType::cuda);
      write_tensor(writer, Side::input, "grads/grads_0", {2}, {1, 0.5});
      write_tensor(writer, Side::input, "self", {2}, {x, -x});
      writer.write_input_scalar("beta", 1.0);
      writer.write_input_scalar("threshold", 20.0);
      const auto slope = [](double v) { return 1 / (1 + std::exp(-v)); };
      write_tensor(writer, Side::output, "grad_inputs/grad_inputs_0", {2},
                   {slope(x), 0.5 * slope(-x)});
    }
    writer.finish();
  }
  const Outcome run = load({"--variant", "softplus_grad", "--dump", out_}, file);
  EXPECT_EQ(run.code, kVerdictFailed);
  EXPECT_THAT(run.out, HasSubstr("(/SoftplusBackward/1 x2"));
  EXPECT_THAT(run.out, HasSubstr("(/SoftplusBackward/2 x1"));
  EXPECT_THAT(run.out, HasSubstr("1 passed, 1 failed"));
  EXPECT_EQ(DumpFile(out_).records().size(), 2u) << "what failed is dumped, too";
}

// Recorded indices have their own range. Timing copies them and must stay inside the range.
TEST_F(LoadCli, TimesIndicesAndPaddedFormats) {
  const std::string index =
                        dump({"--case", "index_select[8x4,5:int32,fp32,ND]", "--variant", "native"},
                             "index.h5"),
                    padded = dump({"--case", "relu[2x3x5x5,fp16,NC1HWC0]", "--variant", "relu"},
                                  "padded.h5");
  for (const std::string& file : {index, padded}) {
    const Outcome run = load({"--time", "0.002", "--repetitions", "3"}, file);
    EXPECT_EQ(run.code, kAllWell) << run.out << run.err;
    EXPECT_THAT(run.out, Not(HasSubstr("ERRORED")));
  }
}

TEST_F(LoadCli, DryRunShowsWhatIsDumped) {
  const std::string gpu = path("gpu.h5");
  write_as_the_dumper(gpu);
  const Outcome plan = load({"--dump", out_, "--dry-run", "--variant", "reference"}, gpu);
  EXPECT_EQ(plan.code, kAllWell);
  EXPECT_THAT(plan.out, HasSubstr("/cat/3  concat[1x2,1x3,fp32,ND,axis=1]\n  reference  dumped\n"));
  EXPECT_FALSE(std::filesystem::exists(out_));
}

TEST_F(LoadCli, BadInputIsOneLineAndLeavesNothing) {
  const std::string gpu = path("gpu.h5");
  write_as_the_dumper(gpu);
  const std::string whole = text_of(gpu);
  const std::string cut = write("cut.h5", whole.substr(0, whole.size() / 2));
  expect_nothing_written(load({"--dump", out_}, cut), kBadInput, "cut.h5");
  expect_nothing_written(load({"--dump", out_}, write("text.h5", "no dump")), kBadInput, "text.h5");
  expect_nothing_written(load({"--dump", out_}, path("none.h5")), kBadInput, "none.h5");
  expect_nothing_written(load({"--dump", out_, "--variant", "nativ"}, gpu), kBadInput,
                         "no operator of this run has a variant 'nativ'; did you mean 'native'?");
  expect_nothing_written(load({"--dump", out_, "--op", "relu"}, gpu), kBadInput,
                         "--op does not go with --load");
  expect_nothing_written(load({"--dump", out_, "--threads", "1,2"}, gpu), kBadInput,
                         "takes one number of --threads");
  expect_nothing_written(run_program({"--case", "relu[8,fp32]", "--only", "relu"}), kBadInput,
                         "--only needs --load FILE");
  EXPECT_EQ(load({"--dump", gpu}, gpu).code, kBadInput) << "would replace the dump";
  EXPECT_EQ(text_of(gpu), whole);
}

// The index of the first record is out of range. That record fails, the other records are run.
TEST_F(LoadCli, ARecordThatLiesIsNamedAndTakesNothingFromOthers) {
  const std::string file = path("lies.h5");
  {
    DumpWriter writer(file);
    writer.begin_record("index_select", DeviceType::cuda);
    write_tensor(writer, Side::input, "self", {3}, {1, 2, 3});
    write_tensor(writer, Side::input, "index", {2}, {0, 7}, DType::int64);
    writer.write_input_scalar("dim", std::int64_t{0});
    write_tensor(writer, Side::output, "result", {2}, {1, 1});
    writer.begin_record("relu", DeviceType::cuda);
    write_tensor(writer, Side::input, "self", {2}, {-1, 1});
    write_tensor(writer, Side::output, "result", {2}, {0, 1});
    writer.finish();
  }
  const Outcome run = load({"--dump", out_}, file);
  EXPECT_EQ(run.code, kCouldNotFinish);
  EXPECT_THAT(run.out, HasSubstr("ERRORED"));
  EXPECT_THAT(run.out, HasSubstr("7"));
  EXPECT_THAT(values_of(*std::make_unique<DumpFile>(out_), "/relu/2/output/result"),
              ElementsAre(0, 1));
}

TEST_F(LoadCli, AFullDiskLeavesNoFile) {
  const std::string file = dump({"--case", "relu[300000,fp32,ND]", "--variant", "native"}, "b.h5");
  const Outcome run = shell(fmt::format("ulimit -f 100; trap '' XFSZ; '{}' --load '{}' --dump '{}'",
                                        program(), file, out_));
  EXPECT_EQ(run.code, kCouldNotFinish) << run.err;
  EXPECT_THAT(run.err, HasSubstr(out_));
  EXPECT_THAT(files(), ElementsAre("b.h5"));
}

}  // namespace opbench
