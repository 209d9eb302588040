// Tests the content of the Markdown report, and that no text of a record breaks it.
#include <gmock/gmock.h>

#include <sstream>

#include "harness/report/report.h"
#include "harness/report/variant_summary.h"
#include "tests/support/records.h"

namespace opbench::report {
namespace {

using testing::HasSubstr;
using testing::Not;

Record axpy(const char* variant, const char* provider, double median_us, double mad_us = 0) {
  Record record = timed_record({median_us}, "axpy[64,64,fp32]", variant);
  record.provider = provider;
  record.shape = "64";
  record.times->mad_us = mad_us;
  return record;
}

std::string markdown(std::vector<Record> records,
                     const std::string& command = "opbench --op axpy") {
  RunResult result;
  result.records = std::move(records);
  Machine machine;
  machine.cpu = "Some | CPU";
  machine.cores = 8;
  machine.l2_bytes = 2 << 20;
  machine.libraries = {{"oneDNN", "2.6.3"}, {"HDF5", "1.10.8"}};
  std::ostringstream out;
  write_markdown(out, result, machine, command);
  return out.str();
}

}  // namespace

TEST(Markdown, DescribesMachineCommandAndResults) {
  Record native = axpy("native", "native", 100);
  native.case_name = "layer1";
  native.count = 3;
  native.threads = 2;
  native.times->gb_per_s = 12.34;
  native.copy_gb_per_s = 50;
  native.times->percent_of_copy = 24.7;
  native.times->speedup_over_native = 1;
  native.accuracy = Accuracy{.max_ulp = 2};
  Record vendor = native;
  vendor.variant = "onednn";
  vendor.provider = "vendor";
  vendor.times->median_us = 50;
  vendor.times->speedup_over_native = 2;
  vendor.is_best = true;
  const std::string text = markdown({native, vendor});
  EXPECT_THAT(text, HasSubstr("# opbench results\n\n```sh\nopbench --op axpy\n```\n"));
  EXPECT_THAT(text, HasSubstr("| CPU | Some \\| CPU |\n"));
  EXPECT_THAT(text, HasSubstr("| caches | L1d unknown, L2 2 MiB, L3 unknown |\n"));
  EXPECT_THAT(text, HasSubstr("| libraries | oneDNN 2.6.3, HDF5 1.10.8 |\n"));
  EXPECT_THAT(text, HasSubstr("\n## axpy\n"));
  EXPECT_THAT(text, HasSubstr("| layer1 x3 | 64 | fp32 | ND | | 2 | native | native | 100.00 us | "
                              "0 % | 12.3 | 25 % | 1.00x | 0.50x | 100 % | 2 | passed |\n"));
  EXPECT_THAT(text,
              HasSubstr("| **onednn** | vendor | 50.00 us | 0 % | 12.3 | 25 % | 2.00x | 1.00x |"));
  EXPECT_THAT(text,
              HasSubstr("\n| onednn | 2 | 1 | 0 | 0 | 2.00x (2.00) | 25 (25) | 1.00 (1.00) |"));
}

TEST(Markdown, HasATableForEveryOperator) {
  Record other = axpy("native", "native", 1);
  other.op = "relu";
  other.case_id = "relu[64,fp32]";
  const std::string text = markdown({axpy("native", "native", 1), other, axpy("axpy", "npu", 1)});
  EXPECT_LT(text.find("\n## axpy\n"), text.find("\n## relu\n"));
  EXPECT_LT(text.find("| axpy | npu |"), text.find("\n## relu\n"));
  EXPECT_THAT(text, HasSubstr("\n| relu/native | 1 |"));
}

// A row is a line with as many cells as its table has titles, for every name.
TEST(Markdown, EscapesWhatWouldBreakATable) {
  Record record = axpy("native", "native", 1);
  record.case_name = "a|b\nc\\|*d* <i>";
  record.status = Status::errored;
  record.reason = "x|y\r\nz";
  record.times.reset();
  const std::string text = markdown({record}, "opbench --filter '```'");
  EXPECT_THAT(text, HasSubstr("| a\\|b c\\\\\\|\\*d\\* &lt;i> x1 |"));
  EXPECT_THAT(text, HasSubstr("| - | - | - | - | - | - | - | - | ERRORED: x\\|y  z |\n"));
  EXPECT_THAT(text, HasSubstr("````sh\nopbench --filter '```'\n````\n"));
}

TEST(Markdown, TellsHowACaseDiffers) {
  Record record = axpy("native", "native", 1);
  record.attributes = "sizes=[1234567,1234567,1234567,1234567,1234567,1234567] lr=0.2";
  record.backward = true;
  EXPECT_THAT(markdown({record}),
              HasSubstr("| sizes=[1234567,1234567,1234567,... 6 numbers] lr=0.2 "
                        "forward+backward |"));
}

TEST(SlowerThanExpected, NpuAgainstNativeBeyondNoise) {
  const auto slow = [](Record native, Record npu) {
    return slower_than_expected(std::vector{native, npu}).size();
  };
  const Record native = axpy("native", "native", 100);
  EXPECT_EQ(slow(native, axpy("axpy", "npu", 106)), 1u);
  EXPECT_EQ(slow(native, axpy("axpy", "npu", 105)), 0u) << "within 5 %";
  EXPECT_EQ(slow(axpy("native", "native", 100, 2), axpy("axpy", "npu", 111)), 0u);
  EXPECT_EQ(slow(axpy("native", "native", 100, 2), axpy("axpy", "npu", 112)), 1u);
  EXPECT_EQ(slow(native, axpy("axpy", "npu", 111, 2)), 0u) << "its own noise counts too";
  EXPECT_EQ(slow(native, axpy("onednn", "vendor", 200)), 0u);
  Record other = axpy("axpy", "npu", 200);
  other.threads = 2;
  EXPECT_EQ(slow(native, other), 0u) << "other threads, another contest";
}

TEST(SlowerThanExpected, OnlyTheBestNpuVariantAgainstTheVendor) {
  const std::vector<Record> records = {axpy("axpy", "npu", 300), axpy("v2", "npu", 200),
                                       axpy("onednn", "vendor", 100)};
  const std::vector<SlowResult> slow = slower_than_expected(records);
  ASSERT_EQ(slow.size(), 1u);
  EXPECT_EQ(slow[0].record->variant, "v2");
  EXPECT_EQ(slow[0].faster->variant, "onednn");
  EXPECT_EQ(slow[0].ratio, 2);
}

TEST(Markdown, ListsWhatIsSlowerOrNone) {
  const std::string slow = markdown({axpy("native", "native", 100), axpy("axpy", "npu", 150)});
  EXPECT_THAT(slow, HasSubstr("| axpy | | 64 | fp32 | ND | | 1 | axpy | 150.00 us | native | "
                              "100.00 us | 1.50 |\n"));
  EXPECT_THAT(slow, Not(HasSubstr("\nnone\n")));
  EXPECT_THAT(markdown({axpy("native", "native", 100), axpy("axpy", "npu", 50)}),
              HasSubstr("\nnone\n"));
}

}  // namespace opbench::report
