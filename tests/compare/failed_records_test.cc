#include "compare/failed_records.h"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/support/temp_dir.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::ThrowsMessage;

class FailedRecords : public testing::Test, protected TempDir {
 protected:
  /// compare.json of two files with these tensors.
  std::string compared(const std::string& actual, const std::string& expected,
                       const std::string& tensors) const {
    return write("compare.json",
                 fmt::format(R"({{"opbench_compare": 1, "files": {{"actual": {{"path": "{}"}},
                             "expected": {{"path": "{}"}}}}, "tensors": [{}]}})",
                             actual, expected, tensors));
  }
  static std::string tensor(const std::string& verdict, const std::string& actual,
                            const std::string& expected) {
    return fmt::format(R"({{"verdict": "{}", "actual_path": {}, "expected_path": {}}})", verdict,
                       actual, expected);
  }
  static std::string judged(const std::string& file, const std::string& records) {
    return fmt::format(R"({{"file": "{}", "guilty": 1, "records": [{}]}})", file, records);
  }
};

const std::string kGuilty = R"({"verdict": "GUILTY", "path": "/relu/3"})";
const std::string kOk = R"({"verdict": "OK", "path": "/relu/4"})";

}  // namespace

// Each record is listed once, in the order of the report. A tensor that is missing on one side
// names no record of that side.
TEST_F(FailedRecords, OfAComparisonHaveATensorThatFailed) {
  const std::string report =
      compared("npu.h5", "gpu.h5",
               tensor("failed", R"("/softplus/2/output/y")", R"("/Softplus/7/output/y")") + "," +
                   tensor("passed", R"("/relu/3/output/y")", R"("/Relu/8/output/y")") + "," +
                   tensor("failed", R"("/softplus/2/input/x")", R"("/Softplus/7/input/x")") + "," +
                   tensor("failed", "null", R"("/Exp/9/output/y")") + "," +
                   tensor("failed", R"("/abs/1/output/y")", R"("/Abs/5/output/y")"));
  EXPECT_THAT(failed_records(report, "npu.h5"), ElementsAre("/softplus/2", "/abs/1"));
  EXPECT_THAT(failed_records(report, "gpu.h5"), ElementsAre("/Softplus/7", "/Exp/9", "/Abs/5"));
  EXPECT_THAT(failed_records(report, "elsewhere/gpu.h5"), testing::SizeIs(3));
  EXPECT_THAT([&] { failed_records(report, "cpu.h5"); },
              ThrowsMessage<Error>(HasSubstr("compares npu.h5 and gpu.h5, not cpu.h5")));
}

// Two files of the same name are distinguished by their folders.
TEST_F(FailedRecords, OfFilesOfOneNameAreThoseOfTheFileItself) {
  const std::string first = write("a/dump.h5", "1"), second = write("b/dump.h5", "2");
  const std::string report =
      compared(first, second, tensor("failed", R"("/relu/1/output/y")", R"("/Relu/2/output/y")"));
  EXPECT_THAT(failed_records(report, first), ElementsAre("/relu/1"));
  EXPECT_THAT(failed_records(report, second), ElementsAre("/Relu/2"));
  EXPECT_THAT([&] { failed_records(report, write("c/dump.h5", "3")); },
              ThrowsMessage<Error>(HasSubstr("dump.h5, not ")));
}

// A path without a number, and a stray dataset, are listed as they are.
TEST_F(FailedRecords, OfPathsWithoutARecordAreThePaths) {
  const std::string report = compared(
      "npu.h5", "gpu.h5",
      tensor("failed", R"("/stray")", "null") + "," + tensor("failed", R"("/op/name")", "null"));
  EXPECT_THAT(failed_records(report, "npu.h5"), ElementsAre("/stray", "/op/name"));
}

TEST_F(FailedRecords, OfAJudgementAreGuilty) {
  const std::string report = write("judge.json", judged("npu.h5", kGuilty + "," + kOk));
  EXPECT_THAT(failed_records(report, "npu.h5"), ElementsAre("/relu/3"));
  EXPECT_THAT([&] { failed_records(report, "gpu.h5"); },
              ThrowsMessage<Error>(HasSubstr("judges npu.h5, not gpu.h5")));
}

TEST_F(FailedRecords, OfTwoJudgedDumpsAreThoseOfTheDump) {
  const std::string report =
      write("judge.json", fmt::format(R"({{"pairs": [], "first": {}, "second": {}}})",
                                      judged("npu.h5", kOk), judged("gpu.h5", kGuilty)));
  EXPECT_THAT(failed_records(report, "npu.h5"), IsEmpty());
  EXPECT_THAT(failed_records(report, "gpu.h5"), ElementsAre("/relu/3"));
}

TEST_F(FailedRecords, OfSomethingElseAreAnError) {
  EXPECT_THROW(failed_records(path("none.json"), "npu.h5"), Error);
  EXPECT_THROW(failed_records(write("a.json", "[1, 2]"), "npu.h5"), Error);
  EXPECT_THROW(failed_records(write("b.json", "{\"opbench_compare\": 2}"), "npu.h5"), Error);
  EXPECT_THROW(failed_records(write("c.json", "{\"opbench_compare\": 1"), "npu.h5"), Error);
}

}  // namespace opbench
