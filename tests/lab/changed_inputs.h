#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <initializer_list>

#include "ops/elementwise_op.h"
#include "ops/movement.h"
#include "tests/lab/mutations.h"

namespace opbench {

using Run = const HonestRun&;

/// True if the run has an input, which may be optional.
inline bool has(Run run, std::size_t input) { return is_given(run.problem().inputs, input); }

/// Changes the slices of an input along an axis; a negative axis counts from the back.
/// `change(begin, end, size)` is given consecutive slices of `size` bytes. Returns whether there
/// are two slices or more.
template <class Change>
bool change_slices(Run run, InputElements& inputs, std::size_t input, std::int64_t axis,
                   Change change) {
  const TensorDesc& desc = run.problem().inputs[input];
  const std::int64_t rank = std::ssize(desc.shape);
  const AxisView view(desc.shape, static_cast<std::size_t>(axis < 0 ? rank + axis : axis));
  const std::int64_t size = view.inner * static_cast<std::int64_t>(size_of(desc.dtype));
  auto begin = inputs[input].begin();
  for (std::int64_t i = 0; i < view.outer; ++i, begin += view.extent * size) {
    change(begin, begin + view.extent * size, size);
  }
  return view.extent > 1;
}

// Results of the correct kernel for changed inputs; empty if the run does not have them.

/// Each slice of some inputs is read in place of the one before.
BrokenResults next_slice(Run run, std::initializer_list<std::size_t> of, std::int64_t axis);
BrokenResults swapped_halves(Run run, std::size_t input);
BrokenResults without_last(Run run, std::size_t input, std::int64_t axis);
BrokenResults without(Run run, std::size_t input);
BrokenResults negated(Run run, std::size_t input);

// These as rows of a table have them.

/// Other attributes, "a=1,b=2".
template <OpName kAttrs>
BrokenResults with(Run run) {
  return run.results_with(kAttrs.view());
}

template <std::size_t kInput, std::int64_t kAxis>
BrokenResults next_slice_of(Run run) {
  return next_slice(run, {kInput}, kAxis);
}

/// Both halves of the last axis are exchanged.
template <std::size_t kInput>
BrokenResults with_swapped_halves_of(Run run) {
  return swapped_halves(run, kInput);
}

/// Zeros in the last slice.
template <std::size_t kInput, std::int64_t kAxis>
BrokenResults without_last_of(Run run) {
  return without_last(run, kInput, kAxis);
}

/// Zeros everywhere.
template <std::size_t kInput>
BrokenResults with_zero(Run run) {
  return without(run, kInput);
}

template <std::size_t kInput>
BrokenResults with_negated(Run run) {
  return negated(run, kInput);
}

}  // namespace opbench
