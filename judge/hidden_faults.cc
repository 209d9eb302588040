#include "judge/hidden_faults.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <unordered_set>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

/// The actual step as a multiple of the expected step, by least squares.
struct StepLength {
  double expected_sq = 0, product = 0, noise_sq = 0;

  // `expected` is rounded to the dtype: a step below half a unit is lost.
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
  // The deviation of the length if every element has an error of one unit.
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

// The unit in the last place of a finite normal value; 0 for others.
double unit_in_last_place(DType dtype, double value) {
  const bool is_half = dtype == DType::fp16;
  const double magnitude = std::abs(value);
  const double least = is_half ? 0x1p-14 : 0x1p-126, most = is_half ? 65504 : 0x1.FEp127;
  if (!(magnitude >= least) || magnitude > most) return 0;
  return std::ldexp(1, std::ilogb(magnitude) - (is_half ? 10 : 7));
}

/// Sums of the errors in units in the last place.
struct Leaning {
  std::int64_t count = 0;
  double towards_zero = 0, down = 0, largest = 0;
  std::int64_t nearer_zero = 0, lower = 0;
  std::unordered_set<double> seen;

  void add(DType dtype, double actual, double expected) {
    const double unit = unit_in_last_place(dtype, expected);
    if (unit == 0 || !std::isfinite(actual)) return;
    const double error = (actual - expected) / unit;
    // Skips values that the dtype represents exactly, since they are not rounded. Values that round
    // to the same number count once: sums near the logarithm of 2 are all on one side of it.
    const double rounded = std::nearbyint(expected / unit) * unit;
    if (expected == rounded || !seen.insert(rounded).second) return;
    ++count;
    towards_zero -= std::copysign(1, expected) * error;
    down -= error;
    nearer_zero += std::copysign(1, expected) * error < 0;
    lower += error < 0;
    largest = std::max(largest, std::abs(error));
  }
};

std::string described(const Leaning& sums) {
  if (sums.count < kFewestRounded || sums.largest > 1.01) return {};
  const auto count = static_cast<double>(sums.count);
  const double zero = sums.towards_zero / count, down = sums.down / count;
  const bool is_by_zero = std::abs(zero) >= std::abs(down);
  const double most = is_by_zero ? zero : down;
  const double one_side = static_cast<double>(is_by_zero ? sums.nearer_zero : sums.lower) / count;
  if (std::abs(most) < kLeaning || std::max(one_side, 1 - one_side) < kOneSided) return {};
  const char* side =
      is_by_zero ? (zero > 0 ? "towards zero" : "away from zero") : (down > 0 ? "down" : "up");
  return fmt::format("rounds {}: {:.2f} units in the last place on average, over {} elements", side,
                     std::abs(most), sums.count);
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

std::string rounding_bias(const Problem& problem, std::span<const InputReader> inputs,
                          std::size_t output, const void* storage) {
  constexpr std::int64_t kMostElements = 100'000;
  const TensorDesc& desc = problem.outputs[output];
  const bool is_narrow = desc.dtype == DType::fp16 || desc.dtype == DType::bf16;
  if (!is_narrow || problem.op->reference == nullptr ||
      problem.op->accuracy != AccuracyClass::rounded) {
    return {};
  }
  const Reference reference = problem.op->reference(inputs, problem.attrs);
  Leaning sums;
  std::vector<double> actual, expected;
  for (std::int64_t i = 0, seen = 0; i < block_count(desc) && seen < kMostElements; ++i) {
    const ElementRange range = block(desc, i);
    actual.resize(static_cast<std::size_t>(range.count));
    expected.resize(actual.size());
    read_doubles(desc, storage, range, actual);
    reference(output, range, expected);
    for (std::size_t k = 0; k < actual.size(); ++k) sums.add(desc.dtype, actual[k], expected[k]);
    seen += range.count;
  }
  return described(sums);
}

}  // namespace opbench
