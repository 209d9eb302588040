#include "judge/wrong_update.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "judge/ulp.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

/// The step that was taken as a multiple of the one that is expected, by least squares.
struct StepLength {
  double expected_sq = 0, product = 0, noise_sq = 0;

  // `expected` as the dtype holds it: what is below half a unit is no step.
  void add(double before, double actual, double expected, double unit) {
    const double wanted = expected - before, taken = actual - before;
    if (!std::isfinite(wanted) || !std::isfinite(taken)) return;
    expected_sq += wanted * wanted;
    product += wanted * taken;
    const double rounded = unit * std::fmax(std::fabs(before), std::fabs(expected));
    noise_sq += wanted * wanted * rounded * rounded;
  }
  void add(const StepLength& more) {
    expected_sq += more.expected_sq;
    product += more.product;
    noise_sq += more.noise_sq;
  }
  double length() const { return product / expected_sq; }
  // Of the length, where every element is a unit off.
  double deviation() const { return std::sqrt(noise_sq) / expected_sq; }
};

StepLength step_of(const InputReader& input, const Reference& reference, const TensorDesc& desc,
                   const void* storage, ElementRange range) {
  thread_local std::vector<double> before, actual, expected;
  thread_local std::vector<std::byte> rounded;
  for (auto* values : {&before, &actual, &expected}) {
    values->resize(static_cast<std::size_t>(range.count));
  }
  rounded.resize(expected.size() * size_of(desc.dtype));
  input.read(range, before);
  read_doubles(desc, storage, range, actual);
  reference(0, range, expected);
  from_doubles(desc.dtype, expected.data(), range.count, rounded.data());
  to_doubles(desc.dtype, rounded.data(), range.count, expected.data());
  StepLength step;
  for (std::size_t i = 0; i < actual.size(); ++i) {
    step.add(before[i], actual[i], expected[i], epsilon_of(desc.dtype));
  }
  return step;
}

}  // namespace

std::string wrong_update(const Problem& problem, std::span<const InputReader> inputs,
                         const void* storage) {
  constexpr double kWrong = 0.1, kSeen = 0.01;
  const TensorDesc& desc = problem.outputs[0];
  if (!problem.op->adds_to_first || inputs[0].desc().shape != desc.shape) return {};
  const Reference reference = problem.op->reference(inputs, problem.attrs);
  std::vector<StepLength> parts(static_cast<std::size_t>(block_count(desc)));
  parallel_blocks(std::ssize(parts), [&](std::int64_t i) {
    parts[static_cast<std::size_t>(i)] =
        step_of(inputs[0], reference, desc, storage, block(desc, i));
  });
  StepLength step;
  for (const StepLength& part : parts) step.add(part);
  const bool is_seen =
      step.expected_sq > 0 && std::isfinite(step.expected_sq) && step.deviation() <= kSeen;
  if (!is_seen || std::fabs(step.length() - 1) <= kWrong) return {};
  return fmt::format("what is added to '{}' is {:.3g} times what is expected",
                     problem.op->input_name(0), step.length());
}

}  // namespace opbench
