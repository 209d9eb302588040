#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "tests/on_tensors.h"

namespace opbench {

struct Differentiated {
  std::string op;
  std::vector<Given> inputs;  ///< fp32 multiples of 2^-8 below 2^6, so that steps are exact
  AttrTexts attrs = {};
};

namespace finite_difference {

// The step is exact when it is added to inputs in fp32.
inline constexpr double kStep = 0x1p-10;

inline AttrTexts texts_of(const Attrs& attrs) {
  AttrTexts texts;
  for (const auto& [name, value] : attrs.values()) texts[name] = to_string(value);
  return texts;
}

inline Problem problem_of(const Differentiated& use) {
  const Op& op = find_op(use.op);
  std::vector<TensorDesc> descs;
  for (const Given& input : use.inputs) descs.push_back(describe(input.dtype, input.shape));
  return make_problem(op, descs, attrs_of(op, use.attrs));
}

/// Stands for the gradient of output `i`. No two elements are equal.
inline Given seed_of(const Problem& problem, std::size_t i) {
  const TensorDesc& output = problem.outputs[i];
  Given seed{output.dtype, output.shape, {}};
  const bool counts = is_floating(output.dtype) && problem.op->output(i).differentiable;
  for (std::int64_t k = 0; k < output.elements(); ++k) {
    seed.values.push_back(counts ? double((k * 7 + 3 * std::int64_t(i)) % 11 - 5) / 4 : 0);
  }
  return seed;
}

/// The loss is the sum of every output times its seed.
inline double loss(const Differentiated& use, const std::vector<Given>& seeds) {
  const Values outputs = reference_of_tensors(use.op, use.inputs, use.attrs);
  double sum = 0;
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    for (std::size_t k = 0; k < outputs[i].size(); ++k) {
      if (seeds[i].values[k] != 0) sum += outputs[i][k] * seeds[i].values[k];
    }
  }
  return sum;
}

/// The central difference of the loss with respect to element `k` of input `input`.
inline double slope(Differentiated use, const std::vector<Given>& seeds, std::size_t input,
                    std::size_t k) {
  double& value = use.inputs[input].values[k];
  value += kStep;
  const double above = loss(use, seeds);
  value -= 2 * kStep;
  return (above - loss(use, seeds)) / (2 * kStep);
}

inline Given argument(const GradientArg& arg, const Differentiated& use, const Problem& problem,
                      const std::vector<Given>& seeds) {
  switch (arg.source) {
    case GradientArg::output_gradient:
      return seeds[arg.index];
    case GradientArg::input:
      return use.inputs[arg.index];
    case GradientArg::output:
      return {problem.outputs[arg.index].dtype, problem.outputs[arg.index].shape,
              reference_of_tensors(use.op, use.inputs, use.attrs)[arg.index]};
    default: {
      Given zeros = use.inputs[arg.index];
      zeros.values.assign(zeros.values.size(), 0.0);
      return zeros;
    }
  }
}

/// The gradient of a broadcast input, summed to its shape as differentiation does.
inline std::vector<double> summed(const Problem& problem, std::size_t input,
                                  const std::vector<double>& gradient) {
  const std::string size = to_string(AttrValue(problem.inputs[input].shape));
  return reference_of_tensors("sum_to_size", {{DType::fp32, problem.outputs[0].shape, gradient}},
                              {{"size", size}})[0];
}

}  // namespace finite_difference

/// Compares every gradient that the operator names with the central difference of its reference, in
/// fp64, element by element. The difference itself has an error of about kStep^2 unless the
/// operator is a polynomial of degree 2 or less. `tolerance` covers this error.
inline void expect_gradients(const Differentiated& use, double tolerance = 2e-5) {
  using namespace finite_difference;
  SCOPED_TRACE(use.op);
  const Problem problem = problem_of(use);
  ASSERT_NE(problem.op->gradient, nullptr);
  std::vector<Given> seeds;
  for (std::size_t i = 0; i < problem.outputs.size(); ++i) seeds.push_back(seed_of(problem, i));
  for (const GradientCall& call : problem.op->gradient(problem)) {
    std::vector<Given> args;
    for (const GradientArg& arg : call.args) args.push_back(argument(arg, use, problem, seeds));
    Values gradients = {args.front().values};
    if (!call.op.empty()) {
      const Op& op = find_op(call.op);
      const Attrs attrs = call.attrs.empty() ? problem.attrs.restricted_to(op.attrs) : call.attrs;
      gradients = reference_of_tensors(call.op, args, texts_of(attrs));
    }
    ASSERT_GE(gradients.size(), call.of_inputs.size());
    for (std::size_t i = 0; i < call.of_inputs.size(); ++i) {
      const std::size_t input = call.of_inputs[i];
      if (gradients[i].size() != use.inputs[input].values.size()) {
        gradients[i] = summed(problem, input, gradients[i]);
      }
      ASSERT_EQ(gradients[i].size(), use.inputs[input].values.size());
      for (std::size_t k = 0; k < gradients[i].size(); ++k) {
        const double expected = slope(use, seeds, input, k);
        EXPECT_NEAR(gradients[i][k], expected, tolerance * (1 + std::fabs(expected)))
            << "of input " << input << ", element " << k;
      }
    }
  }
}

/// fp32 values for such a use: multiples of 2^-5 within +-4. Neighbours differ.
inline Given spread(const Dims& shape, int seed = 0) {
  Given given{DType::fp32, shape, {}};
  const std::int64_t count = element_count(shape);
  for (std::int64_t k = 0; k < count; ++k) {
    given.values.push_back(double((k * 89 + seed * 37 + 11) % 257 - 128) / 32);
  }
  return given;
}

}  // namespace opbench
