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
// narrowed piece by piece in the L1 cache, so that a function is compiled once for an instruction
// set.

/// The attributes of an operator that are numbers, in its order, in fp32.
using Numbers = std::array<float, 4>;

/// y[i] = f(x[0][i], x[1][i], ...) for `count` elements; y may be one of the inputs.
using ComputePiece = void (*)(const Numbers& numbers, std::size_t count, const float* const* x,
                              float* y);

/// A function under the name of its operator; "gelu_tanh" where a word among the attributes is not
/// the default.
struct Formula {
  std::string_view name;
  ComputePiece compute;
};

/// The attributes of a problem as formulas take them.
Numbers numbers_of(const Problem& problem);

/// The function of that name. Errors: throws std::logic_error if there is none.
ComputePiece formula_named(std::span<const Formula> formulas, std::string_view name);

/// One pass over all elements, inputs broadcast and widened to fp32, the result rounded once.
/// Inputs and outputs are fp32, fp16, bf16 or bool (0 or 1). `streams`: past the cache where the
/// tensors outgrow it.
Launch formula_launch(const Problem& problem, std::span<const Formula> formulas, bool streams);

using PrepareFormula = Launch (*)(const Problem& problem);

/// The variants `native` of a table, which share all but their operator: registers one for each of
/// `ops`. `promotes`: inputs may have different floating dtypes. At namespace scope only.
class NativeFormulas {
 public:
  NativeFormulas(PrepareFormula prepare, bool promotes, std::initializer_list<std::string_view> ops,
                 std::string_view source = __builtin_FILE());

 private:
  std::list<RegisteredKernel> kernels_;
};

/// A device variant, a row of its own.
Kernel npu_formula(std::string_view op, std::string_view name, std::string_view summary,
                   PrepareFormula prepare);

}  // namespace opbench
