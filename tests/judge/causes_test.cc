#include "judge/causes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <Eigen/Core>
#include <algorithm>
#include <cmath>
#include <functional>
#include <random>
#include <set>

#include "tensor/error.h"
#include "tests/support/non_finite.h"

namespace opbench {
namespace {

const Dims kShape = {2, 24, 40};

std::vector<double> normal(std::size_t count, double deviation = 1, unsigned seed = 1) {
  std::mt19937 generator(seed);
  std::normal_distribution<double> distribution(0, deviation);
  std::vector<double> values(count);
  for (double& value : values) value = static_cast<float>(distribution(generator));
  return values;
}

std::vector<double> expected_values() { return normal(2 * 24 * 40); }

std::vector<double> changed(std::vector<double> values,
                            const std::function<double(std::size_t, double)>& change) {
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = change(i, values[i]);
  return values;
}

std::vector<Cause> causes(const std::vector<double>& actual, const std::vector<double>& expected,
                          const Dims& shape = kShape, std::span<const InputValues> inputs = {}) {
  return find_causes({actual, expected, shape, 0x1p-16, 0x1p-10, inputs});
}

std::vector<std::string> rules(const std::vector<Cause>& causes) {
  std::vector<std::string> names;
  for (const Cause& cause : causes) names.push_back(cause.rule);
  return names;
}

using Names = std::vector<std::string>;

// The rules that match if `change` is applied to every element.
std::vector<std::string> rules_of(const std::function<double(std::size_t, double)>& change) {
  const std::vector<double> expected = expected_values();
  return rules(causes(changed(expected, change), expected));
}

std::size_t row_of(std::size_t i) { return i / 40 % 24; }
std::size_t column_of(std::size_t i) { return i % 40; }

double truncated(double value, int bits) {
  const double unit = std::ldexp(1, std::ilogb(value) - bits + 1);
  return value == 0 ? 0 : std::trunc(value / unit) * unit;
}

}  // namespace

TEST(Causes, AFactor) {
  const std::vector<double> expected = expected_values();
  const auto found =
      causes(changed(expected, [](std::size_t, double x) { return 1.25 * x; }), expected);
  ASSERT_EQ(rules(found), Names{"scale"});
  EXPECT_EQ(found[0].text.substr(0, 53), "every wrong value is 1.25 times what is expected: a f");
  EXPECT_EQ(rules_of([](std::size_t, double x) { return -x; }), Names{"negated"});
}

TEST(Causes, AnOffset) {
  EXPECT_EQ(rules_of([](std::size_t, double x) { return x + 0.5; }), Names{"offset"});
}

TEST(Causes, Rounding) {
  const auto bf16 = [](std::size_t, double x) {
    return static_cast<double>(Eigen::bfloat16(static_cast<float>(x)));
  };
  const std::vector<double> expected = expected_values();
  const auto found = causes(changed(expected, bf16), expected);
  ASSERT_EQ(rules(found), Names{"rounded"});
  EXPECT_NE(found[0].text.find("about 8 significand bits"), std::string::npos) << found[0].text;
}

TEST(Causes, Truncation) {
  EXPECT_EQ(rules_of([](std::size_t, double x) { return truncated(x, 8); }), Names{"truncated"});
  EXPECT_EQ(rules_of([](std::size_t, double x) { return std::floor(64 * x) / 64; }),
            Names{"floored"});
}

TEST(Causes, TilesAndTails) {
  const auto wrong_where = [](const std::function<bool(std::size_t)>& where) {
    const std::vector<double> noise = normal(2 * 24 * 40, 1, 2);
    return rules_of([&](std::size_t i, double x) { return where(i) ? noise[i] : x; });
  };
  EXPECT_EQ(wrong_where([](std::size_t i) { return i % 16 == 15; }), Names{"period"})
      << "of 8 in rows of 40, in every other row";
  EXPECT_EQ(wrong_where([](std::size_t i) { return row_of(i) % 8 == 7; }), Names{"period"});
  EXPECT_EQ(wrong_where([](std::size_t i) { return column_of(i) >= 32; }), Names{"tail"});
  EXPECT_EQ(wrong_where([](std::size_t i) { return i >= 1904; }), Names{"tail"});
  EXPECT_EQ(wrong_where([](std::size_t i) { return row_of(i) == 5; }), Names{"one_channel"});
  EXPECT_EQ(wrong_where([](std::size_t i) { return row_of(i) / 8 == 1; }), Names{"block"});
  EXPECT_EQ(wrong_where([](std::size_t) { return true; }), Names()) << "noise everywhere";
}

TEST(Causes, APeriodOf16And32) {
  const std::vector<double> expected = normal(3 * 128), noise = normal(3 * 128, 1, 2);
  for (const std::size_t period : {16, 32}) {
    const auto found = causes(
        changed(expected,
                [&](std::size_t i, double x) { return i % period == period - 1 ? noise[i] : x; }),
        expected, {3, 128});
    ASSERT_EQ(rules(found), Names{"period"});
    EXPECT_NE(found[0].text.find(fmt::format("only axis 1 where i % {} = {}", period, period - 1)),
              std::string::npos)
        << found[0].text;
  }
}

TEST(Causes, WhatWrongPlacesHold) {
  EXPECT_EQ(rules_of([](std::size_t i, double x) { return column_of(i) >= 32 ? 0 : x; }),
            (Names{"tail", "zero"}));
  EXPECT_EQ(rules_of([](std::size_t i, double x) { return row_of(i) == 5 ? 2 * x : x; }),
            (Names{"one_channel", "scale"}));
  EXPECT_EQ(rules_of([](std::size_t i, double x) { return i * 7919 % 13 == 0 ? 0 : x; }),
            Names{"zero"})
      << "anywhere";
}

TEST(Causes, Orders) {
  const std::vector<double> expected = expected_values();
  std::vector<double> reversed(expected), shuffled(expected), transposed(expected.size());
  std::reverse(reversed.begin(), reversed.end());
  for (std::size_t i = 0; i < expected.size(); ++i) {
    transposed[i / 960 * 960 + i % 40 * 24 + i / 40 % 24] = expected[i];
  }
  std::vector<double> rows(expected);
  for (std::size_t i = 0; i < rows.size(); ++i)
    rows[i] = expected[i / 960 * 960 + (23 - row_of(i)) * 40 + column_of(i)];
  const auto found = causes(rows, expected);
  ASSERT_EQ(rules(found), Names{"reordered"});
  EXPECT_EQ(found[0].text.substr(0, 43), "the same values in another order along axis");
  EXPECT_EQ(rules(causes(transposed, expected)), Names{"same_values"});
  EXPECT_EQ(rules(causes(reversed, expected)), Names{"same_values"});
}

// A second sample of the distribution has other values.
TEST(Causes, TwoSamplesOfOneDistributionAreNotTheSameValues) {
  const auto found = rules(causes(normal(2 * 24 * 40, 1, 7), normal(2 * 24 * 40, 1, 8)));
  EXPECT_EQ(std::count(found.begin(), found.end(), "same_values"), 0);
}

// The values are so many that they are counted in ranges instead of sorted. A few distant values
// make the ranges too wide.
TEST(Causes, OrdersOfManyValues) {
  constexpr std::size_t kSide = 512;
  const Dims shape = {kSide, kSide};
  for (const double farthest : {0.0, 1e6}) {
    std::vector<double> expected = normal(kSide * kSide), transposed(expected.size());
    expected[5] += farthest;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      transposed[i % kSide * kSide + i / kSide] = expected[i] * (1 + 1e-5);
    }
    EXPECT_EQ(rules(causes(transposed, expected, shape)), Names{"same_values"}) << farthest;
    std::vector<double> others = normal(expected.size(), 1, 7);
    others[5] = expected[5];
    const auto found = rules(causes(others, expected, shape));
    EXPECT_EQ(std::count(found.begin(), found.end(), "same_values"), 0) << farthest;
  }
}

TEST(Causes, TheEndOfHalf) {
  const std::vector<double> expected = normal(2 * 24 * 40, 50'000);
  const auto half_saturated = [](std::size_t, double x) {
    return std::clamp(x, -65504.0, 65504.0);
  };
  const auto half = [](std::size_t, double x) {
    return std::fabs(x) > 65504 ? std::copysign(kInf, x) : x;
  };
  EXPECT_EQ(rules(causes(changed(expected, half_saturated), expected)), Names{"saturated"});
  EXPECT_EQ(rules(causes(changed(expected, half), expected)), Names{"overflowed"});
}

// softplus is computed as log(1 + exp(x)) in fp32, so exp(88.73) is Inf.
TEST(Causes, AnExponentialInFloat) {
  std::vector<double> x(1920);
  for (std::size_t i = 0; i < x.size(); ++i) x[i] = 0.05 * static_cast<double>(i);
  const std::vector<double> actual =
      changed(x, [](std::size_t, double v) { return v > 88.7228 ? kInf : v; });
  const InputValues input{"self", x};
  EXPECT_EQ(rules(causes(actual, x, {1920}, {&input, 1})), Names{"exp_in_float"});
}

// softplus is computed as log(1 + exp(x)) in fp16, so exp(x) is Inf from x = 11.0901 on.
TEST(Causes, AnExponentialInHalf) {
  const std::vector<double> x = changed(normal(2 * 24 * 40, 8), [](std::size_t, double v) {
    return static_cast<double>(Eigen::half(float(v)));
  });
  const std::vector<double> expected =
      changed(x, [](std::size_t, double v) { return std::log1p(std::exp(v)); });
  const std::vector<double> actual = changed(expected, [&](std::size_t i, double y) {
    return std::isinf(float(Eigen::half(float(std::exp(x[i]))))) ? kNan : y;
  });
  const InputValues input{"self", x};
  EXPECT_EQ(rules(causes(actual, expected, kShape, {&input, 1})), Names{"exp_in_half"});
  EXPECT_EQ(rules(causes(actual, expected, kShape)), Names()) << "without the input";
  std::vector<double> elsewhere = actual;
  elsewhere[static_cast<std::size_t>(std::min_element(x.begin(), x.end()) - x.begin())] = kNan;
  EXPECT_EQ(rules(causes(elsewhere, expected, kShape, {&input, 1})), Names()) << "and below";
}

// softplus has a threshold of 2 instead of 20. It returns x, and log(1 + e^x) is expected.
TEST(Causes, AThreshold) {
  const std::vector<double> x = normal(1920, 3);
  const auto softplus = [](double v) { return std::log1p(std::exp(v)); };
  const std::vector<double> expected =
      changed(x, [&](std::size_t, double v) { return softplus(v); });
  const std::vector<double> actual =
      changed(x, [&](std::size_t, double v) { return v > 2 ? v : softplus(v); });
  const InputValues input{"self", x};
  const auto found = causes(actual, expected, kShape, {&input, 1});
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found[0].rule, "input_range");
  EXPECT_EQ(found[0].text.substr(0, 39), "wrong only where the input is from 2.00");
}

TEST(Causes, NothingIsSaidOfWhatIsRight) {
  const std::vector<double> expected = expected_values();
  EXPECT_EQ(rules(causes(expected, expected)), Names());
  EXPECT_EQ(rules(causes({}, {}, {0})), Names());
  EXPECT_EQ(rules(causes({1}, {2}, {})), Names()) << "one element tells nothing";
  EXPECT_EQ(rules(causes({kNan, kInf, 1}, {kNan, kInf, 1}, {3})), Names());
  const std::vector<double> noise = normal(expected.size(), 0.01, 3);
  EXPECT_EQ(rules_of([&](std::size_t i, double x) { return x + noise[i]; }), Names());
}

TEST(Causes, EveryRuleIsPlantedHere) {
  std::set<std::string> names;
  for (const CauseRule& rule : builtin_causes()) EXPECT_TRUE(names.insert(rule.name).second);
  EXPECT_EQ(names, (std::set<std::string>{
                       "block", "exp_in_float", "exp_in_half", "floored", "input_range", "negated",
                       "offset", "one_channel", "overflowed", "period", "reordered", "rounded",
                       "same_values", "saturated", "scale", "tail", "truncated", "zero"}));
}

TEST(Causes, RulesAreChecked) {
  const auto error = [](const std::string& text) {
    try {
      parse_causes(text, "rules.yaml");
    } catch (const Error& found) {
      return std::string(found.what());
    }
    return std::string();
  };
  const std::string head = "- {name: n, group: g, says: text, when: ";
  EXPECT_EQ(error(head + "{cosine: {least: 0}}}"), "");
  EXPECT_EQ(error(head + "{cosin: {least: 0}}}"),
            "rules.yaml:1: there is no evidence 'cosin'; did you mean 'cosine'?");
  EXPECT_EQ(error(head + "{cosine: {}}}"), "rules.yaml:1: a range needs a 'least' or a 'most'");
  EXPECT_EQ(error(head + "{cosine: {lest: 1}}}").substr(0, 13), "rules.yaml:1:");
  EXPECT_EQ(
      error("- {name: n, group: g, says: 'a {factor}', when: {cosine: {least: 0}}}").substr(0, 43),
      "rules.yaml:1: there is no evidence 'factor'");
  EXPECT_EQ(error("- {name: n, group: g, says: 'a {', when: {cosine: {least: 0}}}"),
            "rules.yaml:1: a { without its }");
  EXPECT_EQ(error("- {name: n}"), "rules.yaml:1: a cause needs 'name', 'group', 'when' and 'says'");
}

}  // namespace opbench
