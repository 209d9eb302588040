#include "compare/matching.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "tensor/error.h"
#include "tests/compare/pair_support.h"

namespace opbench {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

std::vector<double> sampled(std::int64_t count) {
  std::vector<float> values(static_cast<std::size_t>(count));
  std::iota(values.begin(), values.end(), 0.0f);
  return sample_values(side_of(StoredType::f32, DType::fp32, values), count);
}

TEST(SampleValues, TakesAllOfASmallTensor) {
  EXPECT_THAT(sampled(0), IsEmpty());
  EXPECT_THAT(sampled(3), ElementsAre(0, 1, 2));
  EXPECT_EQ(sampled(32).size(), 32u);
}

TEST(SampleValues, SpreadsRunsOverALargeOne) {
  const std::vector<double> values = sampled(1001);
  ASSERT_EQ(values.size(), 32u);
  // Runs of eight begin at multiples of (1001 - 8) / 3 = 331.
  EXPECT_THAT((std::vector{values[0], values[7], values[8], values[24], values[31]}),
              ElementsAre(0, 7, 331, 993, 1000));
}

TEST(SampleValues, ReadsWhatIsMeant) {
  const std::vector<std::int8_t> stored = {-56};
  EXPECT_THAT(sample_values(side_of(StoredType::i8, DType::uint8, stored), 1), ElementsAre(200));
}

TEST(SampleValues, IsEmptyWhereReadingFails) {
  const PairSide broken{StoredType::f32, DType::fp32,
                        [](ElementRange, void*) { throw Error("damaged"); }};
  EXPECT_THAT(sample_values(broken, 100), IsEmpty());
  EXPECT_THAT(sample_values(PairSide{}, 100), IsEmpty());
}

}  // namespace
}  // namespace opbench
