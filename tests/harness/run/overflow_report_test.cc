#include "harness/run/overflow_report.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>
#include <sstream>

namespace opbench {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;

ScannedRecord scanned_record(const std::string& op, std::int64_t inf, double headroom) {
  ScannedRecord record;
  record.op = op;
  record.seq = "3";
  record.dtype = "fp16";
  record.path = "/" + op + "/3/output/y";
  record.found.inf = inf;
  record.elements = 8;
  record.headroom_bits = headroom;
  return record;
}

OverflowScan two_records() {
  OverflowScan scan;
  scan.file = "d.h5";
  scan.records = {scanned_record("relu", 0, 4.5), scanned_record("exp", 2, 0)};
  return scan;
}

std::string printed(const OverflowScan& scan, std::size_t top = 0) {
  std::ostringstream out;
  print_overflow(out, scan, top, {});
  return out.str();
}

nlohmann::json json_of(const OverflowScan& scan) {
  std::ostringstream out;
  write_overflow_json(out, scan, "opbench overflow d.h5");
  return nlohmann::json::parse(out.str());
}

}  // namespace

TEST(OverflowReport, LinesAreThoseOfTheDumper) {
  EXPECT_EQ(overflow_line("mul_Tensor", "3"), "IR: mul_Tensor SeqId: 3 is overflow!");
}

TEST(OverflowReport, NamesWhatOverflowedAndTheLeastHeadroomFirst) {
  const std::string text = printed(two_records());
  EXPECT_THAT(text, StartsWith("IR: exp SeqId: 3 is overflow!\n"
                               "    value: 2 Inf among 8 elements\n"
                               "1 of 2 operators overflowed, first /exp/3\n"));
  EXPECT_LT(text.find("0.00  fp16   /exp/3/output/y"), text.find("4.50  fp16   /relu/3/output/y"));
  EXPECT_THAT(text, Not(HasSubstr("IR: relu")));
  EXPECT_THAT(text, Not(HasSubstr("Loss scale")));
  EXPECT_THAT(text, Not(HasSubstr("Not read")));
  EXPECT_THAT(printed(two_records(), 1), Not(HasSubstr("/relu/3/output/y")));
}

TEST(OverflowReport, SaysThatNothingOverflowed) {
  OverflowScan scan = two_records();
  scan.records.pop_back();
  EXPECT_THAT(printed(scan), StartsWith("None of 1 operators holds Inf, NaN or +-65504"));
  EXPECT_EQ(json_of(scan)["first"], nullptr);
  EXPECT_EQ(json_of(scan)["overflowed"], 0);
}

TEST(OverflowReport, SaysWhatALossScaleMayBe) {
  OverflowScan scan = two_records();
  scan.advice.emplace();
  scan.advice->recorded = 1024;
  scan.advice->gradients.elements = 4;
  scan.advice->gradients.zero = 1;
  scan.advice->limit = "/a/1/output/grad";
  scan.advice->limit_value = 4;
  EXPECT_THAT(printed(scan), HasSubstr("less than 1024, which overflowed"));
  EXPECT_EQ(json_of(scan)["loss_scale"]["largest"], nullptr);
  scan.advice->largest = 8192;
  scan.advice->smallest = 512;
  const std::string text = printed(scan);
  EXPECT_THAT(text, HasSubstr("4 gradients in fp16: 25 % are 0"));
  EXPECT_THAT(text, HasSubstr("largest without overflow: 8192 (/a/1/output/grad holds 4 at most)"));
  EXPECT_THAT(text, HasSubstr("smallest useful: 512 (at most 1 % of"));
  EXPECT_EQ(json_of(scan)["loss_scale"]["largest"], 8192);
  EXPECT_EQ(json_of(scan)["loss_scale"]["zero_share"], 0.25);
}

TEST(OverflowReport, JsonHasEveryRecord) {
  const nlohmann::json json = json_of(two_records());
  EXPECT_EQ(json["operators"], 2);
  EXPECT_EQ(json["overflowed"], 1);
  EXPECT_EQ(json["first"], "/exp/3");
  EXPECT_EQ(json["records"][0]["overflow"], false);
  EXPECT_EQ(json["records"][1]["inf"], 2);
  EXPECT_EQ(json["records"][1]["headroom_bits"], 0);
  EXPECT_FALSE(json["records"][0].contains("problem"));
  EXPECT_FALSE(json.contains("loss_scale"));
}

// Untrusted names of a file cannot move the cursor.
TEST(OverflowReport, ShowsControlCharactersAsText) {
  OverflowScan scan;
  scan.records = {scanned_record("evil\x1b[2J", 1, 1)};
  scan.records[0].problem = "bad\nline";
  scan.problems = {"worse\x07"};
  const std::string text = printed(scan);
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_EQ(text.find('\x07'), std::string::npos);
  EXPECT_THAT(text, HasSubstr("Not read:\n  bad\\x0aline\n  worse\\x07\n"));
}

}  // namespace opbench
