#include "compare/match/number_shift.h"

#include <gtest/gtest.h>

#include "tests/compare/dump_records.h"

namespace opbench {
namespace {

using compare_tests::Call;
using compare_tests::gpu;
using compare_tests::npu;

// Six calls of two operators, numbered from `first`.
std::vector<Call> calls(int first) {
  std::vector<Call> made;
  for (int i = 0; i < 6; ++i) {
    made.push_back({i % 3 == 0 ? "Relu" : "Add", std::to_string(first + i), {"output/r"}});
  }
  return made;
}

std::optional<std::int64_t> shift(int actual, int expected) {
  return number_shift(npu(calls(actual)), gpu(calls(expected)), default_name_map());
}

TEST(NumberShift, IsWhatPairsMostCalls) {
  EXPECT_EQ(shift(1, 0), 1);
  EXPECT_EQ(shift(7, 12), -5);
  EXPECT_EQ(shift(16, 0), 16);
}

TEST(NumberShift, IsNoneWhereNumbersFit) {
  EXPECT_EQ(shift(3, 3), std::nullopt);
  EXPECT_EQ(shift(17, 0), std::nullopt) << "too far";
  EXPECT_EQ(number_shift(npu({}), gpu(calls(0)), default_name_map()), std::nullopt);
}

TEST(NumberShift, NumbersAtTheEndsOfTheirRangeAreLeftAlone) {
  const auto far = npu({{"Relu", "9223372036854775807", {"output/r"}}});
  EXPECT_EQ(number_shift(far, gpu(calls(0)), default_name_map()), std::nullopt);
}

}  // namespace
}  // namespace opbench
