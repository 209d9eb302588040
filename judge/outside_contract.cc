#include "judge/outside_contract.h"

#include <cmath>
#include <cstring>
#include <vector>

#include "tensor/elements.h"

namespace opbench {
namespace {

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

// The reference of either kind of operator, as fp64.
Reference reference_of(const Problem& problem, const std::vector<InputReader>& inputs) {
  if (!is_exact(problem)) return problem.op->reference(inputs, problem.attrs);
  return [exact = problem.op->exact_reference(inputs, problem.attrs), &problem](
             std::size_t output, ElementRange range, std::span<double> to) {
    const DType dtype = problem.outputs[output].dtype;
    std::vector<std::byte> stored(to.size() * size_of(dtype));
    exact(output, range, stored.data());
    to_doubles(dtype, stored.data(), range.count, to.data());
  };
}

bool is_same(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

}  // namespace

bool is_inside(InputRange range, DType dtype, double value) {
  if (range == InputRange::any) return true;
  if (!std::isfinite(value)) return false;
  return range == InputRange::finite || value == 0 || std::fabs(value) >= smallest_normal(dtype);
}

OutsideContract::OutsideContract(const CallToJudge& call, std::size_t output, bool with_limit)
    : call_(call), output_(output), with_limit_(with_limit && call.kernel->limit.holds != nullptr) {
  const Problem& problem = call.problem;
  if (call.kernel->takes == InputRange::any && !with_limit_) return;
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
    const TensorDesc& desc = problem.inputs[i];
    const void* storage = call.inputs[i];
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
  const Problem& problem = call_.problem;
  return !is_inside(call_.kernel->takes, problem.inputs[input].dtype, value) ||
         (with_limit_ && call_.kernel->limit.holds(problem, input, value));
}

std::vector<bool> OutsideContract::places(ElementRange range) const {
  const Problem& problem = call_.problem;
  std::vector<bool> found(static_cast<std::size_t>(range.count), false);
  std::vector<double> values(found.size()), others(found.size());
  for (std::size_t i = 0; i < problem.inputs.size() && !problem.op->mixes_elements(); ++i) {
    const TensorDesc& desc = problem.inputs[i];
    if (!is_floating(desc.dtype) || desc.shape != problem.outputs[output_].shape) continue;
    read_doubles(desc, call_.inputs[i], range, values);
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
  const std::size_t bytes = size_of(call_.problem.outputs[output_].dtype);
  const std::vector<bool> found = places(range);
  for (std::size_t k = 0; k < found.size(); ++k) {
    if (!found[k]) continue;
    std::memcpy(static_cast<std::byte*>(actual) + k * bytes,
                static_cast<const std::byte*>(expected) + k * bytes, bytes);
  }
}

}  // namespace opbench
