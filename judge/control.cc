#include "judge/control.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "kernels/kernel.h"
#include "tensor/dtype.h"
#include "tensor/parallel.h"
#include "tensor/tensor.h"

namespace opbench {
namespace {

Judgement inconclusive(const std::string& reason) {
  return {Verdict::mistrusted, "inconclusive: " + reason};
}

// The first variant of the framework that supports the problem; null if there is no such variant.
const Kernel* control_kernel(const Problem& problem) {
  for (const Kernel* kernel : kernels_of(problem.op->name)) {
    if (kernel->provider == Provider::framework && refusal(*kernel, problem).empty()) return kernel;
  }
  return nullptr;
}

std::vector<Tensor> control_outputs(const CallToJudge& call, const Kernel& kernel) {
  std::vector<Tensor> outputs;
  std::vector<void*> storage;
  for (const TensorDesc& desc : call.problem.outputs) {
    outputs.emplace_back(desc);
    storage.push_back(outputs.back().data());
  }
  with_threads(1, [&] { kernel.prepare(call.problem)({call.inputs, storage}); });
  return outputs;
}

/// The errors of an output and of its control.
struct ErrorPair {
  OutputError output, control;
};

ErrorPair errors_of(const CallToJudge& call, std::size_t output, const void* control) {
  const TensorDesc& desc = call.problem.outputs[output];
  const std::vector<InputReader> inputs = readers_of(call);
  const Reference reference = call.problem.op->reference(inputs, call.problem.attrs);
  ErrorPair errors;
  std::vector<double> actual, plain, expected;
  for (std::int64_t i = 0; i < block_count(desc); ++i) {
    const ElementRange range = block(desc, i);
    for (auto* values : {&actual, &plain, &expected}) {
      values->resize(static_cast<std::size_t>(range.count));
    }
    read_doubles(desc, call.outputs[output], range, actual);
    read_doubles(desc, control, range, plain);
    reference(output, range, expected);
    for (std::size_t k = 0; k < actual.size(); ++k) {
      errors.output.add(actual[k], expected[k]);
      errors.control.add(plain[k], expected[k]);
    }
  }
  return errors;
}

}  // namespace

void OutputError::add(double actual, double reference) {
  if (!std::isfinite(reference)) return;
  ++elements;
  if (!std::isfinite(actual)) {
    ++nonfinite;
    return;
  }
  const double error = std::fabs(actual - reference), size = std::fabs(reference);
  error_squares += error * error;
  reference_squares += size * size;
  largest_error = std::max(largest_error, error);
  largest_reference = std::max(largest_reference, size);
}

double OutputError::relative() const {
  return error_squares == 0 ? 0 : std::sqrt(error_squares / reference_squares);
}

Judgement judge_by_control(const OutputError& error, const OutputError& control, DType dtype,
                           std::string_view name) {
  constexpr std::int64_t kFewest = 16;
  constexpr double kLost = 0.1, kTimes = 2;
  if (error.elements < kFewest) {
    return inconclusive(fmt::format("{} elements, {} needed", error.elements, kFewest));
  }
  if (control.nonfinite > 0) {
    return inconclusive(fmt::format("{} has {} NaN or Inf", name, control.nonfinite));
  }
  if (control.relative() > kLost) {
    return inconclusive(fmt::format("{} has a relative error of {:.3g}", name, control.relative()));
  }
  if (error.nonfinite > 0) {
    return {Verdict::failed, fmt::format("{} NaN or Inf, {} has none", error.nonfinite, name)};
  }
  const double floor = epsilon_of(dtype);  // 2u
  const double most = kTimes * control.relative() + floor;
  if (error.relative() > most) {
    return {Verdict::failed,
            fmt::format("relative error {:.3g}, at most {:.3g} allowed: {} has {:.3g}",
                        error.relative(), most, name, control.relative())};
  }
  const double largest = kTimes * control.largest_error + floor * control.largest_reference;
  if (error.largest_error > largest) {
    return {Verdict::failed,
            fmt::format("largest error {:.3g}, at most {:.3g} allowed: {} has {:.3g}",
                        error.largest_error, largest, name, control.largest_error)};
  }
  return {};
}

OutputError output_error(const PairStats& stats) {
  OutputError error;
  error.elements =
      stats.count - stats.expected.nan - stats.expected.positive_inf - stats.expected.negative_inf;
  error.nonfinite = stats.nan_mismatches + stats.inf_mismatches;
  error.error_squares = static_cast<double>(stats.sum_sq);
  error.reference_squares = static_cast<double>(stats.sum_expected_sq);
  error.largest_error = stats.worst_abs.error;
  error.largest_reference = std::max(std::fabs(stats.expected.min), std::fabs(stats.expected.max));
  return error;
}

namespace {

Judgement judge_by_native(const CallToJudge& call, std::size_t output) {
  const Kernel* const kernel = control_kernel(call.problem);
  if (kernel == nullptr) return inconclusive("native does not take the problem");
  const std::vector<Tensor> control = control_outputs(call, *kernel);
  const ErrorPair errors = errors_of(call, output, control[output].data());
  return judge_by_control(errors.output, errors.control, call.problem.outputs[output].dtype);
}

}  // namespace

void hold_to_control(const CallToJudge& call, std::size_t output, JudgedOutput& found) {
  found.judgement = judge_by_native(call, output);
  found.is_inconclusive = found.judgement.verdict == Verdict::mistrusted;
  found.formula = "||a-e|| <= 2 ||c-e|| + 2u ||e||, c of native, and so the largest error";
  const bool is_wrong = found.judgement.verdict == Verdict::failed;
  found.named = is_wrong ? found.stats.worst_abs : WorstElement{};
}

}  // namespace opbench
