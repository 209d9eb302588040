#include "tests/lab/changed_inputs.h"

namespace opbench {

BrokenResults next_slice(Run run, std::initializer_list<std::size_t> of, std::int64_t axis) {
  InputElements inputs = run.inputs();
  for (const std::size_t input : of) {
    const auto rotate = [](auto begin, auto end, std::int64_t size) {
      std::rotate(begin, begin + size, end);
    };
    if (!has(run, input) || !change_slices(run, inputs, input, axis, rotate)) return std::nullopt;
  }
  return run.results_of(inputs);
}

BrokenResults swapped_halves(Run run, std::size_t input) {
  InputElements inputs = run.inputs();
  change_slices(run, inputs, input, -1, [](auto begin, auto end, std::int64_t) {
    std::rotate(begin, begin + (end - begin) / 2, end);
  });
  return run.results_of(inputs);
}

BrokenResults without_last(Run run, std::size_t input, std::int64_t axis) {
  if (!has(run, input)) return std::nullopt;
  InputElements inputs = run.inputs();
  const auto clear = [](auto, auto end, std::int64_t size) {
    std::fill(end - size, end, std::byte{0});
  };
  if (!change_slices(run, inputs, input, axis, clear)) return std::nullopt;
  return run.results_of(inputs);
}

BrokenResults without(Run run, std::size_t input) {
  if (!has(run, input)) return std::nullopt;
  InputElements inputs = run.inputs();
  std::fill(inputs[input].begin(), inputs[input].end(), std::byte{0});
  return run.results_of(inputs);
}

BrokenResults negated(Run run, std::size_t input) {
  const TensorDesc& desc = run.problem().inputs[input];
  InputElements inputs = run.inputs();
  std::vector<double> values = run.values(desc, inputs[input]);
  for (double& value : values) value = -value;
  inputs[input] = run.elements(desc, values);
  return run.results_of(inputs);
}

}  // namespace opbench
