#include <gmock/gmock.h>

#include "tensor/error.h"
#include "tests/ops/finite_difference.h"
#include "tests/ops/values.h"

namespace opbench {

using testing::HasSubstr;
using testing::ThrowsMessage;

TEST(CumSum, HandComputed) {
  const Given x{DType::fp32, {2, 3}, {1, 2, 4, 8, 16, 32}};
  expect_values("cumsum", {x}, {1, 3, 7, 8, 24, 56});
  expect_values("cumsum", {x}, {7, 6, 4, 56, 48, 32}, {{"reverse", "true"}});
  expect_values("cumsum", {x}, {1, 2, 4, 9, 18, 36}, {{"dim", "0"}});
  expect_values("cumsum", {x}, {9, 18, 36, 8, 16, 32}, {{"dim", "0"}, {"reverse", "true"}});
}

TEST(CumSum, ExclusiveSumsLackTheirOwnElement) {
  const Given x{DType::fp32, {2, 3}, {1, 2, 4, 8, 16, 32}};
  expect_values("cumsum", {x}, {0, 1, 3, 0, 8, 24}, {{"exclusive", "true"}});
  expect_values("cumsum", {x}, {8, 16, 32, 0, 0, 0},
                {{"dim", "0"}, {"reverse", "true"}, {"exclusive", "true"}});
  expect_gradients({"cumsum", {spread({5})}, {{"exclusive", "true"}}});
}

TEST(CumSum, OfIntegersIsInt64) {
  expect_values("cumsum", {{DType::int8, {4}, {127, 127, -1, 3}}}, {127, 254, 253, 256});
  expect_values("cumsum", {{DType::int32, {2, 2}, {1, 2, 3, 4}}}, {4, 6, 3, 4},
                {{"dim", "0"}, {"reverse", "true"}});
}

// Lengths are around the block of places that is kept at a time, in both directions, for more lines
// than are added in turn. Sums in bf16 would stop growing at these lengths.
TEST(CumSum, EveryLength) {
  constexpr std::int64_t kLines = 6;
  for (const std::int64_t count : {1, 255, 256, 257, 1000}) {
    std::vector<double> x;
    for (int line = 1; line <= kLines; ++line) x.insert(x.end(), std::size_t(count), line);
    const Given lines{DType::fp32, {kLines, count}, x};
    const auto forward = kernel_on_tensors("cumsum", "native", {lines})[0];
    const auto backward = kernel_on_tensors("cumsum", "native", {lines}, {{"reverse", "true"}})[0];
    for (std::int64_t end = count; end <= kLines * count; end += count) {
      EXPECT_EQ(forward[std::size_t(end - 1)], double(end)) << count;
      EXPECT_EQ(backward[std::size_t(end - count)], double(end)) << count;
    }
  }
  const Given ones{DType::bf16, {4096}, std::vector<double>(4096, 1)};
  EXPECT_EQ(kernel_on_tensors("cumsum", "native", {ones})[0].back(), 4096);
}

TEST(CumSum, GradientsAgreeWithFiniteDifferences) {
  expect_gradients({"cumsum", {spread({2, 3, 2})}, {{"dim", "1"}}});
  expect_gradients({"cumsum", {spread({5})}, {{"reverse", "true"}}});
}

TEST(CumSum, NamesWhatItRefuses) {
  EXPECT_THAT(
      [] {
        problem_with(find_op("cumsum"), {{2, 3}}, {{"dim", "2"}}, DType::fp32);
      },
      ThrowsMessage<Error>(HasSubstr("cumsum: axis 2 is out of range for shape 2x3")));
}

}  // namespace opbench
