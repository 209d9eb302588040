#include "harness/run/overflow_scan.h"

#include <gmock/gmock.h>

#include "tests/support/non_finite.h"
#include "tests/support/written_dump.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::SizeIs;

class OverflowScanTest : public testing::Test, protected WrittenDump {
 protected:
  OverflowScan scan(const ScanOptions& options = {}) {
    return scan_for_overflow(
        source(), options, [](std::size_t, std::size_t) {}, [] { return false; });
  }
};

std::vector<std::string> ops_of(const OverflowScan& scan) {
  std::vector<std::string> all;
  for (const ScannedRecord& record : scan.records) all.push_back(record.op + "/" + record.seq);
  return all;
}

}  // namespace

// The NaN is in the input. The infinity and the largest number of fp16 are produced by the
// operator.
TEST_F(OverflowScanTest, CountsWhatInputsDidNotHold) {
  record("exp", 1);
  input("self", DType::fp16, {4}, {1, kNan, 12, 3});
  output("result", DType::fp16, {4}, {2, kNan, kInf, 65504});
  record("abs", 2);
  input("self", DType::fp16, {2}, {kInf, 1});
  output("result", DType::fp16, {2}, {kInf, 1});
  const OverflowScan found = scan();
  ASSERT_THAT(found.records, SizeIs(2));
  EXPECT_EQ(found.records[0].found.nan, 0);
  EXPECT_EQ(found.records[0].found.inf, 1);
  EXPECT_EQ(found.records[0].found.largest, 1);
  EXPECT_EQ(found.records[0].elements, 4);
  EXPECT_FALSE(found.records[1].has_overflow());
  EXPECT_EQ(found.count(), 1);
  EXPECT_EQ(found.first(), &found.records[0]);
  EXPECT_FALSE(found.advice.has_value()) << "no backward pass";
}

// 65504 / 2 = 32752 is 14.99 powers of two, 65504 / 1024 is 5.99: the second output has less
// headroom.
TEST_F(OverflowScanTest, HeadroomIsTheLeastOfAllOutputs) {
  record("split", 1);
  output("a", DType::fp16, {2}, {2, 1});
  output("b", DType::fp16, {2}, {-1024, 1});
  record("int", 2);
  output("c", DType::int32, {2}, {7, 8});
  const OverflowScan found = scan();
  EXPECT_EQ(found.records[0].headroom_bits, 5.99);
  EXPECT_EQ(found.records[0].path, "/split/1/output/b");
  EXPECT_EQ(found.records[0].dtype, "fp16");
  EXPECT_FALSE(found.records[1].headroom_bits.has_value());
  EXPECT_EQ(found.records[1].elements, 0) << "integers cannot overflow to Inf";
  EXPECT_EQ(found.first(), nullptr);
}

TEST_F(OverflowScanTest, IsInTheOrderOfExecutionAndOfWhatIsWanted) {
  for (const int seq : {10, 9, 2}) {
    record("relu", seq);
    output("y", DType::fp32, {1}, {1});
  }
  record("exp", 5);
  output("y", DType::fp32, {1}, {1});
  EXPECT_THAT(ops_of(scan()), ElementsAre("relu/2", "exp/5", "relu/9", "relu/10"));
  ScanOptions one;
  one.only = [](std::string_view name) { return name == "relu/9"; };
  EXPECT_THAT(ops_of(scan(one)), ElementsAre("relu/9"));
  one.only = [](std::string_view name) { return name == "exp"; };
  EXPECT_THAT(ops_of(scan(one)), ElementsAre("exp/5"));
}

TEST_F(OverflowScanTest, StopsWhereItIsToldTo) {
  for (const int seq : {1, 2, 3}) {
    record("relu", seq);
    output("y", DType::fp32, {1}, {1});
  }
  std::size_t done = 0;
  const OverflowScan found = scan_for_overflow(
      source(), {}, [&](std::size_t, std::size_t) { ++done; }, [&] { return done == 2; });
  EXPECT_THAT(found.records, SizeIs(2));
}

// Gradients 4, -2, 0 and 2^-20 with a scale of 1024. 65504 / 4 = 16376 allows 2^13 times that
// scale, 2^23. The smallest gradient is a normal number, 2^-14 or more, from 2^6 times the scale
// on, 2^16. One of three is below now.
TEST_F(OverflowScanTest, LossScalesKeepAllGradientsFiniteAndMostNormal) {
  record("relu", 1);
  output("y", DType::fp16, {1}, {60000});  // before the backward pass
  record("MulBackward0", 2);
  output("grad", DType::fp16, {4}, {4, -2, 0, 0x1p-20});
  ScanOptions options;
  options.loss_scale = 1024;
  const OverflowScan found = scan(options);
  ASSERT_TRUE(found.advice.has_value());
  const LossScaleAdvice& advice = *found.advice;
  EXPECT_TRUE(advice.is_half);
  EXPECT_EQ(advice.limit, "/MulBackward0/2/output/grad");
  EXPECT_EQ(advice.limit_value, 4);
  EXPECT_EQ(advice.largest, 0x1p23);
  EXPECT_EQ(advice.smallest, 0x1p16);
  EXPECT_EQ(advice.zero_share(), 0.25);
  EXPECT_DOUBLE_EQ(advice.subnormal_share(), 1.0 / 3);
}

// One of 100 gradients may be lost.
TEST_F(OverflowScanTest, OnePercentOfTheGradientsMayBeLost) {
  std::vector<double> gradients(100, 1);
  gradients[7] = 0x1p-24;
  record("MulBackward0", 1);
  output("grad", DType::fp16, {100}, gradients);
  // 1 is normal from a scale of 2^-14 on.
  EXPECT_EQ(scan().advice.value().smallest, 0x1p-14);
}

// All operators from the first gradient on count, and so does a gradient that they receive.
TEST_F(OverflowScanTest, LossScalesAreLimitedByAllOfTheBackwardPass) {
  record("MulBackward0", 1);
  input("grad", DType::fp16, {1}, {16});
  input("self", DType::fp16, {1}, {1000});
  output("grad_self", DType::fp16, {1}, {1});
  record("sum", 2);
  output("y", DType::fp16, {1}, {8});
  const OverflowScan found = scan();
  EXPECT_EQ(found.advice.value().limit, "/MulBackward0/1/input/grad");
  EXPECT_EQ(found.advice->limit_value, 16);
  EXPECT_EQ(found.advice->largest, 0x1p11) << "65504 / 16 = 4094";
}

TEST_F(OverflowScanTest, NoScaleIsSmallEnoughForWhatOverflowed) {
  record("MulBackward0", 1);
  output("grad", DType::fp16, {2}, {kInf, 1});
  EXPECT_FALSE(scan().advice.value().largest.has_value());
}

// fp32 gradients are checked against the range of fp16.
TEST_F(OverflowScanTest, GradientsInFp32AreTakenForFp16) {
  record("ReluGrad", 1);
  output("grad", DType::fp32, {2}, {65504, 1});
  const LossScaleAdvice advice = scan().advice.value();
  EXPECT_FALSE(advice.is_half);
  EXPECT_EQ(advice.largest, 1);
}

TEST(OverflowNames, TellBackwardNodes) {
  for (const char* op : {"MulBackward0", "ReluGrad", "Conv2DBackpropInput", "npu_silu_backward"}) {
    EXPECT_TRUE(is_backward(op)) << op;
  }
  for (const char* op : {"relu", "Mul", "grad_scaler", "backward"}) {
    EXPECT_FALSE(is_backward(op)) << op;
  }
}

TEST(OverflowShares, OfNothingAreNothing) {
  const LossScaleAdvice advice;
  EXPECT_EQ(advice.zero_share(), 0);
  EXPECT_EQ(advice.subnormal_share(), 0);
}

}  // namespace opbench
