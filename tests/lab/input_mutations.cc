// Mutations that read inputs wrongly.
#include <algorithm>
#include <array>
#include <cmath>

#include "tests/lab/mutations.h"

namespace opbench {
namespace {

// Results of the correct kernel for changed inputs. `change(i, desc, values)` is applied to the
// inputs with the case's dtype; empty if it changes nothing.
template <class Change>
BrokenResults with_inputs(const HonestRun& run, Change change) {
  InputElements inputs = run.inputs();
  bool is_any = false;
  for (std::size_t i = 0; i < inputs.size(); ++i) {
    const TensorDesc& desc = run.problem().inputs[i];
    const bool is_number = is_floating(desc.dtype) && !run.problem().op->input(i).has_own_dtype();
    if (!is_number || desc.elements() == 0) continue;
    std::vector<double> values = run.values(desc, inputs[i]);
    if (!change(i, desc, values)) continue;
    inputs[i] = run.elements(desc, values);
    is_any = true;
  }
  if (!is_any) return std::nullopt;
  return run.results_of(inputs);
}

// Rounds to 16 values per octave.
BrokenResults coarse(const HonestRun& run) {
  return with_inputs(run, [](std::size_t, const TensorDesc&, std::vector<double>& values) {
    for (double& value : values) {
      int exponent = 0;
      if (std::isfinite(value) && value != 0) {
        const double fraction = std::frexp(value, &exponent);
        value = std::ldexp(std::nearbyint(fraction * 16) / 16, exponent);
      }
    }
    return true;
  });
}

BrokenResults second_ignored(const HonestRun& run) {
  return with_inputs(run, [](std::size_t i, const TensorDesc&, std::vector<double>& values) {
    if (i != 1) return false;
    std::fill(values.begin(), values.end(), 0.0);
    return true;
  });
}

BrokenResults first_row_for_all(const HonestRun& run) {
  return with_inputs(run, [](std::size_t i, const TensorDesc& desc, std::vector<double>& values) {
    if (i != 0 || desc.shape.empty() || desc.shape[0] < 2) return false;
    const auto row = values.size() / static_cast<std::size_t>(desc.shape[0]);
    for (std::size_t k = row; k < values.size(); ++k) values[k] = values[k - row];
    return true;
  });
}

BrokenResults shifted(const HonestRun& run) {
  return with_inputs(run, [](std::size_t i, const TensorDesc&, std::vector<double>& values) {
    if (i != 0 || values.size() < 2) return false;
    std::rotate(values.begin(), values.begin() + 1, values.end());
    return true;
  });
}

// Reads the last vector of 16 as zeros.
BrokenResults tail_as_zeros(const HonestRun& run) {
  return with_inputs(run, [](std::size_t i, const TensorDesc&, std::vector<double>& values) {
    if (i != 0) return false;
    const std::size_t tail = std::min<std::size_t>(16, values.size());
    std::fill(values.end() - static_cast<std::ptrdiff_t>(tail), values.end(), 0.0);
    return true;
  });
}

constexpr std::array kInputMutations = {
    Mutation{"coarse-table", "inputs looked up in a table of 16 values an octave", coarse},
    Mutation{"ignored-input", "the second input is taken as 0", second_ignored},
    Mutation{"first-row", "the first row of the first input for all", first_row_for_all},
    Mutation{"shifted-input", "the first input read one element too far", shifted},
    Mutation{"tail-as-zeros", "the last 16 elements of the first input read as 0", tail_as_zeros},
};

}  // namespace

std::span<const Mutation> input_mutations() { return kInputMutations; }

}  // namespace opbench
