#include "ops/intermediates.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tests/evaluate.h"
#include "tests/on_tensors.h"

namespace opbench {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

struct Told {
  std::vector<double> rounding, greatest;
};

// Of output 0.
Told told_of(std::string_view name, const std::vector<Given>& given, const AttrTexts& attrs = {}) {
  const Op& op = find_op(name);
  std::vector<Tensor> tensors;
  std::vector<InputReader> inputs;
  std::vector<TensorDesc> descs;
  tensors.reserve(given.size());
  for (const Given& g : given) {
    const TensorDesc desc = describe(g.dtype, g.shape);
    const Tensor& tensor = tensors.emplace_back(desc);
    from_doubles(g.dtype, g.values.data(), desc.elements(), tensor.data());
    inputs.emplace_back(tensor.desc, tensor.data());
    descs.push_back(desc);
  }
  const Problem problem = make_problem(op, descs, attrs_of(op, attrs));
  const Intermediates found = intermediates_of(op, inputs, problem.attrs);
  const auto values = [&](const Reference& reference) {
    std::vector<double> result;
    if (!reference) return result;
    result.resize(static_cast<std::size_t>(problem.outputs[0].elements()));
    reference(0, {0, problem.outputs[0].elements()}, result);
    return result;
  };
  return {values(found.rounding), values(found.greatest)};
}

Given fp32(const Dims& shape, std::vector<double> values) {
  return {DType::fp32, shape, std::move(values)};
}

}  // namespace

TEST(Intermediates, OperatorsThatTellOfNone) {
  const Told relu = told_of("relu", {fp32({2}, {1, 2})});
  EXPECT_TRUE(relu.rounding.empty());
  EXPECT_TRUE(relu.greatest.empty());
}

TEST(Intermediates, ProductOfSomeFactors) {
  EXPECT_EQ(greatest_product({2, -3, 0.5}), 6);
  EXPECT_EQ(greatest_product({0, 0.25}), 1);
}

// The logarithm of a sum, of each row that counts.
TEST(Intermediates, LossesOfRows) {
  const std::vector<Given> rows = {fp32({2, 2}, {30, 0, 1, 1}), {DType::int64, {2}, {0, -100}}};
  EXPECT_THAT(told_of("cross_entropy", rows).rounding, ElementsAre(1));
  EXPECT_THAT(told_of("cross_entropy", rows, {{"reduction", "none"}}).rounding, ElementsAre(1, 0));
  EXPECT_THAT(told_of("log_softmax", {fp32({2}, {30, 0})}).rounding, ElementsAre(1, 1));
}

// softmax(0, 0) is 1/2 each, and what is wanted is (1, 0); dy is -4.
TEST(Intermediates, DifferencesOfShares) {
  const std::vector<Given> row = {fp32({}, {-4}), fp32({1, 2}, {0, 0}), {DType::int64, {1}, {0}}};
  EXPECT_THAT(told_of("cross_entropy_grad", row).rounding, ElementsAre(6, 2));
}

TEST(Intermediates, Products) {
  const AttrTexts alpha = {{"alpha", "2"}};
  const Told axpy = told_of("axpy", {fp32({2}, {1, 1}), fp32({2}, {-3, 0.5})}, alpha);
  EXPECT_THAT(axpy.rounding, ElementsAre(6, 1));
  EXPECT_THAT(axpy.greatest, ElementsAre(6, 1));
  const Told addcmul =
      told_of("addcmul", {fp32({1}, {1}), fp32({1}, {3e38}), fp32({1}, {0})}, {{"value", "2"}});
  EXPECT_THAT(addcmul.rounding, ElementsAre(0));
  EXPECT_GT(addcmul.greatest[0], 5e38);
}

// 1 + 2 + 4 in the first place: sums of 3 and 7 and addends of 2 and 4 are rounded.
TEST(Intermediates, SumsThatGrow) {
  const Told told =
      told_of("index_add", {fp32({2}, {1, -1}), {DType::int64, {2}, {0, 0}}, fp32({2}, {2, 4})});
  EXPECT_THAT(told.rounding, ElementsAre(DoubleNear(std::sqrt(9 + 4 + 49 + 16), 1e-12), 0));
  EXPECT_THAT(told.greatest, ElementsAre(7, 1));
}

// accum 0.5*4 + 3, then 3 + 0.5*5, times a learning rate of 0.1.
TEST(Intermediates, StepsOfAnOptimizer) {
  const Told told = told_of("sgd", {fp32({1}, {1}), fp32({1}, {3}), fp32({1}, {-4})},
                            {{"nesterov", "true"}, {"momentum", "0.5"}, {"lr", "0.125"}});
  EXPECT_THAT(told.rounding, ElementsAre(5.5 * 0.125));
  EXPECT_THAT(told.greatest, ElementsAre(5.5));
}

// What the terms come to where none of them cancels; before a mean divides.
TEST(Intermediates, SumsOfTerms) {
  const Told sum =
      told_of("sum_to_size", {fp32({2, 2}, {3, -3, 1e-9, -1e-9})}, {{"size", "[2,1]"}});
  EXPECT_THAT(sum.rounding, ElementsAre(6, DoubleNear(2e-9, 1e-15)));
  const Told mean = told_of("mean", {fp32({4}, {3, -3, 1, -1})});
  EXPECT_THAT(mean.rounding, ElementsAre(2));
  EXPECT_THAT(mean.greatest, ElementsAre(8));
  const Told product = told_of("matmul", {fp32({1, 2}, {2, -3}), fp32({2, 1}, {3, 2})});
  EXPECT_THAT(product.rounding, ElementsAre(12));
  const Told addmm = told_of("addmm", {fp32({1}, {-5}), fp32({1, 1}, {2}), fp32({1, 1}, {3})},
                             {{"beta", "-2"}, {"alpha", "-1"}});
  EXPECT_THAT(addmm.rounding, ElementsAre(16));
  const Told infinite = told_of("sum", {fp32({3}, {HUGE_VAL, -3e38, -3e38})});
  EXPECT_THAT(infinite.greatest, ElementsAre(testing::Gt(5e38)));
}

// y = (1, 0): the second gradient is 0, the first a difference of what is all of dy.
TEST(Intermediates, GradientsOfShares) {
  const Told told = told_of("softmax_grad", {fp32({2}, {-4, 1}), fp32({2}, {1, 0})});
  EXPECT_THAT(told.rounding, ElementsAre(8, 0));
  EXPECT_THAT(told.greatest, ElementsAre(8, 5));
  const Told logs = told_of("log_softmax_grad", {fp32({2}, {-4, 1}), fp32({2}, {0, -HUGE_VAL})});
  EXPECT_THAT(logs.rounding, ElementsAre(9, 1));
}

// Of shares 1/2 both, of which the exponents are 0; then of e^-30, whose exponent is 30.
TEST(Intermediates, SharesFollowExponents) {
  const Told told = told_of("softmax", {fp32({2, 2}, {7, 7, 0, -30})});
  EXPECT_THAT(told.rounding, ElementsAre(0, 0, 0, DoubleNear(30 * std::exp(-30), 1e-20)));
}

// Two rows of mean 100 and 0 and deviation 1, scaled by 2.
TEST(Intermediates, MeansThatAreTakenAway) {
  const Told told =
      told_of("layer_norm", {fp32({2, 2}, {99, 101, -1, 1}), fp32({2}, {2, 2}), fp32({2}, {0, -3})},
              {{"eps", "0"}});
  EXPECT_THAT(told.rounding, ElementsAre(402, 405, 4, 7));
  EXPECT_THAT(told.greatest, ElementsAre(200, 200, 2, 2));
  const Told channels = told_of(
      "batch_norm",
      {fp32({2, 1}, {99, 101}), fp32({1}, {2}), fp32({1}, {-3}), fp32({1}, {0}), fp32({1}, {1})},
      {{"eps", "0"}});
  EXPECT_THAT(channels.rounding, ElementsAre(405, 405));
}

// Squares of side 4 and 2 that share 2 of their corners' coordinates lie in each other.
TEST(Intermediates, AreasFollowCoordinates) {
  const Told far = told_of(
      "pairwise_iou", {fp32({1, 4}, {100, 100, 104, 104}), fp32({1, 4}, {100, 100, 102, 102})});
  const Told near =
      told_of("pairwise_iou", {fp32({1, 4}, {0, 0, 4, 4}), fp32({1, 4}, {0, 0, 2, 2})});
  EXPECT_GT(far.rounding[0], 20 * near.rounding[0]);
}

}  // namespace opbench
