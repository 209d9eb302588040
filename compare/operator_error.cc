#include "compare/operator_error.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <cmath>
#include <span>
#include <string>
#include <vector>

#include "judge/comparable.h"

namespace opbench {
namespace {

std::string lower_case(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char letter) { return static_cast<char>(std::tolower(letter)); });
  return lower;
}

bool contains_any(std::string_view name, std::span<const std::string_view> words) {
  const std::string lower = lower_case(name);
  return std::any_of(words.begin(), words.end(),
                     [&](std::string_view word) { return lower.find(word) != std::string::npos; });
}

// Those of rand_like and of RandomNormal2d, in lower case: rand like, random normal d.
std::vector<std::string> words_of(std::string_view name) {
  std::vector<std::string> words(1);
  char before = '_';
  for (const char letter : name) {
    const auto is = [](int (*of)(int), char c) { return of(static_cast<unsigned char>(c)) != 0; };
    const bool is_new_word = is(std::isupper, letter) && !is(std::isupper, before);
    if ((is_new_word || !is(std::isalpha, letter)) && !words.back().empty()) words.emplace_back();
    if (is(std::isalpha, letter)) words.back() += lower_case({&letter, 1});
    before = letter;
  }
  return words;
}

// "sum" of sum_dim_IntList and ReduceSumD, not of cumsum.
bool has_word(std::string_view name, std::span<const std::string_view> any_of) {
  const std::vector<std::string> words = words_of(name);
  return std::any_of(words.begin(), words.end(), [&](const std::string& word) {
    return std::find(any_of.begin(), any_of.end(), word) != any_of.end();
  });
}

double root_mean_square(const PairStats& stats) {
  const std::int64_t pairs = std::max<std::int64_t>(stats.finite_pairs(), 1);
  return static_cast<double>(std::sqrt(stats.sum_expected_sq / static_cast<long double>(pairs)));
}

constexpr std::array<std::string_view, 2> kGradients = {"backward", "grad"};

bool is_gradient(std::string_view op) { return contains_any(op, kGradients); }

// Of more elements than one along one axis at most: [C], [1,C,1,1], [N,1].
bool is_vector(const Dims& shape) {
  return std::count_if(shape.begin(), shape.end(), [](std::int64_t e) { return e > 1; }) <= 1;
}

// The mean that a norm keeps may be zero but for rounding: its error counts against its terms.
double normalised(const OperatorResult& op, const TensorResult& output) {
  constexpr std::array<std::string_view, 1> kNorms = {"norm"};
  constexpr std::array<std::string_view, 2> kMeans = {"mean", "result1"};
  constexpr std::array<std::string_view, 3> kInputs = {"input", "self", "x"};
  if (!contains_any(op.op(), kNorms) || is_gradient(op.op())) return 0;
  if (!contains_any(output.entry().name, kMeans)) return 0;
  for (const TensorResult& input : op.tensors) {
    const bool is_input = input.entry().side == Side::input && input.is_measured;
    if (!is_input || input.stats.count <= output.stats.count) continue;
    if (std::find(kInputs.begin(), kInputs.end(), input.entry().name) == kInputs.end()) continue;
    return root_mean_square(input.stats);
  }
  return 0;
}

// The gradient of a bias is a sum that may cancel, as any sum and mean: then what it comes to is
// rounding, and its error counts against what terms of random signs would come to.
double terms_of(const OperatorResult& op, const TensorResult& output) {
  constexpr std::array<std::string_view, 1> kMean = {"mean"};
  constexpr std::array<std::string_view, 2> kSums = {"mean", "sum"};
  const std::string name = op.op();
  const bool is_mean = has_word(name, kMean), is_sum = has_word(name, kSums);
  const bool is_bias = is_gradient(name) && is_vector(output.entry().desc.shape);
  if (!is_sum && !is_bias) return 0;
  double largest = 0;
  for (const TensorResult& input : op.tensors) {
    if (input.entry().side != Side::input || !input.is_measured) continue;
    const bool is_added = is_sum && !is_gradient(name);
    if (!is_added && input.entry().name.find("grad") == std::string::npos) continue;
    const double terms = static_cast<double>(input.stats.count) /
                         static_cast<double>(std::max<std::int64_t>(output.stats.count, 1));
    if (terms <= 1) continue;
    const double sum = root_mean_square(input.stats) * std::sqrt(terms);
    largest = std::max(largest, is_mean ? sum / terms : sum);
  }
  return largest;
}

// Of the inputs whose name has `part` in it.
double largest_input(const OperatorResult& op, std::string_view part) {
  double largest = 0;
  for (const TensorResult& tensor : op.tensors) {
    if (tensor.entry().side != Side::input || !tensor.is_measured) continue;
    if (tensor.entry().name.find(part) == std::string::npos) continue;
    const ValueCounts& values = tensor.stats.expected;
    largest = std::max({largest, std::fabs(values.min), std::fabs(values.max)});
  }
  return largest;
}

constexpr std::array<std::string_view, 1> kShares = {"softmax"};

// The loss of nearly certain rows is the logarithm of a sum near 1; its gradient the difference of
// numbers near that of the result. Of these an error of 64 roundoffs is rounding: a part of atol.
double near_certain(const OperatorResult& op) {
  constexpr double kOfAtol = 0x1p-2;
  constexpr std::array<std::string_view, 3> kLosses = {"nll_loss", "nllloss", "cross_entropy"};
  if (!is_gradient(op.op())) return contains_any(op.op(), kLosses) ? kOfAtol : 0;
  return contains_any(op.op(), kShares) ? kOfAtol * largest_input(op, "grad") : 0;
}

// Gradients at a kink: where an input that is zero on one side alone lets all of a gradient through
// or nothing.
bool has_kink(std::string_view op) {
  constexpr std::array<std::string_view, 5> kKinks = {"relu", "threshold", "clamp", "hardtanh",
                                                      "abs"};
  return is_gradient(op) && contains_any(op, kKinks);
}

// How many elements may fall on the other side of a kink: as many as lie closer to it than the
// inputs are off, which is a few where these agree, and one in a thousand at most.
std::int64_t kink_allowance(const OperatorResult& op, std::int64_t count) {
  constexpr double kFew = 2, kDensity = 4;  // of values around zero, in units of their mean size
  const double off = sum_error(op, Side::input).value_or(0) * kDensity * static_cast<double>(count);
  const double most = std::max(1.0, static_cast<double>(count) / 1000);
  return static_cast<std::int64_t>(std::min(most, std::max(kFew, off)));
}

// What elements that fell on the other side of a kink leave of an error.
double without_kinks(const OperatorResult& op, const PairStats& stats) {
  const std::int64_t far = stats.beyond_limit;
  if (far == 0 || !has_kink(op.op()) || far > kink_allowance(op, stats.count)) return stats.sum_abs;
  return std::max(0.0, stats.sum_abs - static_cast<double>(far) * stats.worst_abs.error);
}

// By what a dropout multiplies: a tensor of the output's shape, or one of its bits. The numbers of
// a shape or a seed are none, and neither is the gradient that is passed on.
bool is_mask_of(const OperatorResult& op, const TensorResult& tensor) {
  std::int64_t elements = 0;
  for (const TensorResult& other : op.tensors) {
    const bool is_output = other.entry().side == Side::output && other.is_measured;
    if (is_output) elements = std::max(elements, other.stats.count);
  }
  const bool is_given = tensor.is_measured && tensor.stats.unequal == 0 && tensor.stats.count > 1 &&
                        tensor.entry().name.find("grad") == std::string::npos;
  if (!is_given) return false;
  const bool is_whole = tensor.stats.count == elements;
  if (is_floating(judged_dtype(tensor.match))) {
    return is_whole && is_gradient(op.op()) && tensor.entry().side == Side::input;
  }
  constexpr std::int64_t kBits = 8;
  const bool is_bytes = size_of(judged_dtype(tensor.match)) == 1;
  return is_whole || (is_bytes && tensor.stats.count == (elements + kBits - 1) / kBits);
}

}  // namespace

double sum_error(const OperatorResult& op, const TensorResult& tensor) {
  const PairStats& stats = tensor.stats;
  if (stats.nonfinite_mismatches() > 0) return HUGE_VAL;
  if (stats.sum_abs == 0) return 0;
  double size = stats.sum_without_mask();
  if (tensor.entry().side == Side::output) {
    size = std::max(size, terms_scale(op, tensor) * static_cast<double>(stats.finite_pairs()));
  }
  const double sum = tensor.entry().side == Side::output ? without_kinks(op, stats) : stats.sum_abs;
  const double error = sum / size;
  // Sums that leave fp64's range say nothing.
  return std::isfinite(stats.sum_abs) ? error : tensor.relative_error();
}

std::optional<double> sum_error(const OperatorResult& op, Side side) {
  const bool is_output = side == Side::output;
  const bool are_inputs_off = is_output && sum_error(op, Side::input).value_or(0) > 0;
  std::optional<double> error;
  for (const TensorResult& tensor : op.tensors) {
    if (tensor.entry().side != side || !tensor.is_measured) continue;
    if (are_inputs_off && !is_floating(judged_dtype(tensor.match))) continue;
    error = std::max(error.value_or(0), sum_error(op, tensor));
  }
  return error;
}

double terms_scale(const OperatorResult& op, const TensorResult& output) {
  return std::max({terms_of(op, output), normalised(op, output), near_certain(op)});
}

// What is below by 104 has no exponential in fp32.
double condition(const OperatorResult& op) {
  constexpr double kMost = 104;
  constexpr std::array<std::string_view, 2> kLogarithms = {"logsoftmax", "log_softmax"};
  constexpr std::array<std::string_view, 1> kExp = {"exp"};
  const bool is_exponential = contains_any(op.op(), kShares) || has_word(op.op(), kExp);
  if (!is_exponential || contains_any(op.op(), kLogarithms) || is_gradient(op.op())) return 1;
  return std::clamp(largest_input(op, ""), 1.0, kMost);
}

double operand_rounding(const OperatorResult& op) {
  constexpr double kRelative = 0x1p-11, kAbsolute = 0x1p-25;
  double rounding = kRelative;
  for (const TensorResult& tensor : op.tensors) {
    const PairStats& stats = tensor.stats;
    const bool is_operand = tensor.entry().side == Side::input && tensor.is_measured &&
                            is_floating(judged_dtype(tensor.match)) && stats.sum_expected_abs > 0;
    if (!is_operand) continue;
    const double mean = stats.sum_expected_abs / static_cast<double>(stats.finite_pairs());
    rounding = std::max(rounding, kAbsolute / mean);
  }
  return rounding;
}

bool is_adaptive(std::string_view op) {
  constexpr std::array<std::string_view, 5> kWords = {"adam", "lamb", "rmsprop", "adagrad",
                                                      "adadelta"};
  return contains_any(op, kWords);
}

// The operands of a product of m x k and k x n have k^2 times as many elements as its result, taken
// together; what a reduction adds up is that much smaller.
double terms_per_output(const OperatorResult& op) {
  double largest = 0, second = 0, output = 0;
  for (const TensorResult& tensor : op.tensors) {
    if (!tensor.is_measured) continue;
    const auto count = static_cast<double>(tensor.stats.count);
    if (tensor.entry().side == Side::output) output = std::max(output, count);
    if (tensor.entry().side != Side::input) continue;
    second = std::max(second, std::min(largest, count));
    largest = std::max(largest, count);
  }
  output = std::max(output, 1.0);
  const double terms =
      is_product(op.op()) ? std::sqrt(largest * second / output) : largest / output;
  return std::max(terms, 1.0);
}

bool is_product(std::string_view op) {
  constexpr std::array<std::string_view, 15> kWords = {
      "conv",   "addmm",           "bmm",          "matmul", "linear",
      "einsum", "attention",       "tensordot",    "addmv",  "gemm",
      "lstm",   "fullyconnection", "innerproduct", "rnn",    "gru"};
  constexpr std::array<std::string_view, 4> kNotThese = {"bilinear", "upsample", "interp",
                                                         "convert"};
  constexpr std::array<std::string_view, 5> kNames = {"mv", "dot", "vdot", "dense", "inner"};
  const std::string lower = lower_case(op);
  const bool is_named = std::find(kNames.begin(), kNames.end(), lower) != kNames.end();
  return lower.starts_with("mm") || is_named ||
         (contains_any(op, kWords) && !contains_any(op, kNotThese));
}

bool is_random(std::string_view op) {
  constexpr std::array<std::string_view, 3> kAnywhere = {"dropout", "bernoulli", "multinomial"};
  constexpr std::array<std::string_view, 14> kWords = {
      "rand",    "randn",       "randint",   "randperm", "random", "normal", "lognormal",
      "uniform", "exponential", "geometric", "cauchy",   "rrelu",  "gumbel", "poisson"};
  // Given its mask, or what it is held against, the result is determined.
  constexpr std::array<std::string_view, 2> kNotThese = {"domask", "loss"};
  const bool draws = has_word(op, kWords);
  return (draws || contains_any(op, kAnywhere)) && !contains_any(op, kNotThese);
}

bool is_random(const OperatorResult& op) {
  return is_random(op.op()) &&
         std::none_of(op.tensors.begin(), op.tensors.end(),
                      [&](const TensorResult& tensor) { return is_mask_of(op, tensor); });
}

}  // namespace opbench
