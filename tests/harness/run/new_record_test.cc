#include "harness/run/new_record.h"

#include <gmock/gmock.h>

#include "tests/support/records.h"

namespace opbench {
namespace {

using testing::HasSubstr;

Case expecting(ExpectedFailure expected, DType dtype = DType::fp32) {
  Case c;
  c.dtype = dtype;
  c.origin = "f.yaml:3";
  expected.reason = "V1 overflows";
  c.expected_failure = std::move(expected);
  return c;
}

Record result(Status status) {
  Record record = timed_record({5});
  record.status = status;
  record.reason = status == Status::failed ? "1 NaN" : "";
  if (status == Status::failed) record.times.reset();
  return record;
}

Record held(const Case& c, Record record) {
  apply_expectation(c, record);
  return record;
}

}  // namespace

TEST(Expectation, AFailureThatIsExpectedIsNone) {
  const Record record = held(expecting({}), result(Status::failed));
  EXPECT_EQ(record.status, Status::xfailed);
  EXPECT_EQ(record.reason, "V1 overflows (1 NaN)");
}

TEST(Expectation, AnUnexpectedPassFails) {
  for (const Status status : {Status::passed, Status::mistrusted, Status::suspicious}) {
    const Record record = held(expecting({}), result(status));
    EXPECT_EQ(record.status, Status::failed);
    EXPECT_EQ(record.reason, "passed, but f.yaml:3 expects it to fail: V1 overflows");
    EXPECT_FALSE(record.times);
  }
}

TEST(Expectation, WhatDidNotRunOrWasNotComparedIsAsItWas) {
  for (const Status status : {Status::skipped, Status::errored, Status::unverified}) {
    EXPECT_EQ(held(expecting({}), result(status)).status, status);
  }
  EXPECT_EQ(held(Case{}, result(Status::failed)).status, Status::failed) << "nothing expected";
}

TEST(Expectation, IsOfVariantsAndDTypes) {
  const Record failed = result(Status::failed);
  EXPECT_EQ(held(expecting({{"native"}, {}, ""}), failed).status, Status::xfailed);
  EXPECT_EQ(held(expecting({{"relu"}, {}, ""}), failed).status, Status::failed);
  EXPECT_EQ(held(expecting({{}, {DType::fp32}, ""}), failed).status, Status::xfailed);
  EXPECT_EQ(held(expecting({{}, {DType::fp32}, ""}, DType::fp16), failed).status, Status::failed);
}

}  // namespace opbench
