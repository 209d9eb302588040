#pragma once

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

#include "ops/op.h"

namespace opbench {

/// What lies between the inputs of an operator and its output, element by element of the output, in
/// fp64. What the output itself or a change of the inputs shows need not be in it.
struct Intermediates {
  /// How much the output changes if every intermediate result changes by as much as itself, one way
  /// or the other: the roundings of an honest kernel move it by few unit roundoffs of this, however
  /// small the output is. Null: by none.
  Reference rounding = nullptr;
  /// The greatest intermediate result, in the order of operations where it is greatest. Where it
  /// leaves the dtype, an honest kernel may give Inf or NaN. Null: none is greater than the output.
  Reference greatest = nullptr;
  /// Right kernels hold them in fp32 where the dtype is narrower.
  bool in_fp32 = false;
};

/// The intermediate results of an operator, from the inputs as they are rounded; `inputs` outlive
/// the result.
struct OpIntermediates {
  std::string_view op;
  Intermediates (*of)(std::span<const InputReader> inputs, const Attrs& attrs);

  std::string key() const { return std::string(op); }
};

/// Beside the operator, in its file.
using RegisteredIntermediates = Registered<OpIntermediates>;

/// What is registered of an operator; of one that adds up terms the sum of their magnitudes, in
/// fp32; else nothing at all.
Intermediates intermediates_of(const Op& op, std::span<const InputReader> inputs,
                               const Attrs& attrs);

/// |value|, 0 of Inf and NaN: beside an infinite term the sum of the others may leave the range
/// with the other sign.
double finite_magnitude(double value);

/// The greatest magnitude of a product of some of `factors`.
double greatest_product(std::initializer_list<double> factors);

}  // namespace opbench
