#pragma once

#include <array>
#include <cstddef>
#include <initializer_list>
#include <list>
#include <span>
#include <string_view>

#include "kernels/kernel.h"

namespace opbench {

// Variants of element-wise operators as tables. A family's file has one function of fp32 lanes for
// each operator (kernels/formula-inl.h), and one row for each variant. Other dtypes are widened and
// narrowed piece by piece in the L1 cache, so that a function is compiled only once for an
// instruction set.

/// The numeric attributes of an operator, in its order, in fp32.
using Numbers = std::array<float, 4>;

/// y[i] = f(x[0][i], x[1][i], ...) for `count` elements; y may be one of the inputs.
using ComputePiece = void (*)(const Numbers& numbers, std::size_t count, const float* const* x,
                              float* y);

/// A function with the name of its operator; "gelu_tanh" for a word attribute that is not the
/// default.
struct Formula {
  std::string_view name;
  ComputePiece compute;
};

/// `count` elements of fp32, fp16, bf16 or bool in fp32: in place, or widened into `buffer`.
const float* widened(DType dtype, const void* from, std::size_t count, float* buffer);

/// The attributes of a problem in the form of formulas.
Numbers numbers_of(const Problem& problem);

/// The function of that name. Errors: throws std::logic_error if it does not exist.
ComputePiece formula_named(std::span<const Formula> formulas, std::string_view name);

/// One pass over all elements: inputs are broadcast and widened to fp32, the result is rounded
/// once. Inputs and outputs are fp32, fp16, bf16 or bool (0 or 1); integers are computed by
/// `integer_launch`. `streams`: past the cache if the tensors exceed it.
Launch formula_launch(const Problem& problem, std::span<const Formula> formulas, bool streams);

using PrepareFormula = Launch (*)(const Problem& problem);

/// The variants `native` of a table, which differ only in their operator: registers one for each of
/// `ops`. `promotes`: inputs may have different floating dtypes. Construct it only at namespace
/// scope.
class NativeFormulas {
 public:
  NativeFormulas(PrepareFormula prepare, bool promotes, std::initializer_list<std::string_view> ops,
                 std::string_view source = __builtin_FILE());

 private:
  std::list<RegisteredKernel> kernels_;
};

/// A device variant, which has its own row.
Kernel npu_formula(std::string_view op, std::string_view name, std::string_view summary,
                   PrepareFormula prepare);

}  // namespace opbench
