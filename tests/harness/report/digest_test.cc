#include <gmock/gmock.h>

#include <sstream>

#include "harness/report/console.h"
#include "harness/report/report.h"
#include "tests/support/records.h"

namespace opbench::report {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::Not;

Record skipped(const char* variant, const char* reason, const char* id = "relu[8,fp32]") {
  Record record;
  record.case_id = id;
  record.op = "relu";
  record.variant = variant;
  record.status = Status::skipped;
  record.reason = reason;
  return record;
}

Record at_ceiling(const char* id, double percent, double median_us, const char* variant = "v") {
  Record record = timed_record({median_us}, id, variant);
  record.status = Status::passed;
  record.bound = Bound::memory;
  record.times->percent_of_roofline = percent;
  record.reproduce = std::string("opbench --case '") + id + "'";
  return record;
}

}  // namespace

TEST(Digest, OneLineForEachReason) {
  const std::vector<Record> records = {skipped("a", "fp16 only"), skipped("b", "takes 4 axes"),
                                       skipped("c", "takes 4 axes"),
                                       skipped("b", "takes 4 axes", "relu[9,fp32]")};
  const auto groups = skipped_groups(records);
  ASSERT_EQ(groups.size(), 2u);
  EXPECT_EQ(skipped_text(groups[0]), "skipped: 3x b, c: takes 4 axes") << "the most frequent first";
  EXPECT_EQ(skipped_text(groups[1]), "skipped: a: fp16 only");
  std::ostringstream out;
  print_case(out, {records.data(), 3}, {});
  EXPECT_THAT(out.str(), HasSubstr("  skipped: b, c: takes 4 axes\n  skipped: a: fp16 only\n"));
}

TEST(Digest, TheFastestOfACaseCounts) {
  Record wrong = at_ceiling("relu[3,fp32]", 1, 5);
  wrong.status = Status::suspicious;
  const std::vector<Record> records = {
      at_ceiling("relu[1,fp32]", 20, 50, "slow"), at_ceiling("relu[1,fp32]", 80, 12, "fast"),
      at_ceiling("relu[2,fp32]", 30, 7), wrong, skipped("a", "fp16 only")};
  EXPECT_THAT(furthest_from_ceiling(records, 3), ElementsAre(&records[2], &records[1]));
  EXPECT_THAT(furthest_from_ceiling(records, 1), ElementsAre(&records[2]));
}

TEST(Digest, LeadsOn) {
  RunResult result;
  result.records = {at_ceiling("relu[2,fp32]", 30, 7), skipped("a", "fp16 only")};
  std::ostringstream out;
  print_digest(out, result, "opbench --cases x.yaml --verbose", {});
  EXPECT_THAT(out.str(), HasSubstr("30 % memory  7.00 us  v  relu[2,fp32,ND]\n"));
  EXPECT_THAT(out.str(), HasSubstr("  again: opbench --case 'relu[2,fp32]'\n"));
  EXPECT_THAT(out.str(), HasSubstr("\nskipped: a: fp16 only\n"));
  EXPECT_THAT(out.str(), HasSubstr("\nEvery row: opbench --cases x.yaml --verbose\n"));
  std::ostringstream none;
  print_digest(none, {}, "x", {});
  EXPECT_THAT(none.str(), Not(HasSubstr("skipped")));
}

TEST(Digest, HostileNamesAreShown) {
  RunResult result;
  result.records = {skipped("a\033[31m", "be\nwell")};
  std::ostringstream out;
  print_digest(out, result, "x", {});
  EXPECT_THAT(out.str(), Not(HasSubstr("\033")));
  EXPECT_THAT(out.str(), Not(HasSubstr("be\nwell")));
}

}  // namespace opbench::report
