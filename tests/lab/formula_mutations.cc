// Mutations that compute operators with a wrong formula.
#include <algorithm>
#include <array>
#include <cmath>

#include "tensor/half.h"
#include "tests/lab/mutations.h"

namespace opbench {
namespace {

double in_half(double value) {
  const DType dtype = DType::fp16;
  std::uint16_t bits = 0;
  from_doubles(dtype, &value, 1, &bits);
  to_doubles(dtype, &bits, 1, &value);
  return value;
}

// Computes the first output from the first input, element by element.
template <class Function>
BrokenResults unary(const HonestRun& run, Function function) {
  const TensorDesc &input = run.problem().inputs[0], &output = run.problem().outputs[0];
  std::vector<double> values = run.values(input, run.inputs()[0]);
  for (double& value : values) value = function(value);
  std::vector<Elements> results = run.results();
  results[0] = run.elements(output, values);
  return results;
}

float beta_of(const HonestRun& run) { return float(run.problem().attrs.number("beta")); }
float threshold_of(const HonestRun& run) { return float(run.problem().attrs.number("threshold")); }

// e^t in fp32 is Inf above 88.7.
BrokenResults softplus_without_threshold(const HonestRun& run) {
  return unary(run, [beta = beta_of(run)](double x) {
    return double(std::log1p(std::exp(beta * float(x))) / beta);
  });
}

// e^t in fp16 is Inf above 11.1.
BrokenResults softplus_exp_in_fp16(const HonestRun& run) {
  return unary(run, [beta = beta_of(run), threshold = threshold_of(run)](double x) {
    const float t = beta * float(x);
    if (t > threshold) return x;
    return std::log1p(in_half(double(std::exp(t)))) / double(beta);
  });
}

// Four terms of the series of log(1 + e), which converges up to e = 1.
BrokenResults softplus_cut_polynomial(const HonestRun& run) {
  return unary(run, [beta = beta_of(run), threshold = threshold_of(run)](double x) {
    const double t = double(beta * float(x));
    if (t > double(threshold)) return x;
    const double e = std::exp(-std::fabs(t));
    const double log = e * (1 - e * (1.0 / 2 - e * (1.0 / 3 - e / 4)));
    return (std::fmax(t, 0.0) + log) / double(beta);
  });
}

BrokenResults softplus_threshold_too_low(const HonestRun& run) {
  return unary(run, [beta = beta_of(run)](double x) {
    const double t = double(beta) * x;
    return t > 2 ? x : (std::fmax(t, 0.0) + std::log1p(std::exp(-std::fabs(t)))) / double(beta);
  });
}

// dy * sigmoid with dy = 1.
BrokenResults softplus_grad_of_one(const HonestRun& run) {
  const TensorDesc& desc = run.problem().inputs[1];
  std::vector<double> x = run.values(desc, run.inputs()[1]);
  for (double& value : x) value = 1 / (1 + std::exp(-double(beta_of(run)) * value));
  return std::vector<Elements>{run.elements(run.problem().outputs[0], x)};
}

BrokenResults relu_leaks(const HonestRun& run) {
  return unary(run, [](double x) { return x < 0 ? 0.01 * x : x; });
}

// Sum with one accumulator in fp16.
double sum_in_half(const std::vector<double>& values) {
  double sum = 0;
  for (const double value : values) sum = in_half(sum + value);
  return sum;
}

BrokenResults sum_of_fp16(const HonestRun& run) {
  const TensorDesc &input = run.problem().inputs[0], &output = run.problem().outputs[0];
  const std::vector<double> values = run.values(input, run.inputs()[0]);
  return std::vector<Elements>{run.elements(output, {sum_in_half(values)})};
}

BrokenResults mean_of_fp16(const HonestRun& run) {
  const TensorDesc &input = run.problem().inputs[0], &output = run.problem().outputs[0];
  const std::vector<double> values = run.values(input, run.inputs()[0]);
  return std::vector<Elements>{
      run.elements(output, {sum_in_half(values) / static_cast<double>(values.size())})};
}

// Divides by half the count.
BrokenResults mean_of_half(const HonestRun& run) {
  const TensorDesc &input = run.problem().inputs[0], &output = run.problem().outputs[0];
  const std::vector<double> values = run.values(input, run.inputs()[0]);
  double sum = 0;
  for (const double value : values) sum += value;
  return std::vector<Elements>{
      run.elements(output, {sum / (0.5 * static_cast<double>(values.size()))})};
}

// exp without subtracting the maximum, in fp32.
BrokenResults softmax_without_maximum(const HonestRun& run) {
  const TensorDesc& desc = run.problem().inputs[0];
  if (desc.shape.empty() || run.problem().attrs.integer("dim") != -1) return std::nullopt;
  std::vector<double> values = run.values(desc, run.inputs()[0]);
  const auto columns = static_cast<std::size_t>(desc.shape.back());
  for (std::size_t row = 0; row + columns <= values.size(); row += columns) {
    float sum = 0;
    for (std::size_t k = 0; k < columns; ++k) sum += std::exp(float(values[row + k]));
    for (std::size_t k = 0; k < columns; ++k) {
      values[row + k] = double(std::exp(float(values[row + k])) / sum);
    }
  }
  return std::vector<Elements>{run.elements(run.problem().outputs[0], values)};
}

constexpr std::array kFormulaMutations = {
    Mutation{"no-threshold", "log(1 + e^t) everywhere, in fp32", softplus_without_threshold,
             "softplus"},
    Mutation{"exp-overflows", "e^t in fp16", softplus_exp_in_fp16, "softplus"},
    Mutation{"cut-polynomial", "four terms of log(1 + e)", softplus_cut_polynomial, "softplus"},
    Mutation{"low-threshold", "linear from 2 on", softplus_threshold_too_low, "softplus"},
    Mutation{"grad-of-one", "dy is taken as 1", softplus_grad_of_one, "softplus_grad"},
    Mutation{"leaks", "1 % of negative inputs", relu_leaks, "relu"},
    Mutation{"fp16-sum", "one accumulator in fp16", sum_of_fp16, "sum"},
    Mutation{"fp16-sum", "one accumulator in fp16", mean_of_fp16, "mean"},
    Mutation{"wrong-count", "divided by half the count", mean_of_half, "mean"},
    Mutation{"no-maximum", "e^x without the maximum taken away", softmax_without_maximum,
             "softmax"},
};

}  // namespace

std::span<const Mutation> formula_mutations() { return kFormulaMutations; }

}  // namespace opbench
