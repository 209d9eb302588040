#include "judge/explained_errors.h"

#include <cmath>
#include <cstring>
#include <utility>
#include <vector>

#include "judge/magnitudes.h"
#include "tensor/dtype.h"
#include "tensor/elements.h"
#include "tensor/random.h"

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

template <class Predicate>
bool holds_any(const TensorDesc& desc, const void* storage, const Predicate& predicate) {
  std::vector<double> values;
  for (std::int64_t i = 0; i < block_count(desc); ++i) {
    const ElementRange part = block(desc, i);
    values.resize(static_cast<std::size_t>(part.count));
    read_doubles(desc, storage, part, values);
    for (const double value : values) {
      if (predicate(value)) return true;
    }
  }
  return false;
}

// Of either kind of operator, as fp64.
Reference reference_of(const Problem& problem, const std::vector<InputReader>& inputs) {
  if (problem.op->reference != nullptr) return problem.op->reference(inputs, problem.attrs);
  return [exact = problem.op->exact_reference(inputs, problem.attrs), &problem](
             std::size_t output, ElementRange range, std::span<double> to) {
    const DType dtype = problem.outputs[output].dtype;
    std::vector<std::byte> stored(to.size() * size_of(dtype));
    exact(output, range, stored.data());
    to_doubles(dtype, stored.data(), range.count, to.data());
  };
}

bool is_same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

// More than the last place of every dtype, and little enough for most functions to be straight.
constexpr double kChange = 0x1p-5;
constexpr std::int64_t kBlocks = 4;

std::uint32_t sign_bits(std::uint64_t seed, std::uint64_t place) {
  const auto low = static_cast<std::uint32_t>(place),
             high = static_cast<std::uint32_t>(place >> 32);
  return philox4x32({low, high, 0, 0}, {static_cast<std::uint32_t>(seed), 0})[0];
}

// Every element larger or smaller.
Buffer changed(const TensorDesc& desc, const void* storage, std::uint64_t seed) {
  return changed_copy(desc, storage, [seed](std::int64_t place, double value) {
    const bool up = (sign_bits(seed, static_cast<std::uint64_t>(place)) & 1U) != 0;
    return value * (up ? 1 + kChange : 1 - kChange);
  });
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

bool is_inside(InputRange range, DType dtype, double value) {
  if (range == InputRange::any) return true;
  if (!std::isfinite(value)) return false;
  return range == InputRange::finite || value == 0 || std::fabs(value) >= smallest_normal(dtype);
}

OutsideContract::OutsideContract(const CallToJudge& what, std::size_t output, bool with_limit)
    : what_(what), output_(output), with_limit_(with_limit && what.kernel.limit.holds != nullptr) {
  const Problem& problem = what.problem;
  if (what.kernel.takes == InputRange::any && !with_limit_) return;
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
    const TensorDesc& desc = problem.inputs[i];
    const void* storage = what.inputs[i];
    const auto with = [&](double other) -> const void* {
      buffers_.push_back(changed_copy(desc, storage, [=, this](std::int64_t, double value) {
        return is_outside(i, value) ? other : value;
      }));
      return buffers_.back().data();
    };
    const bool is_changed = is_floating(desc.dtype) && holds_any(desc, storage, [&](double value) {
                              return is_outside(i, value);
                            });
    const double most = largest_finite(desc.dtype);
    inputs_[0].emplace_back(desc, storage);
    inputs_[1].emplace_back(desc, is_changed ? with(most) : storage);
    inputs_[2].emplace_back(desc, is_changed ? with(-most) : storage);
    is_any_ |= is_changed;
  }
  if (!is_any_) return;
  for (const std::vector<InputReader>& inputs : inputs_) {
    references_.push_back(reference_of(problem, inputs));
  }
}

bool OutsideContract::is_outside(std::size_t input, double value) const {
  const Problem& problem = what_.problem;
  return !is_inside(what_.kernel.takes, problem.inputs[input].dtype, value) ||
         (with_limit_ && what_.kernel.limit.holds(problem, input, value));
}

std::vector<bool> OutsideContract::places(ElementRange range) const {
  const Problem& problem = what_.problem;
  std::vector<bool> found(static_cast<std::size_t>(range.count), false);
  std::vector<double> values(found.size()), others(found.size());
  for (std::size_t i = 0; i < problem.inputs.size() && !problem.op->mixes_elements(); ++i) {
    const TensorDesc& desc = problem.inputs[i];
    if (!is_floating(desc.dtype) || desc.shape != problem.outputs[output_].shape) continue;
    read_doubles(desc, what_.inputs[i], range, values);
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (is_outside(i, values[k])) found[k] = true;
    }
  }
  references_[0](output_, range, values);
  for (std::size_t i = 1; i < references_.size(); ++i) {
    references_[i](output_, range, others);
    for (std::size_t k = 0; k < values.size(); ++k) {
      if (!is_same(values[k], others[k])) found[k] = true;
    }
  }
  return found;
}

void OutsideContract::forgive(ElementRange range, const void* expected, void* actual) const {
  const std::size_t bytes = size_of(what_.problem.outputs[output_].dtype);
  const std::vector<bool> found = places(range);
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (!found[k]) continue;
    std::memcpy(static_cast<std::byte*>(actual) + k * bytes,
                static_cast<const std::byte*>(expected) + k * bytes, bytes);
  }
}

double condition_scale(const CallToJudge& what, std::size_t output) {
  const Problem& problem = what.problem;
  std::vector<Buffer> copies(what.inputs.size());
  std::vector<InputReader> given, moved;
  for (std::size_t i = 0; i < what.inputs.size(); ++i) {
    const TensorDesc& desc = problem.inputs[i];
    const void* storage = what.inputs[i];
    given.emplace_back(desc, storage);
    if (is_floating(desc.dtype)) copies[i] = changed(desc, storage, i);
    moved.emplace_back(desc, is_floating(desc.dtype) ? copies[i].data() : storage);
  }
  const Reference before = problem.op->reference(given, problem.attrs);
  const Reference after = problem.op->reference(moved, problem.attrs);
  const TensorDesc& desc = problem.outputs[output];
  const std::int64_t blocks = block_count(desc), looked_at = std::min(blocks, kBlocks);
  Magnitudes changes;
  for (std::int64_t i = 0; i < looked_at; ++i) {
    const ElementRange range = block(desc, i * blocks / looked_at);
    std::vector<double> a(static_cast<std::size_t>(range.count)), b(a.size());
    before(output, range, a);
    after(output, range, b);
    for (std::size_t k = 0; k < a.size(); ++k) a[k] = (b[k] - a[k]) / kChange;
    changes.add(a.data(), range.count);
  }
  return changes.scale();
}

}  // namespace opbench
