// Tests `opbench compare` at the command line: files, exit codes, messages.
#include <H5Cpp.h>
#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>

#include "cli/cli.h"
#include "dump/dump_writer.h"
#include "tests/cli/csv.h"
#include "tests/cli/error_line.h"
#include "tests/support/source_tree.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;
using testing::EndsWith;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::Not;
using testing::SizeIs;
using testing::StartsWith;
using Json = nlohmann::json;

class Compare : public testing::Test, protected TempDir {
 protected:
  // Three operators in a row. The second output has the relative error `error`, and the third
  // operator takes this output as its input.
  void write(const std::string& name, DeviceType device, float error = 0) const {
    std::vector<float> x(100);
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = static_cast<float>(i) - 30;
    std::vector<float> y = x;
    for (float& value : y) value *= 1 + error;
    const TensorDesc desc = describe(DType::fp32, {10, 10});
    DumpWriter writer(path(name));
    writer.begin_record("First", device);
    writer.write_input("self", desc, x.data());
    writer.write_output("result", desc, x.data());
    writer.begin_record("Second", device);
    writer.write_input("self", desc, x.data());
    writer.write_output("result", desc, y.data());
    writer.begin_record("Third", device);
    writer.write_input("self", desc, y.data());
    writer.write_output("result", desc, y.data());
    writer.finish();
  }

  void write_pair(float error) const {
    write("npu.h5", DeviceType::npu, error);
    write("gpu.h5", DeviceType::cuda);
  }

  Outcome run(std::vector<std::string> more) const {
    std::vector<std::string> args = {"compare", "-q"};
    args.insert(args.end(), more.begin(), more.end());
    return opbench_with(std::move(args));
  }
  Outcome run_pair(std::vector<std::string> more = {}) const {
    more.insert(more.begin(), {path("npu.h5"), path("gpu.h5")});
    return run(more);
  }

  Json read_json(const std::string& name) const { return Json::parse(std::ifstream(path(name))); }

  std::vector<std::string> files(const std::string& folder) const {
    std::vector<std::string> names;
    for (const auto& file : fs::directory_iterator(path(folder))) {
      names.push_back(file.path().filename());
    }
    std::sort(names.begin(), names.end());
    return names;
  }
};

TEST_F(Compare, EqualDumpsPass) {
  write_pair(0);
  const Outcome outcome = run_pair();
  EXPECT_EQ(outcome.code, kAllWell) << outcome.err;
  EXPECT_THAT(outcome.out, HasSubstr("6 tensors compared: 6 passed, 0 failed"));
}

// One was trained under DataParallel and saved under other keys.
TEST_F(Compare, CheckpointsPairByParameter) {
  const std::string folder = test_data("arrays").string();
  const Outcome pair =
      run({folder + "/checkpoint.pth.tar", folder + "/checkpoint.pt", "-o", path("report")});
  EXPECT_EQ(pair.code, 0) << pair.err;
  EXPECT_THAT(read("report/compare.csv"), HasSubstr("/state_dict/module.weight"));
  const Json counts = read_json("report/compare.json")["counts"];
  EXPECT_EQ(counts["passed"], 3);
  EXPECT_EQ(counts["mistrusted"], 1) << "one number is all of it";
  EXPECT_EQ(counts["not_compared"], 0);
}

TEST_F(Compare, SaysWhatADepartureLooksLike) {
  write_pair(0.25f);
  const Outcome outcome = run_pair({"-o", path("out")});
  EXPECT_THAT(outcome.out,
              HasSubstr("  Looks like: every wrong value is 1.25 times what is expected"));
  const Json document = read_json("out/compare.json");
  for (const Json& tensor : document.at("tensors")) {
    const Json& causes = tensor.at("causes");
    ASSERT_EQ(causes.size(), tensor.at("verdict") == "failed" ? 1u : 0u) << tensor;
    for (const Json& cause : causes) EXPECT_EQ(cause.at("rule"), "scale");
  }
}

TEST_F(Compare, SaysOnceWhatSeveralOperatorsLookLike) {
  write_pair(0.25f);
  const std::string out = run_pair().out;
  const std::string table = out.substr(out.find("Operators that fail, worst first"));
  EXPECT_EQ(table.find("Looks like"), table.rfind("Looks like")) << table;
  EXPECT_THAT(table, HasSubstr("          The same: Third, call 3\n"));
}

// New memory may hold any values. Operators that overwrite it are not compared by it.
TEST_F(Compare, WhatIsOverwrittenIsNotCompared) {
  for (const char* name : {"npu.h5", "gpu.h5"}) {
    const bool is_npu = name[0] == 'n';
    const std::vector<float> before(4, is_npu ? 1e30f : -7), after(4, 2);
    const TensorDesc desc = describe(DType::fp32, {4});
    DumpWriter writer(path(name));
    for (const char* op : {"fill__Scalar", "copy_", "filler"}) {
      writer.begin_record(op, is_npu ? DeviceType::npu : DeviceType::cuda);
      writer.write_input("self", desc, before.data());
      writer.write_input("src", desc, after.data());
      writer.write_output("result", desc, after.data());
    }
    writer.finish();
  }
  const Outcome outcome = run_pair({"-o", path("out")});
  ASSERT_EQ(outcome.code, kVerdictFailed) << outcome.err;
  std::vector<std::string> verdicts;
  const Json document = read_json("out/compare.json");
  for (const Json& tensor : document.at("tensors")) {
    if (tensor.at("tensor") == "self") verdicts.push_back(tensor.at("verdict"));
  }
  EXPECT_THAT(verdicts, testing::ElementsAre("not compared", "not compared", "failed"));
}

// The symptom search reads 2^21 elements of the first tensor, 2^20 of the second and the third, and
// then stops.
TEST_F(Compare, LooksAtTheBeginningOfLargeTensorsAndAtNoMoreThanSomeMillions) {
  constexpr std::int64_t kRow = std::int64_t{1} << 20;
  for (const char* name : {"npu.h5", "gpu.h5"}) {
    const bool is_npu = name[0] == 'n';
    std::vector<float> values(3 * kRow);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] = (is_npu ? 1.25f : 1.0f) * static_cast<float>(i % 251);
    }
    DumpWriter writer(path(name));
    for (const char* op : {"First", "Second", "Third", "Fourth"}) {
      writer.begin_record(op, is_npu ? DeviceType::npu : DeviceType::cuda);
      const Dims shape = op[1] == 'i' && op[0] == 'F' ? Dims{3, kRow} : Dims{kRow};
      writer.write_output("result", describe(DType::fp32, shape), values.data());
    }
    writer.finish();
  }
  run_pair({"-o", path("out")});
  const Json tensors = read_json("out/compare.json").at("tensors");
  ASSERT_THAT(tensors, SizeIs(4));
  EXPECT_THAT(std::string(tensors[0]["causes"][0]["text"]),
              StartsWith("in the first 2097152 of 3145728 elements, every wrong value is 1.25"));
  EXPECT_TRUE(tensors[0]["error_map"].is_null()) << "of the whole tensor or none";
  EXPECT_THAT(std::string(tensors[2]["causes"][0]["text"]),
              StartsWith("every wrong value is 1.25"));
  EXPECT_FALSE(tensors[2]["error_map"].is_null());
  EXPECT_THAT(tensors[3]["causes"], IsEmpty());
  const Outcome last = opbench_with({"report", path("out/compare.json"), "--case", "Fourth"});
  EXPECT_THAT(last.out, HasSubstr("What it looks like: opbench compare"));
  const Outcome only = run_pair({"--only", "^/Fourth/4/"});
  EXPECT_THAT(only.out, HasSubstr("Looks like: every wrong value is 1.25 times"));
}

// min_tolerance is the smallest tolerance that would pass. For `prec` it is a number that
// --standard accepts: 69/4 here.
TEST_F(Compare, TheLeastToleranceIsOfTheStandard) {
  const auto least = [&](const std::string& standard) {
    run_pair({"-o", path("out"), "--standard", standard});
    const Json document = read_json("out/compare.json");
    for (const Json& tensor : document.at("tensors")) {
      if (tensor.at("verdict") == "failed") return tensor.at("min_tolerance");
    }
    return Json("none failed");
  };
  write_pair(0.25f);
  EXPECT_EQ(least("prec=1e-4"), 17.25);
  EXPECT_EQ(run_pair({"--standard", "prec=17.25"}).code, kAllWell);
  EXPECT_EQ(run_pair({"--standard", "prec=17.24"}).code, kVerdictFailed);
  EXPECT_LT(least("mixed"), 0.25);
  write_pair(std::nanf(""));
  for (const char* standard : {"prec=1e-4", "mixed", "exact", "statistical", "cosine"}) {
    EXPECT_TRUE(least(standard).is_null()) << standard << ": NaN is within no tolerance";
  }
}

// Values are i - 30 in 10 rows of 10, and 1.25 times these. The errors are |i - 30| / 4, in two
// digits.
TEST_F(Compare, HasAnErrorMapOfWhatDepartedAlone) {
  write_pair(0.25f);
  run_pair({"-o", path("out")});
  const Json document = read_json("out/compare.json");
  for (const Json& tensor : document.at("tensors")) {
    const Json& map = tensor.at("error_map");
    ASSERT_EQ(map.is_object(), tensor.at("verdict") == "failed") << tensor;
    if (map.is_null()) continue;
    EXPECT_EQ(map.at("shape"), "10x10");
    EXPECT_EQ(map.at("row_step"), 1);
    EXPECT_EQ(map.at("errors").size(), 10u);
    EXPECT_EQ(map.at("errors")[0], Json({7.5, 7.2, 7, 6.8, 6.5, 6.2, 6, 5.8, 5.5, 5.2}));
    EXPECT_EQ(map.at("errors")[3][0], 0);
    EXPECT_EQ(map.at("axes").size(), 2u);
    EXPECT_EQ(map.at("axes")[0].at("last"), 17);
    EXPECT_EQ(map.at("axes")[1].at("by_remainder").size(), 10u);
  }
}

TEST_F(Compare, NamesTheOperatorWhereTheErrorEnters) {
  write_pair(0.01f);
  const Outcome outcome = run_pair({"-o", path("out")});
  EXPECT_EQ(outcome.code, kVerdictFailed);
  EXPECT_THAT(outcome.out, HasSubstr("The difference enters at: Second, call 2\n"
                                     "  origin unknown: not recomputed: no operator of that name "
                                     "is known; its inputs\n  agree\n"));
  const Json report = read_json("out/compare.json");
  EXPECT_EQ(report.at("opbench_compare"), 2);
  EXPECT_EQ(report.at("partial"), false);
  EXPECT_THAT(report.at("tensors"), SizeIs(6));
  EXPECT_THAT(report.at("command"), HasSubstr("opbench compare"));
  const auto rows = csv::read(path("out/compare.csv"));
  ASSERT_EQ(rows.size(), 7u);
  for (const auto& row : rows) EXPECT_EQ(row.size(), rows.front().size());
  const auto names = files("out");
  ASSERT_EQ(names.size(), 3u);
  EXPECT_THAT(names[2], StartsWith("result_"));
  EXPECT_EQ(csv::read(path("out/" + names[2])).size(), 7u);
}

TEST_F(Compare, FailOnSaysWhatMakesTheExitCode) {
  write_pair(0.01f);
  EXPECT_EQ(run_pair({"--fail-on", "none"}).code, kAllWell);
  EXPECT_EQ(run_pair({"--fail-on", "first"}).code, kVerdictFailed);
  EXPECT_EQ(run_pair({"--only", "Third"}).code, kVerdictFailed);
  EXPECT_EQ(run_pair({"--only", "Third", "--fail-on", "first"}).code, kAllWell)
      << "its error was in its input already";
  expect_one_line_error(run_pair({"--fail-on", "some"}), kBadInput, "some");
}

TEST_F(Compare, TypedAsMsaccucmpAVerdictDoesNotChangeTheExitCode) {
  write_pair(0.01f);
  const Outcome outcome =
      run({"-m", path("npu.h5"), "-g", path("gpu.h5"), "-out", path("out"), "-alg", "1", "0", "3"});
  EXPECT_EQ(outcome.code, kAllWell) << outcome.err;
  const auto rows = csv::read(path("out/" + files("out").back()));
  EXPECT_EQ(rows[0][6], "MaxAbsoluteError");
  EXPECT_EQ(rows[0][7], "CosineSimilarity");
  EXPECT_EQ(rows[0][8], "RelativeEuclideanDistance");
  EXPECT_EQ(run({"-m", path("npu.h5"), "-g", path("gpu.h5"), "--fail-on", "any"}).code,
            kVerdictFailed);
}

TEST_F(Compare, SecondRunInOneSecondKeepsTheFirst) {
  write_pair(0);
  run_pair({"-o", path("out")});
  run_pair({"-o", path("out")});
  EXPECT_THAT(files("out"), SizeIs(4));
}

TEST_F(Compare, FilteredRowsComeWithTheirTensors) {
  write("npu.h5", DeviceType::npu, -2.0f);  // the opposite sign: cosine -1
  write("gpu.h5", DeviceType::cuda);
  EXPECT_EQ(run_pair({"-o", path("out"), "-p", "1", "--advisor", "--fail-on", "none"}).code,
            kAllWell);
  const auto names = files("out");
  ASSERT_THAT(names, SizeIs(5)) << "advice, two of ours, the result and its filtered rows";
  EXPECT_EQ(names[0], "advisor_summary.txt");
  EXPECT_THAT(names[4], EndsWith("_filtered"));
  const auto rows = csv::read(path("out/" + names[4] + "/filtered_result.csv"));
  EXPECT_EQ(rows.size(), 4u);
  EXPECT_THAT(files("out/" + names[4]), testing::Contains("my_dump2_output_result.npy"));
  EXPECT_EQ(fs::file_size(path("out/" + names[4] + "/gold_dump2_output_result.npy")), 128u + 400u);
  std::ostringstream advice;
  advice << std::ifstream(path("out/advisor_summary.txt")).rdbuf();
  EXPECT_THAT(advice.str(), HasSubstr("Operator Index: 2\n"));
}

TEST_F(Compare, AThirdDumpJudgesBoth) {
  write("ref.h5", DeviceType::cpu);
  write("npu.h5", DeviceType::npu, 0.002f);
  write("gpu.h5", DeviceType::cuda, 0.001f);
  const Outcome twice = run_pair({"--golden", path("ref.h5"), "--standard", "cross-check=L0"});
  EXPECT_EQ(twice.code, kAllWell) << twice.out;
  write("npu.h5", DeviceType::npu, 0.02f);
  EXPECT_EQ(run_pair({"--golden", path("ref.h5")}).code, kVerdictFailed);
  expect_one_line_error(run_pair({"--standard", "cross-check"}), kBadInput, "--golden");
}

// Both sides can be measured without the third dump. The reason must still name the third dump.
TEST_F(Compare, WhatAThirdDumpLacksIsNotJudgedByIt) {
  write_pair(0);
  write("ref.h5", DeviceType::cpu);
  H5::H5File(path("ref.h5"), H5F_ACC_RDWR).unlink("/Third");
  EXPECT_EQ(run_pair({"--golden", path("ref.h5"), "-o", path("out")}).code, kAllWell);
  const Json result = read_json("out/compare.json");
  EXPECT_EQ(result["counts"]["not_compared"], 2);
  for (const Json& tensor : result["tensors"]) {
    if (tensor["operator"] != "Third") continue;
    EXPECT_EQ(tensor["verdict"], "not compared");
    EXPECT_EQ(tensor["reason"], "not in " + path("ref.h5"));
  }
}

TEST_F(Compare, StandardsAndMapsComeFromFiles) {
  write_pair(0.01f);
  std::ofstream(path("loose.yaml")) << "operators:\n  - {regex: '.*', standard: cosine}\n";
  EXPECT_EQ(run_pair({"--standards", path("loose.yaml")}).code, kAllWell);
  std::ofstream(path("bad.yaml")) << "operators:\n  - {regexp: '.*'}\n";
  expect_one_line_error(run_pair({"--standards", path("bad.yaml")}), kBadInput, "bad.yaml:2");
  std::ofstream(path("map.yaml")) << "ops: 5\n";
  expect_one_line_error(run_pair({"--map", path("map.yaml")}), kBadInput, "map.yaml:1");
  expect_one_line_error(run_pair({"--map", path("none.yaml")}), kBadInput, "none.yaml");
}

TEST_F(Compare, NothingToCompareIsNoSuccess) {
  write_pair(0);
  EXPECT_EQ(run_pair({"--only", "Nowhere"}).code, kNothingToJudge);
  DumpWriter(path("empty.h5")).finish();
  EXPECT_EQ(run({path("empty.h5"), path("gpu.h5")}).code, kNothingToJudge);
}

TEST_F(Compare, BadInputIsOneLineAndLeavesNothing) {
  write_pair(0);
  const std::string npu = path("npu.h5");
  expect_one_line_error(run({npu}), kBadInput, "two dumps are needed");
  expect_one_line_error(run({npu, path("gpu.h5"), "-m", npu}), kBadInput, "two dumps are needed");
  expect_one_line_error(run({npu, npu}), kBadInput, "are the same file");
  expect_one_line_error(run({npu, path("none.h5")}), kBadInput, "No such file");
  std::ofstream(path("text.h5")) << "no HDF5\n";
  expect_one_line_error(run({npu, path("text.h5"), "-o", path("out")}), kBadInput,
                        "not an HDF5 file");
  EXPECT_FALSE(fs::exists(path("out")));
  fs::copy_file(npu, path("short.h5"));
  fs::resize_file(path("short.h5"), fs::file_size(npu) / 2);
  expect_one_line_error(run({npu, path("short.h5")}), kBadInput, "short.h5");
  expect_one_line_error(run_pair({"--only", "("}), kBadInput, "--only");
  expect_one_line_error(run_pair({"--match", "best"}), kBadInput, "--match");
  expect_one_line_error(run_pair({"--standard", "prec=-1"}), kBadInput, "prec=-1");
  expect_one_line_error(run_pair({"--memory", "1"}), kBadInput, "--memory");
  expect_one_line_error(run_pair({"--algorithm", "11"}), kBadInput, "11");
  expect_one_line_error(run_pair({"-p", "1"}), kBadInput, "-o DIR");
  std::ofstream(path("file")) << "x";
  expect_one_line_error(run_pair({"-o", path("file")}), kCouldNotFinish, "cannot make directory");
}

TEST_F(Compare, TheNumberOfThreadsChangesNothing) {
  write_pair(0.001f);
  std::vector<Json> tensors;
  for (const char* threads : {"1", "2", "7"}) {
    run_pair({"-o", path(threads), "--threads", threads});
    tensors.push_back(read_json(std::string(threads) + "/compare.json").at("tensors"));
  }
  EXPECT_EQ(tensors[0], tensors[1]);
  EXPECT_EQ(tensors[0], tensors[2]);
}

TEST_F(Compare, HelpShowsExamples) {
  const Outcome help = run({"--help"});
  EXPECT_EQ(help.code, kAllWell);
  EXPECT_THAT(help.out, HasSubstr("opbench compare -m npu.h5 -g gpu.h5 -out out -alg 0,1,3"));
  EXPECT_THAT(help.err, IsEmpty());
}

// Files from which msaccucmp loses tensors or at which it stops. The first operator of each file is
// readable.
TEST(MsaccucmpWeaknesses, EveryTensorIsAccountedFor) {
  for (const auto& directory : fs::directory_iterator(test_data("msaccucmp_weaknesses"))) {
    const std::string name = directory.path().filename();
    SCOPED_TRACE(name);
    const TempDir out;
    const Outcome outcome =
        opbench_with({"compare", directory.path() / "npu.h5", directory.path() / "gpu.h5", "-o",
                      out.directory(), "-q", "--fail-on", "none"});
    const bool is_well = outcome.code == kAllWell;
    EXPECT_THAT(outcome.err, StartsWith(is_well ? "" : "opbench: 1 tensor could"));
    EXPECT_EQ(outcome.err.empty(), is_well);
    const Json report = Json::parse(out.read("compare.json"));
    std::size_t named = 0;
    for (const Json& file : report.at("files")) {
      if (!file.is_null()) named += file.at("tensors").get<std::size_t>();
    }
    std::size_t found = 0;
    for (const Json& tensor : report.at("tensors")) {
      found += !tensor.at("actual_path").is_null();
      found += !tensor.at("expected_path").is_null();
    }
    EXPECT_GE(found, named);
    const Json& counts = report.at("counts");
    const int compared = counts.at("passed").get<int>() + counts.at("failed").get<int>() +
                         counts.at("mistrusted").get<int>();
    EXPECT_EQ(outcome.code, compared == 0 ? kNothingToJudge : kAllWell);
  }
}

}  // namespace
}  // namespace opbench
