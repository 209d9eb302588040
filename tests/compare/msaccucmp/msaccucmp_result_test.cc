#include "compare/msaccucmp/msaccucmp_result.h"

#include <gmock/gmock.h>

#include <sstream>

#include "tests/compare/dump_records.h"
#include "tests/compare/pair_support.h"

namespace opbench {
namespace {

using compare_tests::entry;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

DumpEntry npu_entry() { return entry("Mix", "2", "output/r", DeviceType::npu); }
DumpEntry gpu_entry() { return entry("Mix", "3", "output/r", DeviceType::cuda); }

std::string refusal(const DumpEntry& actual, const DumpEntry& golden) {
  return msaccucmp_refusal("Mix", actual, golden);
}

TEST(MsaccucmpRefusal, DataTypesMustBeKnownAndAgree) {
  DumpEntry mine = npu_entry(), theirs = gpu_entry();
  EXPECT_EQ(refusal(mine, theirs), "");
  theirs.attributes.data_type = 11;
  EXPECT_EQ(refusal(mine, theirs),
            "The DataType on both sides are different, my dump data path is /Mix/2/output/r, the "
            "data type of both sides is(Float,Double).");
  theirs.attributes.data_type = 16;
  EXPECT_EQ(refusal(mine, theirs), "16 is not in list");
  mine.attributes.data_type.reset();
  EXPECT_EQ(refusal(mine, theirs), "None is not in list");
}

TEST(MsaccucmpRefusal, IntAndLongFloatAndHalfAgreeEitherWay) {
  const auto agree = [](std::int64_t a, std::int64_t b) {
    DumpEntry mine = npu_entry(), theirs = gpu_entry();
    mine.attributes.data_type = a;
    theirs.attributes.data_type = b;
    return refusal(mine, theirs).empty();
  };
  EXPECT_TRUE(agree(6, 7) && agree(7, 6) && agree(1, 10) && agree(10, 1) && agree(9, 9));
  EXPECT_FALSE(agree(6, 5) || agree(2, 3) || agree(9, 2) || agree(10, 11));
}

TEST(MsaccucmpRefusal, GoldenDataFromCpuOrGpuNeedsStride) {
  DumpEntry mine = npu_entry(), theirs = gpu_entry();
  mine.attributes.stride.reset();
  EXPECT_EQ(refusal(mine, theirs), "");
  theirs.attributes.stride.reset();
  EXPECT_EQ(refusal(mine, theirs), "'NoneType' object is not iterable");
  theirs.attributes.device_type = 10;
  EXPECT_EQ(refusal(mine, theirs), "");
}

TEST(MsaccucmpRefusal, NumbersOfElementsMustAgreeShapesNeedNot) {
  DumpEntry mine = npu_entry(), theirs = gpu_entry();
  mine.desc.shape = {3, 4};
  theirs.desc.shape = {1, 12, 1};
  EXPECT_EQ(refusal(mine, theirs), "");
  theirs.desc.shape = {3, 5};
  EXPECT_EQ(
      refusal(mine, theirs),
      "[Mix] Due to the different shapes on the left and right,the left dump data(12) can not "
      "be compared to the right dump data(15). Please check the batch of the dump data or the "
      "shape may be changed due to optimization.");
}

MsaccucmpLine line(const std::string& index, const std::string& cosine) {
  MsaccucmpLine made;
  static const DumpEntry mine = entry("Op", "1", "output/r", DeviceType::npu);
  static const DumpEntry theirs = entry("Op", "2", "output/r", DeviceType::cuda);
  made.row = {index, "Op", "", "", {&mine, &theirs}};
  made.cells = {cosine, "0.5"};
  if (cosine != "NaN") made.cosine = std::stod(cosine);
  return made;
}

MsaccucmpLines all(const std::vector<MsaccucmpLine>& lines) {
  return [&lines](const auto& use) {
    for (const MsaccucmpLine& line : lines) use(line);
  };
}

const std::vector<Metric> kColumns = {Metric::cosine_similarity, Metric::max_absolute_error};

TEST(MsaccucmpCsv, HeaderQuotesAndLineEnds) {
  MsaccucmpLine first = line("3", "1.000000");
  first.dtype = "float32";
  first.shape = "[2,3]";
  first.row.reason = "one, \"two\"";
  std::ostringstream out;
  write_msaccucmp_csv(out, kColumns, all({first}));
  EXPECT_EQ(out.str(),
            "Index,NPUDump,NPUDumpPath,GroundTruthPath,DataType,Shape,CosineSimilarity,"
            "MaxAbsoluteError,CompareFailReason\r\n"
            "3,Op,/Op/1/output/r,/Op/2/output/r,float32,\"[2,3]\",1.000000,0.5,"
            "\"one, \"\"two\"\"\"\r\n");
}

TEST(MsaccucmpCsv, NamesThatASpreadsheetWouldRunAreTexts) {
  MsaccucmpLine evil = line("1", "1.000000");
  evil.row.npu_dump = "=cmd|' /C calc'!A0";
  std::ostringstream out;
  write_msaccucmp_csv(out, kColumns, all({evil}));
  EXPECT_THAT(out.str(), HasSubstr("\r\n1,'=cmd|' /C calc'!A0,"));
}

TEST(MsaccucmpLine, SaysWhyThereAreNoNumbers) {
  const DumpEntry mine = npu_entry(), theirs = gpu_entry();
  const MsaccucmpRow row = {"2", "Mix", "", "", {&mine, &theirs}};
  EXPECT_THAT(msaccucmp_line(row, kColumns, nullptr).cells, ElementsAre("NaN", "NaN"));
  PairMeasures measures;
  EXPECT_EQ(msaccucmp_line(row, kColumns, &measures).row.reason, "not reached");
  measures.error = "damaged";
  EXPECT_EQ(msaccucmp_line(row, kColumns, &measures).row.reason, "damaged");
  EXPECT_EQ(msaccucmp_line(row, kColumns, &measures).dtype, "NaN");
}

TEST(MsaccucmpLine, TypeAndShapeAreTheNpuTensors) {
  DumpEntry mine = npu_entry(), theirs = gpu_entry();
  mine.stored_name = ">f4";
  mine.desc.shape = {1, 2};
  theirs.desc.shape = {2};
  PairMeasures measures;
  measures.is_done = true;
  measures.sums.count = 2;
  const MsaccucmpRow row = {"2", "Mix", "", "", {&mine, &theirs}};
  const MsaccucmpLine made = msaccucmp_line(row, kColumns, &measures);
  EXPECT_EQ(made.dtype, ">f4");
  EXPECT_EQ(made.shape, "[1,2]");
}

// msaccucmp's own filter omits "nan".
TEST(MsaccucmpFilter, KeepsWhatIsLowOrNoNumber) {
  EXPECT_TRUE(line("1", "0.950000").is_to_look_at());
  EXPECT_FALSE(line("2", "0.950001").is_to_look_at());
  EXPECT_TRUE(line("3", "NaN").is_to_look_at());
  EXPECT_TRUE(line("4", "nan").is_to_look_at());
  EXPECT_FALSE(line("5", "1.0").is_to_look_at());
}

// Without a cosine column, msaccucmp reads another column instead.
TEST(MsaccucmpFilter, NeedsNoColumnOfCosines) {
  const DumpEntry mine = npu_entry(), theirs = gpu_entry();
  const MsaccucmpRow row = {"2", "Mix", "", "", {&mine, &theirs}};
  const PairMeasures good = measure_one(float_pair({1, 2}, {1, 2}));
  const PairMeasures bad = measure_one(float_pair({1, 2}, {1, -2}));
  const std::vector columns = {Metric::max_absolute_error};
  EXPECT_FALSE(msaccucmp_line(row, columns, &good).is_to_look_at());
  EXPECT_TRUE(msaccucmp_line(row, columns, &bad).is_to_look_at());
  EXPECT_THAT(msaccucmp_line(row, columns, &bad).cells, SizeIs(1));
}

std::string advice(const std::vector<std::string>& cosines) {
  std::vector<MsaccucmpLine> lines;
  for (const std::string& cosine : cosines) {
    lines.push_back(line(std::to_string(lines.size() + 1), cosine));
  }
  return msaccucmp_advice(all(lines), kColumns);
}

TEST(MsaccucmpAdvice, FollowsTheFirstAndTheLastCosine) {
  EXPECT_THAT(advice({"0.990000", "NaN", "1.0"}), HasSubstr("Type: Global Consistency\n"));
  EXPECT_THAT(advice({"1.0", "0.989999", "1.0", "nan"}),
              HasSubstr("deviation\nOperator Index: 2\n"));
  EXPECT_THAT(advice({"1.0", "0.5", "0.7"}), HasSubstr("problem\nOperator Index: 2\n"));
  EXPECT_EQ(advice({"NaN", "nan"}), "Detection Type: NA\nOperator Index: NA\nExpert Advice: NA\n");
  EXPECT_EQ(advice({}), advice({"NaN"}));
}

}  // namespace
}  // namespace opbench
