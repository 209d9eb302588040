#include "judge/value_evidence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <vector>

namespace opbench {
namespace {

const Dims kReorderedShape = {2, 3, 4};

std::vector<double> sines() {
  std::vector<double> values;
  for (int i = 0; i < 24; ++i) values.push_back(std::sin(7.0 * i));
  return values;
}

// `values` with slice n of `axis` taken from slice order[n].
std::vector<double> taken(const std::vector<double>& values, std::size_t axis,
                          const std::vector<std::size_t>& order) {
  std::vector<double> result(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    std::size_t place[] = {i / 12, i / 4 % 3, i % 4};
    place[axis] = order[place[axis]];
    result[i] = values[place[0] * 12 + place[1] * 4 + place[2]];
  }
  return result;
}

TEST(Reordered, FindsTheAxis) {
  const std::vector<double> values = sines();
  EXPECT_EQ(reordered_axis(taken(values, 0, {1, 0}), values, kReorderedShape), 0U);
  EXPECT_EQ(reordered_axis(taken(values, 1, {2, 0, 1}), values, kReorderedShape), 1U);
  EXPECT_EQ(reordered_axis(taken(values, 2, {3, 2, 1, 0}), values, kReorderedShape), 2U);
}

TEST(Reordered, ForgivesRounding) {
  const std::vector<double> values = sines();
  std::vector<double> actual = taken(values, 1, {2, 0, 1});
  for (double& value : actual) value *= 1 + 1e-4;
  EXPECT_EQ(reordered_axis(actual, values, kReorderedShape), 1U);
}

TEST(Reordered, IsNothingElse) {
  const std::vector<double> values = sines();
  std::vector<double> negated = values, wrong = taken(values, 1, {2, 0, 1});
  for (double& value : negated) value = -value;
  for (std::size_t i = 0; i < wrong.size(); i += 2) wrong[i] = -wrong[i];
  EXPECT_EQ(reordered_axis(negated, values, kReorderedShape), std::nullopt);
  EXPECT_EQ(reordered_axis(wrong, values, kReorderedShape), std::nullopt);
  EXPECT_EQ(reordered_axis(values, values, kReorderedShape), std::nullopt);
  EXPECT_EQ(reordered_axis(std::vector<double>{1}, std::vector<double>{2}, {}), std::nullopt);
}

}  // namespace
}  // namespace opbench
