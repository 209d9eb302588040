#include "judge/rounding_slack.h"

#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "judge/ulp.h"
#include "tensor/precision.h"

namespace opbench {
namespace {

// A few steps follow each other, and functions such as log are right but for a unit or two.
constexpr double kRoundoffs = 4;

DType widened(DType dtype) { return size_of(dtype) < sizeof(float) ? DType::fp32 : dtype; }

std::vector<double> values_of(const Reference& reference, std::size_t output, ElementRange range) {
  std::vector<double> values(static_cast<std::size_t>(range.count), 0.0);
  if (reference) reference(output, range, values);
  return values;
}

}  // namespace

// Operands that are narrower than the output are rounded, whatever their sums are held in.
RoundingSlack::RoundingSlack(Reference golden, Intermediates intermediates, DType dtype,
                             std::optional<DType> operands)
    : golden_(std::move(golden)), intermediates_(std::move(intermediates)) {
  const DType computed = operands.value_or(dtype);
  const DType held = intermediates_.in_fp32 ? widened(computed) : computed;
  roundoff_ = epsilon_of(size_of(computed) < size_of(dtype) ? computed : held) / 2;
  largest_held_ = largest_finite(held);
  largest_ = largest_finite(computed);
}

bool RoundingSlack::is_any() const { return intermediates_.rounding || intermediates_.greatest; }

double RoundingSlack::factor() const { return kRoundoffs * roundoff_; }

// Infinite intermediate results are those of infinite inputs, whose output is known.
bool RoundingSlack::explains(double actual, double golden, double rounding, double greatest) const {
  if (!std::isfinite(actual) && greatest > largest_held_ && std::isfinite(greatest)) return true;
  // What is rounded to Inf is this at least.
  if (std::isinf(actual)) actual = std::copysign(largest_, actual);
  return std::isfinite(rounding) && std::fabs(actual - golden) <= factor() * rounding;
}

void RoundingSlack::forgive(std::size_t output, ElementRange range, DType dtype,
                            const void* expected, void* actual) const {
  const std::vector<double> golden = values_of(golden_, output, range);
  const std::vector<double> rounding = values_of(intermediates_.rounding, output, range);
  const std::vector<double> greatest = values_of(intermediates_.greatest, output, range);
  std::vector<double> values(golden.size());
  to_doubles(dtype, actual, range.count, values.data());
  const std::size_t bytes = size_of(dtype);
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (!explains(values[i], golden[i], rounding[i], greatest[i])) continue;
    std::memcpy(static_cast<std::byte*>(actual) + i * bytes,
                static_cast<const std::byte*>(expected) + i * bytes, bytes);
  }
}

}  // namespace opbench
