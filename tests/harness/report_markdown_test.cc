#include <gmock/gmock.h>

#include <sstream>

#include "harness/report.h"
#include "harness/report_text.h"

namespace opbench {
namespace {

using testing::HasSubstr;
using testing::Not;

Record record_of(std::string variant, std::string provider, double us) {
  Record record;
  record.case_id = "concat[2x3,2x3,fp32,ND,axis=1]";
  record.op = "concat";
  record.variant = std::move(variant);
  record.provider = std::move(provider);
  record.shape = "2x3";
  record.dtype = "fp32";
  record.format = "ND";
  record.status = Status::passed;
  record.bytes = 48;
  record.samples = {{0, us, us * 1000, 1}, {us, us, us * 1000, 1}, {2 * us, us, us * 1000, 1}};
  summarise_samples(record);
  return record;
}

std::string markdown_of(std::vector<Record> records) {
  compare_variants(records);
  RunResult result;
  result.records = std::move(records);
  Machine machine;
  machine.cpu = "Test CPU";
  std::ostringstream out;
  write_markdown(out, result, machine, "opbench --op concat");
  return out.str();
}

}  // namespace

TEST(Markdown, ListsWhatIsSlowerThanItShouldBe) {
  const std::string text =
      markdown_of({record_of("native", "native", 10), record_of("concat_d", "npu", 20),
                   record_of("onednn", "vendor", 16)});
  EXPECT_THAT(text, HasSubstr("| CPU | Test CPU, 0 cores |"));
  EXPECT_THAT(text, HasSubstr("| command | `opbench --op concat` |"));
  EXPECT_THAT(text, HasSubstr("`concat_d` takes 2.00 times as long as `native`"));
  EXPECT_THAT(text, HasSubstr("`concat_d` takes 1.25 times as long as `onednn`"));
  EXPECT_THAT(text, HasSubstr("## concat\n"));
  EXPECT_THAT(text, HasSubstr("| 20.00 us |"));
  EXPECT_THAT(text, HasSubstr("| 0.50x | 0.80x |")) << "against native and onednn";
}

TEST(Markdown, SaysNoneWhereNothingIsSlower) {
  const std::string text =
      markdown_of({record_of("native", "native", 20), record_of("concat_d", "npu", 20.9)});
  EXPECT_THAT(text, HasSubstr("None."));
  EXPECT_THAT(text, Not(HasSubstr("times as long")));
}

TEST(Markdown, KeepsCellsWhole) {
  Record record = record_of("native", "native", 1);
  record.status = Status::failed;
  record.samples.clear();
  record.reason = "a|b\nc";
  EXPECT_THAT(markdown_of({record}), HasSubstr("failed: a\\|b c |"));
}

TEST(ShortLists, ShowTheFirstOfManyNumbers) {
  EXPECT_EQ(with_short_lists("sizes=[1,2,3,4,5,6,7,8]"), "sizes=[1,2,3,4,5,6,7,8]");
  EXPECT_EQ(with_short_lists("a=[1,2,3,4,5,6,7,8,9] b=[0]"), "a=[1,2,3,... 9 numbers] b=[0]");
  EXPECT_EQ(with_short_lists("op[1x2,fp32,s=[9,8,7,6,5,4,3,2,1],x]"),
            "op[1x2,fp32,s=[9,8,7,... 9 numbers],x]");
  EXPECT_EQ(with_short_lists("[unclosed"), "[unclosed");
}

}  // namespace opbench
