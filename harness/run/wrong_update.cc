#include "harness/run/wrong_update.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "compare/standard/ulp.h"

namespace opbench {
namespace {

/// The step that was taken as a multiple of the one that is expected, by least squares.
struct StepLength {
  double expected_sq = 0, product = 0, noise_sq = 0;

  void add(double before, double actual, double expected, double roundoff) {
    const double wanted = expected - before, taken = actual - before;
    if (!std::isfinite(wanted) || !std::isfinite(taken)) return;
    expected_sq += wanted * wanted;
    product += wanted * taken;
    const double rounded = roundoff * std::fmax(std::fabs(before), std::fabs(expected));
    noise_sq += wanted * wanted * rounded * rounded;
  }
  double length() const { return product / expected_sq; }
  // Of the length, where every rounding is as large as may be.
  double deviation() const { return std::sqrt(noise_sq) / expected_sq; }
};

}  // namespace

std::string wrong_update(const Problem& problem, std::span<const InputReader> inputs,
                         const void* storage) {
  constexpr double kWrong = 0.1, kSeen = 0.01;
  const TensorDesc& desc = problem.outputs[0];
  if (!problem.op->adds_to_first || inputs[0].desc().shape != desc.shape) return {};
  const Reference reference = problem.op->reference(inputs, problem.attrs);
  const double roundoff = epsilon_of(desc.dtype) / 2;
  StepLength step;
  std::vector<double> before, actual, expected;
  for (std::int64_t i = 0; i < block_count(desc); ++i) {
    const ElementRange range = block(desc, i);
    for (auto* values : {&before, &actual, &expected}) {
      values->resize(static_cast<std::size_t>(range.count));
    }
    inputs[0].read(range, before);
    read_doubles(desc, storage, range, actual);
    reference(0, range, expected);
    for (std::size_t k = 0; k < actual.size(); ++k) {
      step.add(before[k], actual[k], expected[k], roundoff);
    }
  }
  const bool is_seen =
      step.expected_sq > 0 && std::isfinite(step.expected_sq) && step.deviation() <= kSeen;
  if (!is_seen || std::fabs(step.length() - 1) <= kWrong) return {};
  return fmt::format("what is added to '{}' is {:.3g} times what is expected",
                     problem.op->input_name(0), step.length());
}

}  // namespace opbench
