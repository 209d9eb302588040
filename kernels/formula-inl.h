// Pieces of element-wise operators from a function of lanes. Included once per target.
// clang-format off
#if defined(OPBENCH_KERNELS_FORMULA_INL_H_) == defined(HWY_TARGET_TOGGLE)
#ifdef OPBENCH_KERNELS_FORMULA_INL_H_
#undef OPBENCH_KERNELS_FORMULA_INL_H_
#else
#define OPBENCH_KERNELS_FORMULA_INL_H_
#endif
// clang-format on

#include <hwy/highway.h>

#include <cstddef>
#include <type_traits>
#include <utility>

#include "kernels/formula.h"
#include "kernels/simd/math-inl.h"
#include "kernels/simd/simd-inl.h"

HWY_BEFORE_NAMESPACE();
namespace opbench {
namespace HWY_NAMESPACE {

template <class Function>
Function made_of(const Numbers& numbers) {
  if constexpr (std::is_constructible_v<Function, const Numbers&>) {
    return Function(numbers);
  } else {
    return Function{};
  }
}

/// Function maps kInputs vectors to one vector; it may be constructed from the attributes.
template <class Function, std::size_t kInputs>
void compute(const Numbers& numbers, std::size_t count, const float* const* x, float* y) {
  [&]<std::size_t... kInput>(std::index_sequence<kInput...>) {
    map_lanes<false>(made_of<Function>(numbers), count, y, x[kInput]...);
  }
  (std::make_index_sequence<kInputs>());
}

}  // namespace HWY_NAMESPACE
}  // namespace opbench
HWY_AFTER_NAMESPACE();

#endif
