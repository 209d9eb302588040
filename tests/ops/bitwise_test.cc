#include <gmock/gmock.h>

#include "tests/ops/values.h"

namespace opbench {

TEST(Bitwise, ByHand) {
  const std::vector<Given> x = {{DType::int16, {2}, {12, -1}}, {DType::int16, {2}, {10, 256}}};
  expect_values("bitwise_and", x, {8, 256});
  expect_values("bitwise_or", x, {14, -1});
  expect_values("bitwise_xor", x, {6, -257});
  expect_values("bitwise_not", {x[0]}, {-13, 0});
  expect_values("bitwise_not", {{DType::uint8, {2}, {0, 250}}}, {255, 5});
}

TEST(Bitwise, OfBoolIsLogic) {
  const std::vector<Given> x = {mask({2, 2}, {0, 0, 1, 1}), mask({2, 2}, {0, 1, 0, 1})};
  expect_values("bitwise_and", x, {0, 0, 0, 1});
  expect_values("bitwise_or", x, {0, 1, 1, 1});
  expect_values("bitwise_xor", x, {0, 1, 1, 0});
}

}  // namespace opbench
