// `opbench run --acl-json` through the built program. It writes files as a device does, and
// `opbench convert` reads them. Other tests check `opbench convert` against msaccucmp's results.
#include <fmt/format.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <filesystem>
#include <regex>

#include "dump/arrays/array_file.h"
#include "dump/device/device_dump.h"
#include "dump/dump_file.h"
#include "tensor/half.h"
#include "tests/cli/error_line.h"
#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::SizeIs;
using testing::StartsWith;

const std::string kCase = "softplus[2x17x3x5,fp16,NC1HWC0]";

class AclJsonCli : public testing::Test, protected TempDir {
 protected:
  // Writes acl.json with `fields` in "dump", in addition to dump_path.
  std::string config(const std::string& fields) const {
    return write("acl.json", fmt::format(R"({{"dump": {{"dump_path": "{}"{}{}}}}})", path("dumps"),
                                         fields.empty() ? "" : ", ", fields));
  }
  Outcome run(std::vector<std::string> selecting, const std::string& file) const {
    selecting.insert(selecting.end(),
                     {"--acl-json", file, "--time", "0.001", "--repetitions", "1"});
    return run_program(selecting);
  }
  Outcome run_case(const std::string& fields, std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {"--case", kCase, "--variant", "softplus_v2"});
    return run(std::move(more), config(fields));
  }
  Outcome run_unit(const std::string& fields, std::vector<std::string> more = {}) const {
    more.insert(more.begin(),
                {"--cases", source_file("cases/shufflenet_v2_unit.yaml"), "--set", "N=1",
                 "--filter", "stride2", "--dtype", "fp16", "--variant", "fused", "--no-verify"});
    return run(std::move(more), config(fields));
  }

  // The folder of the only run.
  fs::path folder() const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(path("dumps"))) found.push_back(entry.path());
    EXPECT_THAT(found, SizeIs(1));
    return found.empty() ? fs::path() : found.front();
  }
  std::vector<fs::path> tasks(const std::string& model = "1") const {
    std::vector<fs::path> found;
    for (const auto& entry : fs::directory_iterator(folder() / "0" / model / "0")) {
      found.push_back(entry.path());
    }
    std::sort(found.begin(), found.end());
    return found;
  }
  // The elements as fp32, because an HDF5 dump stores fp16 as fp32.
  static std::vector<float> floats_of_halves(ArrayFile& file) {
    const DumpEntry& entry = file.entries().front();
    std::vector<half> halves(static_cast<std::size_t>(entry.desc.elements()));
    file.read(entry, {0, entry.desc.elements()}, halves.data());
    return {halves.begin(), halves.end()};
  }
};

TEST_F(AclJsonCli, WhatIsDumpedIsWhatTheHdf5DumpHolds) {
  const Outcome outcome =
      run_case(R"("dump_mode": "all", "dump_op_switch": "on")", {"--dump", path("same.h5")});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("opbench: 1 tasks are dumped to " + path("dumps/2")));
  ASSERT_THAT(tasks(), SizeIs(1));
  EXPECT_TRUE(std::regex_match(tasks().front().filename().string(),
                               std::regex(R"(SoftplusV2\.softplus\.0\.0\.\d{16})")))
      << tasks().front();
  const std::vector<std::string> convert = {"convert", "-d", folder(), "-out", path("npy"),
                                            "-v",      "2",  "-f",     "NCHW"};
  ASSERT_EQ(run_program(convert).code, 0);
  DumpFile dump(path("same.h5"));
  ASSERT_THAT(dump.records(), SizeIs(1));
  int compared = 0;
  for (const auto& file : fs::recursive_directory_iterator(path("npy"))) {
    if (file.is_directory()) continue;
    const std::string name = file.path().filename();
    const bool is_input = name.ends_with(".input.0.2x17x3x5.npy");
    EXPECT_TRUE(is_input || name.ends_with(".output.0.2x17x3x5.npy")) << name;
    ArrayFile array(file.path());
    const DumpRecord& record = dump.records().front();
    const auto entries = record.on(is_input ? Side::input : Side::output);
    const DumpEntry& entry = **std::find_if(entries.begin(), entries.end(), [](const auto* one) {
      return one->kind == EntryKind::tensor;
    });
    std::vector<float> expected(static_cast<std::size_t>(entry.desc.elements()));
    dump.read(entry, {0, entry.desc.elements()}, expected.data());
    EXPECT_EQ(floats_of_halves(array), expected) << name;
    ++compared;
  }
  EXPECT_EQ(compared, 2);
}

TEST_F(AclJsonCli, TheHeaderSaysHowItIsStored) {
  ASSERT_EQ(run_case(R"("dump_mode": "all", "dump_op_switch": "on")").code, 0);
  const DeviceDump dump(tasks().front(), DeviceDumpVersion::binary);
  EXPECT_EQ(dump.op_name(), "softplus");
  ASSERT_THAT(dump.tensors(), SizeIs(2));
  for (const DeviceTensor& tensor : dump.tensors()) {
    EXPECT_EQ(tensor.data_type, 2);                           // DT_FLOAT16
    EXPECT_EQ(tensor.format, 3);                              // NC1HWC0
    EXPECT_THAT(*tensor.shape, ElementsAre(2, 2, 3, 5, 16));  // 17 channels in 2 blocks of 16
    EXPECT_THAT(tensor.original_shape, ElementsAre(2, 17, 3, 5));
    EXPECT_EQ(tensor.place.bytes, 2 * 2 * 3 * 5 * 16 * 2);
  }
  EXPECT_EQ(text_of(folder() / "models.csv"),
            fmt::format("model_id,model_name,variant,tasks\n1,\"{}\",softplus_v2,1\n",
                        "softplus[2x17x3x5,fp16,NC1HWC0,beta=1,threshold=20]"));
}

TEST_F(AclJsonCli, OneSideIsDumpedByMode) {
  ASSERT_EQ(run_case(R"("dump_op_switch": "on")").code, 0);
  const DeviceDump outputs(tasks().front(), DeviceDumpVersion::binary);
  ASSERT_THAT(outputs.tensors(), SizeIs(1));
  EXPECT_EQ(outputs.tensors().front().side, Side::output);
  fs::remove_all(path("dumps"));
  ASSERT_EQ(run_case(R"("dump_op_switch": "on", "dump_mode": "input", "dump_list": [])").code, 0);
  const DeviceDump inputs(tasks().front(), DeviceDumpVersion::binary);
  ASSERT_THAT(inputs.tensors(), SizeIs(1));
  EXPECT_EQ(inputs.tensors().front().side, Side::input);
}

TEST_F(AclJsonCli, EveryVariantIsAModel) {
  const Outcome outcome = run({"--case", kCase, "--variant", "native,softplus_v2"},
                              config(R"("dump_op_switch": "on")"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(tasks("1"), SizeIs(1));
  EXPECT_THAT(tasks("2"), SizeIs(1));
}

TEST_F(AclJsonCli, AContextIsAModelAndItsNodesAreLayers) {
  const Outcome outcome = run_unit(
      R"("dump_list": [{"model_name": "stride2",
          "layer": ["unit.branch2.pw1.conv.conv", "unit.nobody"]}])");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_THAT(outcome.err, HasSubstr("dump_list names 'unit.nobody', but no task has this name"));
  ASSERT_THAT(tasks(), SizeIs(1));
  EXPECT_THAT(tasks().front().filename(), StartsWith("Conv2D.unit_branch2_pw1_conv_conv.0.0."));
}

TEST_F(AclJsonCli, WithoutAListAllTasksOfAContextAreDumped) {
  const Outcome outcome = run_unit("");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_GT(tasks().size(), 20u);
  const Outcome converted =
      run_program({"convert", "-d", folder(), "-out", path("npy"), "-v", "2"});
  EXPECT_EQ(converted.code, 0) << converted.err;
}

TEST_F(AclJsonCli, LoadedRecordsAreSingleOperators) {
  const Outcome outcome = run({"--load", source_file("examples/dumps/gpu.h5"), "--only", "^relu"},
                              config(R"("dump_op_switch": "on")"));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  ASSERT_THAT(tasks(), SizeIs(1));
  EXPECT_THAT(tasks().front().filename(), StartsWith("Relu.relu_1.0.0."));
}

TEST_F(AclJsonCli, WhatWouldDumpNothingIsRefused) {
  const Outcome off = run_case("");
  EXPECT_EQ(off.code, 2);
  EXPECT_THAT(off.err, HasSubstr("acl.json: dump.dump_op_switch is off, and only single operators "
                                 "are selected; \"on\" dumps them\n"));
  const Outcome unknown = run_unit(R"("dump_list": [{"model_name": "strode2"}])");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_THAT(unknown.err, HasSubstr("no context 'strode2' is selected; did you "
                                     "mean 'stride2'?"));
  EXPECT_FALSE(fs::exists(path("dumps")));
}

TEST_F(AclJsonCli, BadConfigurationsAreNamedByFileAndField) {
  const std::pair<const char*, const char*> bad[] = {
      {R"({"dump": {"dump_path": "d" "dump_mode": "all"}})", "acl.json: "},
      {R"({})", "acl.json: "},
      {R"({"dump": {"dump_mode": "all"}})", "dump_path"},
      {R"({"dump": {"dump_path": ""}})", "dump.dump_path is empty"},
      {R"({"dump": {"dump_path": "d", "dump_mode": "ALL"}})",
       "dump.dump_mode is 'ALL'; allowed are output, input, all"},
      {R"({"dump": {"dump_path": "d", "dump_op_switch": true}})", "dump.dump_op_switch"},
      {R"({"dump": {"dump_path": "d", "dump_step": "0-3"}})",
       "dump.dump_step is not supported; allowed are dump_list, dump_path"},
      {R"({"dump": {"dump_path": "d", "dump_list": [{"layer": ["conv"]}]}})",
       "dump.dump_list[0] has a layer, which needs a model_name"},
  };
  for (const auto& [text, message] : bad) {
    SCOPED_TRACE(text);
    const Outcome outcome = run({"--case", kCase}, write("acl.json", text));
    expect_one_line_error(outcome, 2, message);
  }
}

TEST_F(AclJsonCli, AFileInPlaceOfTheFolderIsNamed) {
  write("dumps", "a file");
  const Outcome outcome = run_case(R"("dump_op_switch": "on")");
  EXPECT_EQ(outcome.code, 3);
  EXPECT_THAT(outcome.err, HasSubstr("cannot make directory '" + path("dumps")));
}

}  // namespace
}  // namespace opbench
