// Tests the sources that commands accept in place of an HDF5 dump: NumPy arrays, folders of arrays,
// dump.json of msprobe.
#include <gmock/gmock.h>

#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "cli/cli.h"
#include "dump/arrays/numpy_writer.h"
#include "tests/cli/error_line.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"
#include "tests/support/wide_terminal.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

class SourcesCli : public testing::Test, protected TempDir {
 protected:
  const WideTerminal wide_;
  void write_array(const std::string& name, const std::vector<float>& values) const {
    fs::create_directories(fs::path(path(name)).parent_path());
    NpyWriter writer(path(name), StoredType::f32, {static_cast<std::int64_t>(values.size())});
    writer.write(values.data(), values.size() * sizeof(float));
    writer.finish();
  }
  /// The paths that `opbench show` finds, and the rows of its table.
  std::vector<std::string> shown(const std::string& name) {
    const Outcome outcome = run_program({"show", path(name), "--json", "-"});
    EXPECT_EQ(outcome.code, kAllWell) << outcome.err;
    rows_ = nlohmann::json::parse(outcome.out);
    std::vector<std::string> paths;
    for (const auto& row : rows_) paths.push_back(row["path"]);
    return paths;
  }
  Outcome compare(const std::string& a, const std::string& b) const {
    return run_program({"compare", path(a), path(b)});
  }

  nlohmann::json rows_;
};

/// A call of conv2d with its backward, as msprobe 26 writes it (task "tensor", level L1).
const char* const kMsprobe = R"({"task": "tensor", "level": "L1", "framework": "pytorch",
 "dump_data_dir": "/elsewhere/step0/rank0/dump_tensor_data",
 "data": {
  "Functional.conv2d.0.forward": {
   "input_args": [
    {"type": "torch.Tensor", "dtype": "torch.float32", "shape": [3], "Max": 1.0,
     "data_name": "Functional.conv2d.0.forward.input.0.npy"},
    {"type": "int", "value": 7}, null,
    [{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [1],
      "data_name": "Functional.conv2d.0.forward.input.3.0.npy"}]],
   "input_kwargs": {"eps": {"type": "float", "value": 0.5},
    "size": {"type": "torch.Size", "value": [4, 5]},
    "weights": [{"type": "bool", "value": true}, {"type": "float", "value": 2.5}]},
   "output": [{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [3],
               "data_name": "Functional.conv2d.0.forward.output.0.npy"}]},
  "Functional.conv2d.0.backward": {
   "input": [{"type": "torch.Tensor", "dtype": "torch.float32", "shape": [3], "Max": 2.0}],
   "output": []}}})";

TEST_F(SourcesCli, OneArrayIsShownWithItsValues) {
  write_array("a.npy", {1, 2.5f, -3});
  const Outcome outcome = run_program({"show", path("a.npy")});
  EXPECT_EQ(outcome.code, kAllWell) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("0 operators, 1 tensor, 12 bytes\n"));
  EXPECT_THAT(outcome.out, HasSubstr("      [ 1.   2.5 -3. ]\n"));
  write_array("b.npy", {1, 2.5f, -3});
  write_array("c.npy", {1, 2.5f, 3});
  EXPECT_EQ(compare("a.npy", "b.npy").code, kAllWell);
  const Outcome off = compare("a.npy", "c.npy");
  EXPECT_EQ(off.code, kVerdictFailed);
  EXPECT_THAT(off.out, HasSubstr("1 tensor compared: 0 passed, 1 failed"));
}

// The values are torch.arange(24) / 8, and /slice is a part of them.
TEST_F(SourcesCli, FilesOfPyTorchAreShown) {
  const Outcome outcome = run_program(
      {"show", source_file("tests/data/arrays/torch.pt"), "/slice", "/bf16", "--json", "-"});
  EXPECT_EQ(outcome.code, kAllWell) << outcome.err;
  EXPECT_THAT(outcome.err,
              HasSubstr("[[2.    2.125 2.25  2.375]\n       [2.5   2.625 2.75  2.875]]"));
  rows_ = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(rows_.size(), 2u);
  EXPECT_EQ(rows_[0]["path"], "/slice");
  EXPECT_EQ(rows_[1]["dtype"], "bf16");
  EXPECT_EQ(rows_[1]["max"], 2.875);
  EXPECT_EQ(rows_[1]["mean"], 1.4375);
}

TEST_F(SourcesCli, FoldersOfArraysAreReadAsTheGroupsOfHdf5) {
  write_array("d/softplus/7/input/self.npy", {0, 1});
  write_array("d/softplus/7/output/result.npy", {0.5f, 1.5f});
  write_array("d/weights/conv1.npy", {4});
  write_array("d/Conv2D.conv1.12.5.1600000000000001.output.0.npy", {1});
  write_array("d/Conv2D.conv1.12.5.1600000000000001.input.1.npy", {2});
  EXPECT_THAT(shown("d"), ElementsAre("/softplus/7/input/self", "/softplus/7/output/result",
                                      "/Conv2D.conv1/1600000000000001/input/1",
                                      "/Conv2D.conv1/1600000000000001/output/0", "/weights/conv1"));
  EXPECT_EQ(rows_[1]["operator"], "softplus");
  EXPECT_EQ(rows_[1]["number"], 7);
  EXPECT_EQ(rows_[1]["side"], "output");
  EXPECT_EQ(rows_[1]["max"], 1.5);
  fs::copy(path("d"), path("e"), fs::copy_options::recursive);
  write_array("e/softplus/7/output/result.npy", {0.5f, 9});
  const Outcome outcome = compare("d", "e");
  EXPECT_EQ(outcome.code, kVerdictFailed) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("5 tensors compared: 4 passed, 1 failed"));
  EXPECT_THAT(outcome.out, HasSubstr("/softplus/7/output/result"));
}

TEST_F(SourcesCli, FoldersOfStepsAndRanksPairByTheirNames) {
  const std::string npu = source_file("examples/dumps/npu.h5"),
                    gpu = source_file("examples/dumps/gpu.h5");
  for (const char* side : {"a", "b"}) {
    for (const char* rank : {"step0/rank0", "step0/rank1"}) {
      fs::create_directories(directory() / side / rank);
    }
  }
  fs::copy(gpu, path("a/step0/rank0/dump.h5"));
  fs::copy(npu, path("a/step0/rank1/dump.h5"));
  fs::copy(gpu, path("b/step0/rank0/dump.h5"));
  fs::copy(gpu, path("b/step0/rank1/dump.h5"));
  const Outcome outcome = compare("a", "b");
  EXPECT_EQ(outcome.code, kVerdictFailed) << outcome.err;
  // One pair of files has these failures (README); the other pair agrees.
  EXPECT_THAT(outcome.out, HasSubstr("18 tensors compared: 13 passed, 5 failed"));
  EXPECT_THAT(outcome.out, HasSubstr("/step0/rank1/softplus/2/output/result"));
}

TEST_F(SourcesCli, DumpJsonOfMsprobeNamesTheTensors) {
  write("m/step0/rank0/dump.json", kMsprobe);
  const std::string data = "m/step0/rank0/dump_tensor_data/Functional.conv2d.0.forward.";
  write_array(data + "input.0.npy", {1, 2, 3});
  write_array(data + "input.3.0.npy", {4});
  write_array(data + "output.0.npy", {5, 6, 7});
  const Outcome outcome = run_program({"show", path("m"), "--json", "-"});
  EXPECT_EQ(outcome.code, kCouldNotFinish);  // one tensor has only statistics
  const auto rows = nlohmann::json::parse(outcome.out);
  ASSERT_EQ(rows.size(), 8u);
  const std::string call = "/step0/rank0/Functional.conv2d.0.forward/1/";
  EXPECT_EQ(rows[0]["path"], call + "input/0");
  EXPECT_EQ(rows[0]["max"], 3.0);
  EXPECT_EQ(rows[1]["path"], call + "input/1");
  EXPECT_EQ(rows[1]["value"], 7);
  EXPECT_EQ(rows[2]["path"], call + "input/3/0");
  EXPECT_EQ(rows[3]["path"], call + "input/eps");
  EXPECT_EQ(rows[3]["value"], 0.5);
  EXPECT_EQ(rows[4]["path"], call + "input/size");
  EXPECT_EQ(rows[4]["value"], std::vector<double>({4, 5}));
  EXPECT_EQ(rows[5]["path"], call + "input/weights");
  EXPECT_EQ(rows[5]["value"], std::vector<double>({1, 2.5}));
  EXPECT_EQ(rows[6]["path"], call + "output/0");
  EXPECT_EQ(rows[6]["mean"], 6.0);
  EXPECT_EQ(rows[7]["path"], "/step0/rank0/Functional.conv2d.0.backward/2/input/0");
  EXPECT_EQ(rows[7]["problem"], "dump.json has statistics only, no data");
}

TEST_F(SourcesCli, MsprobeAgainstMsprobe) {
  for (const char* side : {"x", "y"}) {
    write(std::string(side) + "/dump.json", kMsprobe);
    const std::string data = std::string(side) + "/dump_tensor_data/Functional.conv2d.0.forward.";
    write_array(data + "input.0.npy", {1, 2, 3});
    write_array(data + "input.3.0.npy", {4});
    write_array(data + "output.0.npy", {5, 6, side[0] == 'x' ? 70.0f : 7.0f});
  }
  const Outcome outcome = compare("x", "y");
  EXPECT_EQ(outcome.code, kVerdictFailed) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("70, expected 7"));
}

TEST_F(SourcesCli, HostileFoldersAreOneLine) {
  const auto refused = [&](const std::string& name, const std::string& text) {
    const Outcome outcome = run_program({"show", path(name)});
    expect_one_line_error(outcome, kBadInput, text);
  };
  fs::create_directory(path("empty"));
  refused("empty", "holds no dump: no .h5, .npy, .npz or .pt file, and no dump.json");
  write("list/dump.json", "[1, 2]");
  refused("list", "it has no object 'data'");
  write("cut/dump.json", "{\"data\": {");
  refused("cut", "dump.json");
  write("bad.npy", "\x93NUMPY");
  refused("bad.npy", "bad.npy");
  write("one/bad.npy", "\x93NUMPY");
  refused("one", "bad.npy");
}

// A name in dump.json must not lead out of the data folder.
TEST_F(SourcesCli, NamesInDumpJsonDoNotLeaveTheFolder) {
  write_array("secret.npy", {1});
  write("m/dump.json", R"({"data": {"../../x": {"input": [{"type": "torch.Tensor",
        "data_name": "../../secret.npy"}]}}})");
  const Outcome outcome = run_program({"show", path("m")});
  EXPECT_EQ(outcome.code, kCouldNotFinish);
  EXPECT_THAT(outcome.out, HasSubstr("/.._.._x/1\n"));
  EXPECT_THAT(outcome.out, HasSubstr("dump_tensor_data/secret.npy: No such file or directory"));
}

TEST_F(SourcesCli, OneDamagedArrayDoesNotHideTheOthers) {
  write_array("f/good.npy", {1, 2});
  write("f/bad.npy", "\x93NUMPY and so on");
  const Outcome outcome = run_program({"show", path("f")});
  EXPECT_EQ(outcome.code, kCouldNotFinish);
  EXPECT_THAT(outcome.out, HasSubstr("/good"));
  EXPECT_THAT(outcome.out, HasSubstr("bad.npy"));
}

}  // namespace
}  // namespace opbench
