#include <gmock/gmock.h>

#include "ops/pool.h"
#include "tensor/error.h"
#include "tests/ops/finite_difference.h"
#include "tests/ops/values.h"

namespace opbench {

using testing::HasSubstr;
using testing::ThrowsMessage;

// 5 places in 3 windows: 0-1, 1-3, 3-4. Source: floor(i*5/3) and ceil((i + 1)*5/3).
TEST(AdaptiveAvgPool2d, WindowsMayOverlap) {
  std::vector<std::pair<std::int64_t, std::int64_t>> places;
  for (const TapRange& taps : adaptive_taps(5, 3)) places.emplace_back(taps.first, taps.last);
  EXPECT_THAT(places,
              testing::ElementsAre(testing::Pair(0, 2), testing::Pair(1, 4), testing::Pair(3, 5)));
}

TEST(AdaptiveAvgPool2d, HandComputed) {
  const Given x{DType::fp32, {1, 1, 2, 4}, {0, 2, 4, 6, 8, 10, 12, 14}};
  expect_values("adaptive_avg_pool2d", {x}, {7}, {{"output_size", "1"}});
  expect_values("adaptive_avg_pool2d", {x}, {1, 5, 9, 13}, {{"output_size", "[2,2]"}});
  expect_values("adaptive_avg_pool2d", {{DType::fp32, {1, 1, 1, 3}, {2, 4, 8}}}, {3, 6},
                {{"output_size", "[1,2]"}});
  // All windows contain the only place, so they copy it.
  expect_values("adaptive_avg_pool2d", {{DType::fp32, {1, 1, 1, 1}, {3}}}, {3, 3, 3, 3},
                {{"output_size", "2"}});
  expect_values("adaptive_avg_pool2d_grad", {{DType::fp32, {1, 1, 1, 2}, {2, 4}}}, {1, 3, 2},
                {{"input_size", "[1,3]"}});
}

TEST(AdaptiveAvgPool2d, GradientsAgreeWithFiniteDifferences) {
  expect_gradients({"adaptive_avg_pool2d", {spread({1, 2, 5, 3})}, {{"output_size", "[3,2]"}}});
}

TEST(AdaptiveAvgPool2d, NamesWhatItRefuses) {
  const auto refused = [](const char* op, const Dims& shape, const AttrTexts& attrs,
                          const char* text) {
    EXPECT_THAT([&] { problem_with(find_op(op), {shape}, attrs, DType::fp32); },
                ThrowsMessage<Error>(HasSubstr(text)));
  };
  refused("adaptive_avg_pool2d", {2, 3}, {}, "'self' of shape 2x3");
  refused("adaptive_avg_pool2d", {1, 1, 0, 3}, {}, "has empty planes");
  refused("adaptive_avg_pool2d", {1, 1, 3, 3}, {{"output_size", "0"}}, "output_size");
  refused("adaptive_avg_pool2d_grad", {1, 1, 0, 3}, {}, "has empty planes");
  // A problem is only a description. Its size is checked before memory is allocated.
  const Problem huge = problem_with(find_op("adaptive_avg_pool2d"), {{1, 1, 3, 3}},
                                    {{"output_size", "1000000000"}}, DType::fp32);
  EXPECT_EQ(huge.outputs[0].shape[2], 1000000000);
}

}  // namespace opbench
