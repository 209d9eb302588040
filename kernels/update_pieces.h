#pragma once

#include <algorithm>
#include <array>
#include <cstdint>

#include "kernels/simd/cube.h"
#include "kernels/simd/elementwise.h"

namespace opbench {

/// A launch that updates parameters and states piece by piece in the cache, in fp32.
/// `update(count, values)` works in place on the inputs, of which input 1 is the gradient. Its
/// contents are lost; the others become the outputs. An input that is not given is null.
template <class Update>
Launch update_by_pieces(const Problem& problem, Update update) {
  constexpr std::size_t kMost = 5;  // inputs
  std::array<bool, kMost> given{};
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) given[i] = is_given(problem.inputs, i);
  return [dtype = problem.inputs[0].dtype, given, update,
          elements = stored_elements(problem)](const KernelArgs& args) {
    for_each_range(elements, [&](std::int64_t begin, std::int64_t end) {
      constexpr std::int64_t kPiece = 1024;  // elements; all arrays stay in the L1 cache
      alignas(64) float values[kMost][kPiece];
      float* arrays[kMost] = {};
      for (std::size_t i = 0; i < kMost; ++i) arrays[i] = given[i] ? values[i] : nullptr;
      for (std::int64_t place = begin; place < end; place += kPiece) {
        const std::int64_t count = std::min(kPiece, end - place);
        for (std::size_t i = 0; i < kMost; ++i) {
          if (given[i]) load_floats(dtype, at(args.inputs[i], dtype, place), count, values[i]);
        }
        update(static_cast<std::size_t>(count), arrays);
        for (std::size_t i = 0; i < kMost; ++i) {
          if (!given[i] || i == 1) continue;
          const std::size_t output = i == 0 ? 0 : i - 1;
          store_floats(dtype, values[i], count, at(args.outputs[output], dtype, place));
        }
      }
    });
  };
}

}  // namespace opbench
