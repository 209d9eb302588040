#include "compare/jumps.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <queue>
#include <string>
#include <utility>
#include <vector>

#include "compare/operator_error.h"

namespace opbench {
namespace {

// By less than this the root mean square of an error grows where an operator adds none of its own.
constexpr double kOwn = 2;

// And by this most of an error is an operator's own.
constexpr double kMostlyOwn = 4;

// The value that nine tenths of them do not exceed.
double high(std::vector<double> values) {
  if (values.empty()) return 0;
  const auto at = values.begin() + (std::ssize(values) - 1) * 9 / 10;
  std::nth_element(values.begin(), at, values.end());
  return *at;
}

// fp32 is also what sums are made in: some terms' rounding in each.
constexpr double kSingleRounding = 0x1p-22;

/// What rounding to a dtype gives: relative to a number, and near 0.
struct Rounding {
  double relative, absolute;
};

Rounding rounding_of(DType dtype) {
  switch (dtype) {
    case DType::bf16:
      return {0x1p-9, 0};
    case DType::fp16:
      return {0x1p-12, 0x1p-25};
    case DType::fp64:
      return {0x1p-51, 0};
    default:
      return {kSingleRounding, 0};
  }
}

// What rounding to the dtype of its outputs gives, where the numbers are subnormal, too.
double rounding_of(const OperatorResult& op) {
  double rounding = 0;
  for (const TensorResult& tensor : op.tensors) {
    if (tensor.entry().side != Side::output) continue;
    const Rounding of = rounding_of(judged_dtype(tensor.match));
    rounding = std::max(rounding, of.relative);
    const PairStats& stats = tensor.stats;
    if (!tensor.is_measured || of.absolute == 0 || !(stats.sum_expected_abs > 0)) continue;
    const double mean = stats.sum_expected_abs / static_cast<double>(stats.finite_pairs());
    rounding = std::max(rounding, of.absolute / mean);
  }
  return rounding;
}

// What adding up many terms in another order gives: a unit roundoff for each, in any direction.
double rounding_of_sums(const OperatorResult& op) {
  double roundoff = 0;
  for (const TensorResult& tensor : op.tensors) {
    if (tensor.entry().side != Side::output) continue;
    const bool is_double = judged_dtype(tensor.match) == DType::fp64;
    roundoff = std::max(roundoff, is_double ? 0x1p-53 : 0x1p-24);
  }
  return roundoff * std::sqrt(terms_per_output(op));
}

// A product that a CPU makes in bf16: without AVX512-BF16, PyTorch adds its terms up in bf16.
bool is_bf16_of_a_cpu(const OperatorResult& op) {
  if (!is_product(op.op())) return false;
  return std::any_of(op.tensors.begin(), op.tensors.end(), [](const TensorResult& tensor) {
    const DumpEntry* const actual = tensor.match.actual;
    return tensor.entry().side == Side::output && actual != nullptr &&
           actual->device == DeviceType::cpu && actual->desc.dtype == DType::bf16;
  });
}

// Every partial sum is rounded: twice what rounding the sum alone gives, and more.
bool has_bf16_sums(const Comparison& comparison) {
  std::int64_t products = 0, rounded = 0;
  for (const OperatorResult& op : comparison.operators) {
    const auto error = sum_error(op, Side::output);
    if (!error || !is_bf16_of_a_cpu(op)) continue;
    const bool is_own = *error > kMostlyOwn * sum_error(op, Side::input).value_or(0);
    products += is_own;
    rounded += is_own && *error > 0x1p-8;
  }
  return rounded > 0 && 2 * rounded >= products;
}

bool is_single(const OperatorResult& op) { return rounding_of(op) <= kSingleRounding; }

/// The median of numbers that come one by one; the lower one of two.
class Median {
 public:
  void add(double value) {
    if (low_.empty() || value <= low_.top())
      low_.push(value);
    else
      high_.push(value);
    if (low_.size() > high_.size() + 1) {
      high_.push(low_.top());
      low_.pop();
    } else if (high_.size() > low_.size()) {
      low_.push(high_.top());
      high_.pop();
    }
  }
  double value() const { return low_.empty() ? 0 : low_.top(); }

 private:
  std::priority_queue<double> low_;
  std::priority_queue<double, std::vector<double>, std::greater<>> high_;
};

/// Errors of the outputs of the operators so far.
class Usual {
 public:
  void add(const std::string& op, double error) {
    by_name_[op].add(error);
    all_.add(error);
  }
  double error(const std::string& op) const {
    const auto same = by_name_.find(op);
    return std::max(all_.value(), same == by_name_.end() ? 0 : same->second.value());
  }

 private:
  std::map<std::string, Median> by_name_;
  Median all_;
};

// Sets the usual error and the jump of every operator with outputs, without its kind's.
void set_ratios(Comparison& comparison) {
  const bool has_fp16 = has_fp16_operands(comparison), has_bf16 = has_bf16_sums(comparison);
  Usual usual;
  for (OperatorResult& op : comparison.operators) {
    op.usual_error = op.jump = std::nullopt;
    const std::string name = op.op();
    const auto error = sum_error(op, Side::output);
    if (!error || is_random(op)) continue;
    if (is_adaptive(name) && sum_error(op, Side::input).value_or(0) > 0) continue;
    double expected = std::max({rounding_of(op), rounding_of_sums(op), usual.error(name)});
    if (has_fp16 && is_product(name)) expected = std::max(expected, operand_rounding(op));
    if (has_bf16 && is_bf16_of_a_cpu(op)) {
      expected = std::max(expected, 0x1p-9 * std::sqrt(terms_per_output(op)));
    }
    expected = std::max(expected, condition(op) * sum_error(op, Side::input).value_or(0));
    op.usual_error = expected;
    op.jump = std::isinf(expected) ? 1 : *error / expected;
    // An error that came in at few elements and spread over more: sums grow, squares do not.
    if (op.amplification && *op.amplification < kOwn)
      op.jump = std::min(*op.jump, *op.amplification);
    usual.add(name, *error);
  }
}

// How often its inputs' error an operator's is; none where they are exact but for rounding. As for
// its jump, an error that came in at few elements does not grow by being spread over more.
std::optional<double> growth(const OperatorResult& op) {
  const double input = sum_error(op, Side::input).value_or(0);
  const auto output = sum_error(op, Side::output);
  if (!output || input <= rounding_of(op) || std::isinf(input)) return std::nullopt;
  const double grown = *output / input;
  return op.amplification ? std::min(grown, *op.amplification) : grown;
}

// The growth of errors in others with that name, or in all others where these are few.
double growth_of_kind(const Comparison& comparison,
                      const std::map<std::string, std::vector<std::size_t>>& by_name,
                      std::size_t index) {
  constexpr std::size_t kEnough = 4;
  const std::vector<std::size_t>& same = by_name.at(comparison.operators[index].op());
  std::vector<double> others;
  const auto add = [&](std::size_t i) {
    const auto found = i == index ? std::nullopt : growth(comparison.operators[i]);
    if (found) others.push_back(*found);
  };
  if (same.size() >= kEnough) {
    for (const std::size_t i : same) add(i);
  } else {
    for (std::size_t i = 0; i < comparison.operators.size(); ++i) add(i);
  }
  return others.size() + 1 < kEnough ? 1 : std::max(1.0, high(std::move(others)));
}

// Rounded operands leave hardly an element as it was; a mistake may leave most.
bool differs_in_many(const OperatorResult& op) {
  std::int64_t unequal = 0, all = 0;
  for (const TensorResult& tensor : op.tensors) {
    if (tensor.entry().side != Side::output || !tensor.is_measured) continue;
    unequal += tensor.stats.unequal;
    all += tensor.stats.count;
  }
  return unequal > all / 8;
}

}  // namespace

bool has_fp16_operands(const Comparison& comparison) {
  std::int64_t products = 0, rounded = 0;
  double least = HUGE_VAL;
  for (const OperatorResult& op : comparison.operators) {
    const auto error = sum_error(op, Side::output);
    if (!error || !is_product(op.op()) || !is_single(op) || !differs_in_many(op)) continue;
    const bool is_exact = *error <= 0x1p-14;  // or its terms of one sign average rounding out
    // Where much of an error came in, it says nothing of the product.
    const bool is_own = *error > kMostlyOwn * sum_error(op, Side::input).value_or(0);
    products += is_own || is_exact;
    if (!is_own || is_exact) continue;
    ++rounded;
    least = std::min(least, *error);  // gradients that fp16 holds as subnormals are off by more
  }
  return 2 * rounded >= products && least < 0x1p-10;
}

void find_jumps(Comparison& comparison) {
  set_ratios(comparison);
  std::map<std::string, std::vector<std::size_t>> by_name;
  for (std::size_t i = 0; i < comparison.operators.size(); ++i) {
    by_name[comparison.operators[i].op()].push_back(i);
  }
  std::vector<std::optional<double>> jumps;
  for (std::size_t i = 0; i < comparison.operators.size(); ++i) {
    const auto& jump = comparison.operators[i].jump;
    // Few reach this, and only theirs is looked at.
    const bool is_candidate = jump && *jump >= kJump;
    jumps.push_back(is_candidate ? std::optional(*jump / growth_of_kind(comparison, by_name, i))
                                 : jump);
  }
  for (std::size_t i = 0; i < jumps.size(); ++i) comparison.operators[i].jump = jumps[i];
}

std::optional<std::size_t> first_jump(const Comparison& comparison) {
  const auto& operators = comparison.operators;
  const auto found = std::find_if(operators.begin(), operators.end(), [](const OperatorResult& op) {
    return op.jump && *op.jump >= kJump;
  });
  if (found == operators.end()) return std::nullopt;
  return static_cast<std::size_t>(found - operators.begin());
}

}  // namespace opbench
