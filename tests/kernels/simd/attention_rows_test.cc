#include "kernels/simd/attention_rows.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "kernels/simd/cube.h"
#include "tests/support.h"

namespace opbench {

using testing::ElementsAre;

// Half a unit behind the last bit goes away from zero: bf16 has 8 bits, fp16 11.
TEST(AttentionRows, RoundAwayFromZero) {
  on_every_isa([] {
    std::vector<float> x = {1 + 0x1p-8f, -1 - 0x1p-8f, 1 + 0x1p-9f, 0};
    round_away(DType::bf16, x.data(), 4);
    EXPECT_THAT(x, ElementsAre(1 + 0x1p-7f, -1 - 0x1p-7f, 1, 0));
    x = {1 + 0x1p-11f, -1 - 0x1p-11f, 0x1.8p-24f, -0x1p-25f, 0x1p-26f};
    round_away(DType::fp16, x.data(), 5);
    EXPECT_THAT(x, ElementsAre(1 + 0x1p-10f, -1 - 0x1p-10f, 0x1p-23f, -0x1p-24f, 0));
    x = {0.1f};
    round_away(DType::fp32, x.data(), 1);
    EXPECT_THAT(x, ElementsAre(0.1f));
  });
}

TEST(AttentionRows, ScoresAndShares) {
  on_every_isa([] {
    std::vector<float> x = {1, 2, -HUGE_VALF};
    EXPECT_EQ(scale_scores(x.data(), 3, 2), 4);
    const float sum = exp_of_scores(x.data(), 3, 4);
    EXPECT_EQ(sum, x[0] + 1);
    EXPECT_EQ(x[2], 0);
    EXPECT_EQ(scale_scores(x.data(), 0, 1), -HUGE_VALF);
    x = {3, 3};
    shares_of_scores(x.data(), 2, 3, 0.5f);
    EXPECT_THAT(x, ElementsAre(0.5f, 0.5f));
    const std::vector<float> p = {2, 3};
    gradient_of_scores(p.data(), x.data(), 2, 1);
    EXPECT_THAT(x, ElementsAre(-1, -1.5f));
    scale_row(x.data(), 2, 2);
    EXPECT_EQ(sum_of_products(p.data(), x.data(), 2), -13);
  });
}

// Key k of 16 numbers has k + 1 at place k; rows of queries and sums are 0, 1, ..., 15, 16, ...
TEST(AttentionRows, FewRowsOfThreeKeys) {
  constexpr std::int64_t kRows = 5, kSize = 16, kStep = 20, kKeys = 3;
  std::vector<float> queries(kRows * kSize);
  std::iota(queries.begin(), queries.end(), 0.0f);
  std::vector<float> keys(kKeys * kStep, 9);
  for (std::int64_t k = 0; k < kKeys; ++k) {
    std::fill_n(keys.begin() + k * kStep, kSize, 0.0f);
    keys[std::size_t(k * kStep + k)] = float(k + 1);
  }
  for (const DType dtype : {DType::fp32, DType::fp16, DType::bf16}) {
    std::vector<float> stored(keys.size());
    store_floats(dtype, keys.data(), std::ssize(keys), stored.data());
    const KeyLines lines{dtype, stored.data(), kKeys, kSize, kStep};
    on_every_isa([&] {
      std::vector<float> scores(kRows * kKeys), sums = queries;
      scores_of_few(queries.data(), kRows, lines, kKeys, scores.data());
      add_values_of_few(scores.data(), kRows, lines, kKeys, sums.data());
      for (std::int64_t i = 0; i < kRows * kSize; ++i) {
        const auto factor = i % kSize < kKeys ? float(i % kSize + 1) : 0.0f;
        EXPECT_EQ(sums[std::size_t(i)], float(i) * (1 + factor * factor));
      }
    });
  }
}

}  // namespace opbench
