// Expected values are computed by hand, or by the definition over all values in the test.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <numeric>

#include "harness/report/shown_tensor.h"
#include "tensor/parallel.h"
#include "tests/dump/dump_support.h"

namespace opbench::dump_tests {
namespace {

class TensorSummaryTest : public DumpTest {
 protected:
  /// The summary of a vector of `count` elements with these values.
  template <class T>
  TensorSummary summary_of(DType dtype, const std::vector<T>& values) {
    DumpWriter writer(path());
    writer.begin_record("relu", DeviceType::npu);
    writer.write_input("self", describe(dtype, {static_cast<std::int64_t>(values.size())}),
                       values.data());
    writer.finish();
    DumpSource file(path());
    return summarise(file, file.records().at(0).entries.at(0));
  }
};

TEST_F(TensorSummaryTest, NaNAndInfAreCountedApart) {
  const float inf = INFINITY;
  const TensorSummary s =
      summary_of<float>(DType::fp32, {1, -2, NAN, inf, 0, inf, -inf, -0.0f, 6, NAN, NAN});
  EXPECT_EQ(s.count, 11);
  EXPECT_EQ(s.finite, 5);
  EXPECT_EQ(s.zeros, 2);
  EXPECT_EQ(s.nan, 3);
  EXPECT_EQ(s.positive_inf, 2);
  EXPECT_EQ(s.negative_inf, 1);
  EXPECT_EQ(s.min, Number(-2.0));
  EXPECT_EQ(s.max, Number(6.0));
  EXPECT_DOUBLE_EQ(s.mean, 1.0);  // (1 - 2 + 0 + 0 + 6) / 5
  EXPECT_DOUBLE_EQ(s.deviation, std::sqrt((0 + 9 + 1 + 1 + 25) / 5.0));
  // Bins are 0.5 wide from -2 on: 1 is in bin 6, both zeros in bin 4, and 6 in the last bin.
  std::vector<std::int64_t> bins(16);
  bins[0] = bins[6] = bins[15] = 1;
  bins[4] = 2;
  EXPECT_EQ(s.histogram, bins);
}

TEST_F(TensorSummaryTest, NothingFiniteOrNothingAtAll) {
  const TensorSummary nan = summary_of<float>(DType::fp32, {NAN, NAN});
  EXPECT_EQ(nan.finite, 0);
  EXPECT_TRUE(nan.histogram.empty());
  const TensorSummary empty = summary_of<float>(DType::fp32, {});
  EXPECT_EQ(empty.count, 0);
}

TEST_F(TensorSummaryTest, AConstantHasOneBin) {
  const TensorSummary s = summary_of<float>(DType::fp32, {3, 3, 3});
  EXPECT_EQ(s.histogram.front(), 3);
  EXPECT_EQ(std::accumulate(s.histogram.begin(), s.histogram.end(), std::int64_t{0}), 3);
  EXPECT_EQ(s.deviation, 0);
}

TEST_F(TensorSummaryTest, WholeNumbersStayExact) {
  const std::int64_t most = std::numeric_limits<std::int64_t>::max();
  const TensorSummary s = summary_of<std::int64_t>(DType::int64, {most, most - 1, 5});
  EXPECT_EQ(s.max, Number(most));
  EXPECT_EQ(s.min, Number(std::int64_t{5}));
  // uint8 is stored as int8.
  const TensorSummary bytes = summary_of<std::uint8_t>(DType::uint8, {255, 0, 128});
  EXPECT_EQ(bytes.max, Number(std::int64_t{255}));
  EXPECT_DOUBLE_EQ(bytes.mean, 383.0 / 3);
}

TEST_F(TensorSummaryTest, TheWholeRangeOfFp64) {
  const double most = std::numeric_limits<double>::max();
  const TensorSummary s = summary_of<double>(DType::fp64, {most, -most, most, -most});
  EXPECT_EQ(s.mean, 0);
  EXPECT_EQ(s.histogram.front(), 2);
  EXPECT_EQ(s.histogram.back(), 2);
}

// The tensor has more than a chunk and a part of a block. The result is compared with plain loops.
TEST_F(TensorSummaryTest, LargeTensorsAreReadInPiecesWithTheSameBits) {
  const std::size_t count = (2u << 20) + 4097;
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) values[i] = static_cast<float>((i * 7919) % 10007) - 12;
  values[count - 1] = -1e6f;
  const TensorSummary s = summary_of<float>(DType::fp32, values);
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / double(count);
  double spread = 0;
  std::vector<std::int64_t> bins(16);
  for (const float value : values) {
    spread += (value - mean) * (value - mean);
    ++bins[std::min<std::size_t>(15, std::size_t((value + 1e6) / (9994 + 1e6) * 16))];
  }
  EXPECT_EQ(s.min, Number(-1e6));
  EXPECT_EQ(s.max, Number(9994.0));
  EXPECT_NEAR(s.mean, mean, 1e-9 * std::fabs(mean));
  EXPECT_NEAR(s.deviation, std::sqrt(spread / double(count)), 1e-6);
  EXPECT_EQ(s.histogram, bins);
  DumpSource file(path());
  TensorSummary alone;
  with_threads(1, [&] { alone = summarise(file, file.records().at(0).entries.at(0)); });
  EXPECT_EQ(alone.mean, s.mean);
  EXPECT_EQ(alone.deviation, s.deviation);
}

}  // namespace
}  // namespace opbench::dump_tests
