#include "ops/terms.h"

#include <gmock/gmock.h>

#include <cmath>

#include "tensor/random.h"
#include "tests/conforms.h"
#include "tests/evaluate.h"
#include "tests/on_tensors.h"

namespace opbench {
namespace {

using testing::DoubleNear;
using testing::ElementsAre;

struct Told {
  std::vector<double> magnitude, greatest;
};

// The terms of output 0.
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
  const Terms found = terms_of(problem, inputs);
  const auto values = [&](const Reference& reference) {
    std::vector<double> result;
    if (!reference) return result;
    result.resize(static_cast<std::size_t>(problem.outputs[0].elements()));
    reference(0, {0, problem.outputs[0].elements()}, result);
    return result;
  };
  return {values(found.magnitude), values(found.greatest)};
}

Given fp32(const Dims& shape, std::vector<double> values) {
  return {DType::fp32, shape, std::move(values)};
}

}  // namespace

// Inputs are exact, so one operation has only its result as a term.
TEST(Terms, OfOneOperation) {
  EXPECT_THAT(told_of("sub", {fp32({2}, {3, 5}), fp32({2}, {2, 5})}).magnitude, ElementsAre(0, 0));
  EXPECT_TRUE(told_of("relu", {fp32({2}, {1, 2})}).greatest.empty());
}

// e^1 and its slope are both 2.718. A change of 1/32 gives slightly more than the slope: e^(1/32)
// is 1.03174.
TEST(Terms, FoundByAChangeOfTheInput) {
  const double e = std::exp(1);
  EXPECT_THAT(told_of("exp", {fp32({2}, {1, 0})}).magnitude,
              ElementsAre(DoubleNear(e + 32 * e * (std::exp(1 / 32.0) - 1), 1e-9), 1));
}

TEST(Terms, ProductOfSomeFactors) {
  EXPECT_EQ(greatest_product({2, -3, 0.5}), 6);
  EXPECT_EQ(greatest_product({0, 0.25}), 1);
}

// The terms are the logarithm of a sum, for each row that counts.
TEST(Terms, LossesOfRows) {
  const std::vector<Given> rows = {fp32({2, 2}, {30, 0, 1, 1}), {DType::int64, {2}, {0, -100}}};
  EXPECT_THAT(told_of("cross_entropy", rows).magnitude, ElementsAre(DoubleNear(1, 1e-12)));
  EXPECT_THAT(told_of("cross_entropy", rows, {{"reduction", "none"}}).magnitude,
              ElementsAre(DoubleNear(1, 1e-12), 0));
  EXPECT_THAT(told_of("log_softmax", {fp32({2}, {30, 0})}).magnitude,
              ElementsAre(DoubleNear(1, 1e-12), DoubleNear(31, 1e-12)));
}

// softmax(0, 0) is 1/2 each, with an exponent of log(1/2). The target is (1, 0), and dy is -4.
TEST(Terms, DifferencesOfShares) {
  const std::vector<Given> row = {fp32({}, {-4}), fp32({1, 2}, {0, 0}), {DType::int64, {1}, {0}}};
  EXPECT_THAT(
      told_of("cross_entropy_grad", row).magnitude,
      ElementsAre(DoubleNear(6 + 2 * std::log(2), 1e-12), DoubleNear(2 + 2 * std::log(2), 1e-12)));
}

TEST(Terms, Products) {
  const AttrTexts alpha = {{"alpha", "2"}};
  const Told axpy = told_of("axpy", {fp32({2}, {1, 1}), fp32({2}, {-3, 0.5})}, alpha);
  EXPECT_THAT(axpy.magnitude, ElementsAre(6, 1));
  EXPECT_THAT(axpy.greatest, ElementsAre(6, 1));
  const Told addcmul =
      told_of("addcmul", {fp32({1}, {1}), fp32({1}, {3e38}), fp32({1}, {0})}, {{"value", "2"}});
  EXPECT_THAT(addcmul.magnitude, ElementsAre(0));
  EXPECT_GT(addcmul.greatest[0], 5e38);
}

// The first output is 1 + 2 + 4. Its partial sums 3 and 7 and the addends 2 and 4 are rounded.
TEST(Terms, SumsThatGrow) {
  const Told told =
      told_of("index_add", {fp32({2}, {1, -1}), {DType::int64, {2}, {0, 0}}, fp32({2}, {2, 4})});
  EXPECT_THAT(told.magnitude, ElementsAre(DoubleNear(std::sqrt(9 + 4 + 49 + 16), 1e-12), 0));
  EXPECT_THAT(told.greatest, ElementsAre(7, 1));
}

// accum is 0.5*4 + 3, then 3 + 0.5*5. The step multiplies it by a learning rate of 0.1.
TEST(Terms, StepsOfAnOptimizer) {
  const Told told = told_of("sgd", {fp32({1}, {1}), fp32({1}, {3}), fp32({1}, {-4})},
                            {{"nesterov", "true"}, {"momentum", "0.5"}, {"lr", "0.125"}});
  EXPECT_THAT(told.magnitude, ElementsAre(5.5 * 0.125));
  EXPECT_THAT(told.greatest, ElementsAre(5.5));
}

// The sum of the terms without cancellation, before a mean divides it.
TEST(Terms, SumsOfTerms) {
  const Told sum =
      told_of("sum_to_size", {fp32({2, 2}, {3, -3, 1e-9, -1e-9})}, {{"size", "[2,1]"}});
  EXPECT_THAT(sum.magnitude, ElementsAre(6, DoubleNear(2e-9, 1e-15)));
  const Told mean = told_of("mean", {fp32({4}, {3, -3, 1, -1})});
  EXPECT_THAT(mean.magnitude, ElementsAre(2));
  EXPECT_THAT(mean.greatest, ElementsAre(8));
  const Told product = told_of("matmul", {fp32({1, 2}, {2, -3}), fp32({2, 1}, {3, 2})});
  EXPECT_THAT(product.magnitude, ElementsAre(12));
  const Told addmm = told_of("addmm", {fp32({1}, {-5}), fp32({1, 1}, {2}), fp32({1, 1}, {3})},
                             {{"beta", "-2"}, {"alpha", "-1"}});
  EXPECT_THAT(addmm.magnitude, ElementsAre(16));
  const Told infinite = told_of("sum", {fp32({3}, {HUGE_VAL, -3e38, -3e38})});
  EXPECT_THAT(infinite.greatest, ElementsAre(testing::Gt(5e38)));
}

// y = (1, 0): the second gradient is 0. The first is a difference of two numbers as large as dy.
TEST(Terms, GradientsOfShares) {
  const Told told = told_of("softmax_grad", {fp32({2}, {-4, 1}), fp32({2}, {1, 0})});
  EXPECT_THAT(told.magnitude, ElementsAre(8, 0));
  EXPECT_THAT(told.greatest, ElementsAre(8, 5));
  const Told logs = told_of("log_softmax_grad", {fp32({2}, {-4, 1}), fp32({2}, {0, -HUGE_VAL})});
  EXPECT_THAT(logs.magnitude, ElementsAre(9, 1));
}

// The shares are 1/2, with exponents 0. Then a share is e^-30, whose exponent is 30; the sum has 30
// e^-30.
TEST(Terms, SharesFollowExponents) {
  const Told told = told_of("softmax", {fp32({2, 2}, {7, 7, 0, -30})});
  EXPECT_THAT(told.magnitude,
              ElementsAre(0.5, 0.5, DoubleNear(1, 1e-11), DoubleNear(31 * std::exp(-30), 1e-20)));
}

// Two rows of mean 100 and 0 and deviation 1, scaled by 2.
TEST(Terms, MeansThatAreTakenAway) {
  const Told told =
      told_of("layer_norm", {fp32({2, 2}, {99, 101, -1, 1}), fp32({2}, {2, 2}), fp32({2}, {0, -3})},
              {{"eps", "0"}});
  EXPECT_THAT(told.magnitude, ElementsAre(402, 405, 4, 7));
  EXPECT_THAT(told.greatest, ElementsAre(200, 200, 2, 2));
  const Told channels = told_of(
      "batch_norm",
      {fp32({2, 1}, {99, 101}), fp32({1}, {2}), fp32({1}, {-3}), fp32({1}, {0}), fp32({1}, {1})},
      {{"eps", "0"}});
  // |x - mean| + |mean| + the mean of |x| is 1 + 100 + 100 = 201, times 2, plus 3. The variance of
  // 1 has terms of 1 + 2*100^2 = 20001. The inverse deviation has 1 + 20001, times 2.
  EXPECT_THAT(channels.magnitude, ElementsAre(405 + 2 * 20002, 405 + 2 * 20002));
}

// Squares of side 4 and 2 with a common corner: the second is inside the first.
TEST(Terms, AreasFollowCoordinates) {
  const Told far = told_of(
      "pairwise_iou", {fp32({1, 4}, {100, 100, 104, 104}), fp32({1, 4}, {100, 100, 102, 102})});
  const Told near =
      told_of("pairwise_iou", {fp32({1, 4}, {0, 0, 4, 4}), fp32({1, 4}, {0, 0, 2, 2})});
  EXPECT_GT(far.magnitude[0], 20 * near.magnitude[0]);
}

namespace {

/// Sums over the elements of an output: their magnitudes, the stated terms, and their change with
/// each relative change of the inputs.
struct Sums {
  double result = 0, stated = 0, found = 0;
};

// The reference, without the rounding of a quantiser.
Reference exact_of(const Problem& problem, std::span<const InputReader> inputs) {
  if (problem.op->quantises) return terms_of(problem, inputs).unrounded;
  return problem.op->reference(inputs, problem.attrs);
}

// The root mean square over changes of every element by 2^-8, up or down at random.
Sums sums_of(const Problem& problem, std::size_t output) {
  constexpr double kChange = 0x1p-8;
  constexpr std::uint64_t kDraws = 16;
  const std::vector<Tensor> given = filled_inputs(problem);
  std::vector<InputReader> inputs;
  for (const Tensor& tensor : given) inputs.emplace_back(tensor.desc, tensor.data());
  const ElementRange all{0, problem.outputs[output].elements()};
  std::vector<double> result(std::size_t(all.count)), terms(result.size()), squares(result.size());
  exact_of(problem, inputs)(output, all, result);
  terms_of(problem, inputs).magnitude(output, all, terms);
  for (std::uint64_t draw = 0; draw < kDraws; ++draw) {
    std::vector<Buffer> copies;
    std::vector<InputReader> changed;
    for (const InputReader& input : inputs) {
      copies.push_back(
          changed_copy(input.desc(), input.storage(), [&](std::int64_t place, double value) {
            const auto at = static_cast<std::uint32_t>(place);
            const bool up =
                (philox4x32({at, std::uint32_t(copies.size()), 0, 0}, {std::uint32_t(draw), 0})[0] &
                 1U) != 0;
            return is_floating(input.desc().dtype) ? value * (up ? 1 + kChange : 1 - kChange)
                                                   : value;
          }));
      changed.emplace_back(input.desc(), copies.back().data());
    }
    std::vector<double> after(result.size());
    exact_of(problem, changed)(output, all, after);
    for (std::size_t k = 0; k < after.size(); ++k) {
      squares[k] += std::pow(finite_magnitude(after[k] - result[k]) / kChange, 2) / kDraws;
    }
  }
  Sums sums;
  for (std::size_t k = 0; k < result.size(); ++k) {
    sums.result += finite_magnitude(result[k]);
    sums.stated += std::fmax(finite_magnitude(terms[k]), finite_magnitude(result[k]));
    sums.found += std::sqrt(squares[k]);
  }
  return sums;
}

}  // namespace

// Stated terms have about the size of found terms. Changes of the inputs do not find steps inside
// functions, or means that are subtracted. Differences of inputs are exact, so they have no terms.
TEST(Terms, AsStatedAndAsFound) {
  int looked_at = 0;
  for (const Op* op : RegisteredOp::all()) {
    const bool is_stated = op->terms != nullptr || op->mixing == Mixing::sums;
    if (op->reference == nullptr || !is_stated) continue;
    const Problem problem = example_problem(*op, DType::fp32, op->formats.front());
    for (std::size_t output = 0; output < problem.outputs.size(); ++output) {
      if (!is_floating(problem.outputs[output].dtype)) continue;
      const Sums sums = sums_of(problem, output);
      EXPECT_LE(sums.found, 8 * sums.stated) << op->name << ", output " << output;
      EXPECT_LE(sums.stated, 64 * (sums.found + sums.result)) << op->name << ", output " << output;
    }
    ++looked_at;
  }
  EXPECT_GE(looked_at, 40);
}

// An element that combines others by more than sums changes with thousands of inputs. Its terms
// must be stated.
TEST(Terms, StatedWhereElementsMix) {
  for (const Op* op : RegisteredOp::all()) {
    if (op->mixing != Mixing::other || op->reference == nullptr) continue;
    EXPECT_NE(op->terms, nullptr) << op->name;
  }
}

}  // namespace opbench
