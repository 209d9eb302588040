#include "judge/bound.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "tests/evaluate.h"
#include "tests/support/non_finite.h"

namespace opbench {
namespace {

using testing::ElementsAre;

/// A problem with one output element.
class OneElement {
 public:
  OneElement(Problem problem, const std::vector<std::vector<float>>& inputs)
      : problem_(std::move(problem)) {
    for (const std::vector<float>& values : inputs) {
      const TensorDesc& desc = problem_.inputs[storage_.size()];
      storage_.emplace_back(values.size() * size_of(desc.dtype));
      const std::vector<double> wide(values.begin(), values.end());
      from_doubles(desc.dtype, wide.data(), wide.size(), storage_.back().data());
      readers_.emplace_back(desc, storage_.back().data());
    }
  }

  HeldElements held(double actual, const Claim& claim = {}) const {
    const ErrorBound bound(problem_, readers_, 0);
    double expected = 0;
    bound.expected()(0, {0, 1}, {&expected, 1});
    return bound.hold({&claim, 1}, {0, 1}, {&actual, 1}, {&expected, 1})[0];
  }
  double allowed_of_terms(const Claim& claim) const {
    return opbench::allowed_of_terms(problem_, readers_, 0, claim);
  }
  bool is_wrong(double actual, const Claim& claim = {}) const {
    return held(actual, claim).wrong == 1;
  }

 private:
  Problem problem_;
  std::vector<std::vector<std::byte>> storage_;
  std::vector<InputReader> readers_;
};

/// A matrix product of one row and one column: 4 terms and 8 operations.
struct RowByColumn : OneElement {
  RowByColumn(std::vector<float> row, std::vector<float> column, DType dtype = DType::fp32)
      : OneElement(problem_with(find_op("matmul"), {{1, 4}, {4, 1}}, {}, dtype, Format::ND),
                   {std::move(row), std::move(column)}) {}
};

// The error bound for T = 4000, n = 8, f = 0 is 4 * 2^-24 * sqrt(8) * 4000.
constexpr double kOfTerms = 4 * 0x1p-24 * 2.8284271247461903 * 4000;

}  // namespace

TEST(ErrorBound, FollowsTheTermsWhereTheyCancel) {
  const RowByColumn product({1000, -1000, 1000, -1000}, {1, 1, 1, 1});
  EXPECT_FALSE(product.is_wrong(0.99 * kOfTerms));
  EXPECT_TRUE(product.is_wrong(1.01 * kOfTerms));
  const HeldElements held = product.held(2 * kOfTerms);
  EXPECT_NEAR(held.excess, 2, 1e-6);
  EXPECT_NEAR(held.allowed, kOfTerms, 1e-9);
  EXPECT_EQ(held.worst.index, 0);
}

// Operands in fp16 add 4 * 2^-11 * 4000.
TEST(ErrorBound, OfTheTermsAlone) {
  const RowByColumn product({1000, -1000, 1000, -1000}, {1, 1, 1, 1});
  EXPECT_NEAR(product.allowed_of_terms({}), kOfTerms, 1e-9);
  EXPECT_NEAR(product.allowed_of_terms(fp16_operands()), kOfTerms + 4 * 0x1p-11 * 4000, 1e-9);
}

// A result of 10 with T = 10 has the bound 4 * 2^-24 * (sqrt(8) + 1) * 10.
TEST(ErrorBound, FollowsTheResult) {
  const RowByColumn product({1, 2, 3, 4}, {1, 1, 1, 1});
  const double allowed = 4 * 0x1p-24 * 3.8284271247461903 * 10;
  EXPECT_FALSE(product.is_wrong(10 + 0.99 * allowed));
  EXPECT_TRUE(product.is_wrong(10 - 1.01 * allowed));
}

// fp16 results are rounded again, which adds 4 * 2^-11 * 10.
TEST(ErrorBound, RoundsTheResult) {
  const RowByColumn product({1, 2, 3, 4}, {1, 1, 1, 1}, DType::fp16);
  EXPECT_FALSE(product.is_wrong(10 + 0.99 * 4 * 0x1p-11 * 10));
  EXPECT_TRUE(product.is_wrong(10 + 1.01 * 4 * 0x1p-11 * 10));
}

TEST(ErrorBound, ClaimsAllowMore) {
  const RowByColumn product({1000, -1000, 1000, -1000}, {1, 1, 1, 1});
  const Claim narrow{.name = "fp16 operands", .operand = 0x1p-11};
  EXPECT_TRUE(product.is_wrong(7));
  EXPECT_FALSE(product.is_wrong(7, narrow)) << "4 * 2^-11 * 4000 is 7.8";
  EXPECT_TRUE(product.is_wrong(8, narrow));
}

TEST(ErrorBound, NanAndInf) {
  const RowByColumn product({1, 2, 3, 4}, {1, 1, 1, 1});
  EXPECT_TRUE(product.is_wrong(NAN));
  EXPECT_TRUE(product.is_wrong(kInf));
  EXPECT_EQ(product.held(kInf).excess, kInf);
  const RowByColumn infinite({INFINITY, 2, 3, 4}, {1, 1, 1, 1});
  EXPECT_FALSE(infinite.is_wrong(kInf));
  EXPECT_TRUE(infinite.is_wrong(-kInf));
  EXPECT_TRUE(infinite.is_wrong(3e38));
  const RowByColumn undefined({INFINITY, -INFINITY, 3, 4}, {1, 1, 1, 1});
  EXPECT_FALSE(undefined.is_wrong(NAN));
  EXPECT_TRUE(undefined.is_wrong(0));
}

// 70000 is Inf in fp16, or 65504 if the device saturates.
TEST(ErrorBound, EndOfTheRange) {
  const RowByColumn product({20000, 20000, 20000, 10000}, {1, 1, 1, 1}, DType::fp16);
  const Claim saturates{.name = "saturates at 65504", .saturates = true};
  EXPECT_FALSE(product.is_wrong(kInf));
  EXPECT_TRUE(product.is_wrong(65504));
  EXPECT_FALSE(product.is_wrong(65504, saturates));
  EXPECT_TRUE(product.is_wrong(kInf, saturates));
  const RowByColumn below({16000, 16000, 16000, 16000}, {1, 1, 1, 1}, DType::fp16);
  EXPECT_TRUE(below.is_wrong(kInf)) << "64000 is far enough from the end";
  const RowByColumn near({16368, 16368, 16368, 16384}, {1, 1, 1, 1}, DType::fp16);
  EXPECT_FALSE(near.is_wrong(kInf)) << "65488 may be rounded up";
}

// 3e38 four times overflows fp32 before -9e38 is added, so correct kernels overflow.
TEST(ErrorBound, IntermediateResultsOverflow) {
  const RowByColumn product({3e38F, 3e38F, -3e38F, -2e38F}, {1, 1, 1, 1});
  EXPECT_FALSE(product.is_wrong(kInf));
  EXPECT_FALSE(product.is_wrong(NAN));
  EXPECT_TRUE(product.is_wrong(5e37)) << "a finite number is wrong still";
}

// Devices flush numbers below the smallest normal number of fp32.
TEST(ErrorBound, SmallResultsMayBeFlushed) {
  const RowByColumn product({1e-39F, 0, 0, 0}, {1, 1, 1, 1});
  EXPECT_FALSE(product.is_wrong(0));
  EXPECT_TRUE(product.is_wrong(1e-37));
}

// exp(-87.34655) = 1.166e-38 is below the smallest normal number, the product with 2.51 is not.
TEST(ErrorBound, FlushedFactorsAreMultiplied) {
  const auto slope = [](float dy) {
    return OneElement(
        problem_with(find_op("softplus_grad"), {{1}, {1}}, {}, DType::fp32, Format::ND),
        {{dy}, {-87.34655F}});
  };
  EXPECT_FALSE(slope(2.51F).is_wrong(0));
  EXPECT_FALSE(slope(1e6F).is_wrong(0));
  EXPECT_TRUE(slope(2.51F).is_wrong(1e-37));
  EXPECT_TRUE(slope(1e20F).is_wrong(0)) << "not for any factor";
}

TEST(ErrorBound, WorstOfSeveralParts) {
  HeldElements all;
  all.merge({1, 0, 0, {7, 1, 0, 1}, 3, 0.5});
  all.merge({2, 0, 0, {9, 2, 0, 2}, 2, 0.5});
  all.merge({});
  all.merge({1, 0, 0, {11, 5, 0, 5}, 8, 0.25});
  EXPECT_EQ(all.wrong, 4);
  EXPECT_EQ(all.worst.index, 11);
  EXPECT_EQ(all.allowed, 0.25);
}

TEST(ErrorBound, InWords) {
  EXPECT_EQ(formula({}, DType::fp32, 1), "|a-e| <= 2.38e-07*T + 2.38e-07*|e|");
  EXPECT_EQ(formula({.name = "fp16 steps", .operand = 0x1p-11}, DType::fp16, 1),
            "|a-e| <= 0.00195*T + 0.00195*|e| (fp16 steps)");
  const HeldElements held{3, 0, 0, {5, 2, 1, 1}, 4, 0.25};
  EXPECT_EQ(beyond_text(held, 8, describe(DType::fp32, {2, 4})),
            "3 of 8 elements exceed their error bound; worst at [1,1]: 2, expected 1, error bound "
            "0.25");
  EXPECT_EQ(beyond_text({2, 1, 1, {5, NAN, 1, 0}, kInf, 0.25}, 8, describe(DType::fp32, {2, 4})),
            "1 NaN and 1 Inf on one side only, first at [1,1]: NaN, expected 1");
}

}  // namespace opbench
