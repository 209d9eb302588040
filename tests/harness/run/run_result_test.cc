#include "harness/run/run_result.h"

#include <gtest/gtest.h>

namespace opbench {
namespace {

RunResult result_of(const std::vector<Status>& statuses) {
  RunResult result;
  for (const Status status : statuses) {
    Record record;
    record.case_id = "relu[64,fp32]";
    record.variant = "v" + std::to_string(result.records.size());
    record.status = status;
    record.reason = "too large";
    result.records.push_back(record);
  }
  return result;
}

}  // namespace

TEST(RunResult, SaysWhyItIsNotWell) {
  EXPECT_EQ(result_of({Status::passed, Status::skipped}).reason_text(), "");
  EXPECT_EQ(result_of({Status::failed, Status::passed}).reason_text(), "") << "the table does";
  EXPECT_EQ(result_of({Status::passed, Status::errored, Status::errored}).reason_text(),
            "2 of 3 results are errored, first variant 'v1' of relu[64,fp32]: too large");
  EXPECT_EQ(result_of({Status::skipped}).reason_text(),
            "1 of 1 results is skipped, first variant 'v0' of relu[64,fp32]: too large");
  EXPECT_EQ(result_of({}).reason_text(), "nothing was run");
}

}  // namespace opbench
