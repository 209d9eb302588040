// Compares host logs with values parsed by hand from the same lines: tests/data/profiles/host_logs.
#include "profiles/host_log.h"

#include <gmock/gmock.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "tests/support/source_tree.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::IsEmpty;
using testing::Pair;
using testing::SizeIs;

std::filesystem::path sample(const std::string& name) {
  return test_data("profiles/host_logs") / name;
}

HostLogs read_text(const std::string& text) {
  HostLogs logs;
  LineReader reader(ByteWindow(bytes_of(text)), "t.log");
  logs.read(reader);
  return logs;
}

HostLogs read_sample(const std::string& name) { return read_text(text_of(sample(name))); }

json parsed(const std::string& name) {
  std::ifstream file(sample(name));
  return json::parse(file);
}

void expect_tensors(const std::vector<LoggedTensor>& found, const json& wanted) {
  ASSERT_EQ(std::ssize(found), std::ssize(wanted));
  for (std::size_t i = 0; i < found.size(); ++i) {
    EXPECT_EQ(found[i].dtype, wanted[i]["dtype"]);
    EXPECT_EQ(found[i].format, wanted[i]["format"]);
    EXPECT_EQ(found[i].storage_format, wanted[i]["storage_format"]);
    EXPECT_EQ(json(found[i].shape), wanted[i]["shape"]);
    EXPECT_EQ(json(found[i].storage_shape), wanted[i]["storage_shape"]);
    EXPECT_EQ(found[i].memory, wanted[i]["memtype"]);
  }
}

void expect_calls(const HostLogs& logs, const json& wanted) {
  const std::vector<std::size_t> sequence = logs.sequence();
  ASSERT_EQ(std::ssize(sequence), std::ssize(wanted));
  for (std::size_t i = 0; i < sequence.size(); ++i) {
    SCOPED_TRACE(i);
    const LoggedCall& call = logs.calls()[sequence[i]];
    EXPECT_EQ(call.op, wanted[i]["op"]);
    EXPECT_EQ(call.is_truncated, wanted[i]["truncated"]);
    EXPECT_EQ(call.attrs ? json(*call.attrs) : json(), wanted[i]["attrs"]);
    expect_tensors(call.inputs, wanted[i]["inputs"]);
    expect_tensors(call.outputs, wanted[i]["outputs"]);
  }
}

TEST(HostLog, ReadsEveryCallOnceAndNothingBehindACut) {
  expect_calls(read_sample("plog-27441_20230109110428123.log"),
               parsed("expected_op_info_cases.json"));
}

// The guide's script drops the last character of each line: "}" of Attr, or a space.
// The other form of the script writes a call once, type by type in the order of a Python set.
TEST(HostLog, WritesTheSummaryOfTheGuideWithItsLastCharacters) {
  const HostLogs logs = read_sample("plog-27441_20230109110428123.log");
  std::ostringstream ours;
  write_op_info(ours, logs);
  std::istringstream every_call(text_of(sample("ascend_op_info_summary.txt"))), lines(ours.str());
  std::set<std::string> theirs, without_last;
  std::vector<std::string> types;
  for (std::string line; std::getline(every_call, line);) theirs.insert(line);
  for (std::string line; std::getline(lines, line);) {
    const std::string type = line.substr(0, line.find(' '));
    if (types.empty() || types.back() != type) types.push_back(type);
    if (!theirs.contains(line)) line.pop_back();
    without_last.insert(line);
  }
  EXPECT_EQ(theirs.size(), 19U);  // of 23 calls
  EXPECT_EQ(without_last, theirs);
  EXPECT_EQ(std::set(types.begin(), types.end()).size(), types.size()) << "a type is one block";
  EXPECT_EQ(read_text(ours.str()).sequence().size(), 19U);  // it is readable again
}

TEST(HostLog, ReadsTheGuidesSummaryAsTheLog) {
  json wanted = parsed("expected_op_info_cases.json");
  const HostLogs logs = read_sample("ascend_op_info_summary.txt");
  EXPECT_EQ(std::ssize(logs.sequence()), std::ssize(wanted));
  for (std::size_t i = 0; i < logs.sequence().size(); ++i) {
    if (wanted[i]["truncated"].get<bool>()) continue;
    const LoggedCall& call = logs.calls()[logs.sequence()[i]];
    EXPECT_EQ(call.attrs ? json(*call.attrs) : json(), wanted[i]["attrs"]);
    expect_tensors(call.outputs, wanted[i]["outputs"]);
  }
}

TEST(HostLog, CountsCallsOfTheSecondInterfaceAndOrdersThemByTime) {
  const std::string tensor =
      "InputDesc[0]: [TensorDesc] DataType = 1, Format = 2, StorageFormat = 2, Shape = [-1, 3], "
      "StorageShape = [-1, 3], shapeRange = [[1, 16], [3, 3]], memtype = 0, isConst = true, Const "
      "Len = 4 , Const data = 1,2,3,4, ";
  const std::string line = "[INFO] ASCENDCL(7,python):2023-01-09-11:04:28.000.";
  const HostLogs logs = read_text(
      line + "200 [a.cpp:1]7 f: aclopCompileV2::aclOp = OpType: Mul, " + tensor + "\r\n" + line +
      "100 [a.cpp:1]7 f: aclopCompile::aclOp = OpType: Add, " + tensor + "Attr: {}\n" + line +
      "300 [a.cpp:1]7 f: ExecuteAsyncV2::aclOp = OpType: Mul, " + tensor + "\n");
  ASSERT_THAT(logs.calls(), SizeIs(2));
  EXPECT_THAT(logs.sequence(), ElementsAre(1, 0));
  const LoggedCall &mul = logs.calls()[0], &add = logs.calls()[1];
  EXPECT_EQ(mul.count, 1);
  EXPECT_FALSE(mul.is_truncated);
  ASSERT_THAT(mul.inputs, SizeIs(1));
  EXPECT_THAT(mul.inputs[0].shape, ElementsAre(-1, 3));
  EXPECT_TRUE(mul.inputs[0].is_const);
  EXPECT_THAT(mul.inputs[0].values, IsEmpty());  // its extent is unknown
  EXPECT_EQ(add.attrs, "{}");
}

// The log states twice that a tensor is constant. The numbers follow the second statement.
TEST(HostLog, ReadsTheNumbersOfConstants) {
  const auto values = [](const std::string& shape, const std::string& constant) {
    const LoggedCall call = parse_call(
        "Transpose",
        "InputDesc[0]: [TensorDesc] DataType = 9, Format = 2, StorageFormat = 2, Shape = " + shape +
            ", StorageShape = [], shapeRange = [], memtype = 1, isConst = " + constant +
            "OutputDesc[0]: [TensorDesc] DataType = 0, Format = 2, "
            "StorageFormat = 2, Shape = [], StorageShape = [], shapeRange = [], "
            "memtype = 0, isConst = 0 ",
        false);
    EXPECT_FALSE(call.is_truncated) << constant;
    EXPECT_THAT(call.outputs, SizeIs(1)) << constant;
    return call.inputs.at(0).values;
  };
  EXPECT_THAT(values("[4]", "true, Const Len = 4 , Const data = 0,2,3,-1, "),
              ElementsAre(0, 2, 3, -1));
  EXPECT_THAT(values("[2]", "1 , isConst = true, Const Len = 2 ,Const data = 7,8,"),
              ElementsAre(7, 8));
  EXPECT_THAT(values("[]", "1 , isConst = true, Const Len = 1 , Const data = 0.5, "),
              ElementsAre(0.5));
  EXPECT_THAT(values("[2]", "true, Const Len = 16 , Const data = 1,0,0,0,0,0,0,0,2,0,0,0,0,0,0,0,"),
              IsEmpty());
  EXPECT_THAT(values("[2]", "true, Const Len = 2 , Const data = 7,x,"), IsEmpty());
  EXPECT_THAT(values("[2]", "0 "), IsEmpty());
}

void expect_blocks(const std::string& name) {
  const HostLogs logs = read_sample(name + ".out");
  json found;
  for (const CompileBlock& block : logs.blocks()) {
    found[block.mark.empty() ? "before" : block.mark.substr(4)] = block.ops;
  }
  EXPECT_EQ(found, parsed(name + ".expected.json"));
}

TEST(HostLog, SortsCompiledOperatorsByMark) {
  expect_blocks("nohup_recompile_old");
  expect_blocks("nohup_recompile_new");
}

TEST(HostLog, WritesTheListOfTheGuideAndOfNewLogsTheNamesAlone) {
  std::ostringstream old_list, new_list;
  write_recompiles(old_list, read_sample("nohup_recompile_old.out"));
  EXPECT_EQ(old_list.str(), text_of(sample("nohup_recompile_old.recompile_op_list.txt")));
  const HostLogs logs = read_sample("nohup_recompile_new.out");
  write_recompiles(new_list, logs);
  EXPECT_THAT(new_list.str(), testing::StartsWith("iter: 0\nCast,ZerosLike\niter: 1\nIdentity,"));
  EXPECT_DOUBLE_EQ(logs.blocks()[0].milliseconds, 844.312436 + 1286.773555);
  EXPECT_EQ(logs.blocks()[0].compiles, 2);
}

TEST(HostLog, NamesWhatStillCompilesAfterTheThirdStep) {
  // By hand: marks 3 to 7 of the sample.
  EXPECT_THAT(read_sample("nohup_recompile_old.out").compiled_after(3),
              ElementsAre(Pair("NonZero", 3), Pair("Iou", 3), Pair("ROIAlign", 3), Pair("Index", 3),
                          Pair("SliceD", 2), Pair("ConcatD", 2), Pair("NMSWithMask", 1),
                          Pair("GatherV2D", 1)));
  EXPECT_THAT(read_sample("nohup_recompile_old.out").compiled_after(20), IsEmpty());
}

TEST(HostLog, ReadsOnBehindLinesWithoutAnEnd) {
  const std::string text = std::string(3 * kLongestLine, 'x') + "\n=====iter0\n" +
                           std::string("\0\xff\n", 3) + "x To compile op: Add, compileFlag is 0";
  LineReader reader(ByteWindow(bytes_of(text)), "t.log");
  HostLogs logs;
  EXPECT_EQ(logs.read(reader), 2);
  EXPECT_EQ(reader.skipped().count(), 1);
  ASSERT_THAT(logs.blocks(), SizeIs(2));
  EXPECT_THAT(logs.blocks()[1].ops, ElementsAre("Add"));
}

// A cut at any place leaves the tensors before it unchanged.
TEST(HostLog, GuessesNothingOfACutCall) {
  const LoggedCall whole = read_sample("plog-27441_20230109110428123.log").calls()[1];
  for (std::size_t length = 0; length < whole.descriptor.size(); ++length) {
    const LoggedCall cut = parse_call(whole.op, whole.descriptor.substr(0, length), false);
    ASSERT_LE(cut.inputs.size(), whole.inputs.size());
    for (std::size_t i = 0; i < cut.inputs.size(); ++i) {
      EXPECT_EQ(cut.inputs[i].storage_shape, whole.inputs[i].storage_shape) << length;
    }
    EXPECT_FALSE(cut.attrs) << length;
  }
}

}  // namespace
}  // namespace opbench
