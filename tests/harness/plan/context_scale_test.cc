// Tests loss scales of a training step: fixed, or halved until no overflow occurs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/harness/run/run_context.h"

namespace opbench {
namespace {

using testing::HasSubstr;

// The gradient of w is the scale times the column sums of x in fp16: 64 ones give 64 * scale, which
// fp16 holds up to 65504.
std::string training(const std::string& steps) {
  return "contexts:\n"
         "  - name: training\n"
         "    inputs: {x: {shape: [64, 16], data: constant(1)}}\n"
         "    parameters: {w: [16, 16]}\n"
         "    nodes: [{name: mm, op: matmul, in: [x, w], out: y}]\n"
         "    outputs: [y]\n"
         "    backward: true\n"
         "    update: {rate: 0.5}\n"
         "    steps:\n" +
         steps;
}

// 65536 itself is Inf in fp16. 64 * 1024 = 65536 overflows too, 64 * 512 does not.
TEST(LossScale, DynamicIsHalvedUntilNothingOverflows) {
  const Record record =
      run_text(training("      - {name: o2, precision: {level: O2, loss_scale: dynamic}}\n")).at(0);
  EXPECT_EQ(record.status, Status::passed) << record.reason;
  EXPECT_FALSE(record.step->has_overflow);
  EXPECT_EQ(record.step->loss_scale, 512);
  EXPECT_EQ(record.step->skipped_updates, 7) << "65536, 32768, ..., 1024";
  EXPECT_TRUE(record.is_timed());
}

TEST(LossScale, DynamicStartsWhereItIsTold) {
  const Record record =
      run_text(training("      - {name: o2, precision: {level: O2, loss_scale: dynamic, "
                        "initial_scale: 2048}}\n"))
          .at(0);
  EXPECT_EQ(record.step->loss_scale, 512);
  EXPECT_EQ(record.step->skipped_updates, 2);
}

TEST(LossScale, ThatFitsStays) {
  const std::vector<Record> records =
      run_text(training("      - {name: wide, precision: {level: O0, loss_scale: dynamic}, "
                        "rules: {allow_fp32_to_fp16: false}, variants: {default: native}}\n"
                        "      - {name: plain, precision: O0}\n"));
  EXPECT_EQ(records[0].status, Status::passed) << records[0].reason;
  EXPECT_EQ(records[0].step->loss_scale, 65536) << "fp32 holds 64 * 65536";
  EXPECT_EQ(records[0].step->skipped_updates, 0);
  EXPECT_EQ(records[1].step->loss_scale, 0) << "there is none";
}

// The step is correct; only its update is skipped. Its parameters are not compared.
TEST(LossScale, FixedThatOverflowsSkipsTheUpdate) {
  const std::vector<Record> records =
      run_text(training("      - {name: fits, precision: {level: O2, loss_scale: 4}}\n"
                        "      - {name: overflows, precision: {level: O2, loss_scale: 2048}}\n"
                        "      - {name: fits_again, precision: {level: O2, loss_scale: 8}}\n"));
  EXPECT_EQ(records[0].status, Status::passed) << records[0].reason;
  EXPECT_FALSE(records[0].step->has_overflow);
  EXPECT_EQ(records[0].step->loss_scale, 4);
  EXPECT_EQ(records[1].status, Status::passed) << records[1].reason;
  EXPECT_TRUE(records[1].step->has_overflow);
  EXPECT_EQ(records[1].step->loss_scale, 2048) << "a fixed one stays";
  EXPECT_EQ(records[1].step->skipped_updates, 1);
  EXPECT_TRUE(records[1].is_timed());
  EXPECT_EQ(records[2].status, Status::passed) << records[2].reason;
}

// Other steps are not compared with a step that overflowed.
TEST(LossScale, OverflowedResultsAreNoStandard) {
  const std::vector<Record> records =
      run_text(training("      - {name: overflows, precision: {level: O2, loss_scale: 2048}}\n"
                        "      - {name: fits, precision: {level: O2, loss_scale: 4}}\n"));
  EXPECT_TRUE(records[0].step->has_overflow);
  EXPECT_EQ(records[1].status, Status::passed) << records[1].reason;
  EXPECT_FALSE(records[1].step->has_overflow);
}

// The largest finite value takes the place of Inf, and the status register shows the overflow.
TEST(LossScale, OverflowIsFoundWhereTheDeviceSaturates) {
  const Record record =
      run_text(training("      - {name: o2, precision: {level: O2, loss_scale: dynamic, "
                        "half: saturate}}\n"))
          .at(0);
  EXPECT_EQ(record.status, Status::passed) << record.reason;
  EXPECT_FALSE(record.step->has_overflow);
  EXPECT_EQ(record.step->loss_scale, 512);
  EXPECT_EQ(record.step->skipped_updates, 7);
}

// Half the largest fp16 number as an input overflows at any scale: the search ends at 1.
TEST(LossScale, SearchEndsAtOne) {
  const Record record = run_text(
                            "contexts:\n"
                            "  - name: hopeless\n"
                            "    inputs: {x: {shape: [64, 16], data: constant(30000)}}\n"
                            "    parameters: {w: [16, 16]}\n"
                            "    nodes: [{name: mm, op: matmul, in: [x, w], out: y}]\n"
                            "    outputs: [y]\n"
                            "    backward: true\n"
                            "    update: {rate: 0.5}\n"
                            "    precision: {level: O2, loss_scale: dynamic}\n")
                            .at(0);
  EXPECT_TRUE(record.step->has_overflow);
  EXPECT_EQ(record.step->loss_scale, 1);
  EXPECT_EQ(record.step->skipped_updates, 17) << "2^16, 2^15, ..., 2^0";
}

}  // namespace
}  // namespace opbench
