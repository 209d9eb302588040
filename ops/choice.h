#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/op.h"
#include "tensor/registered.h"

namespace opbench {

/// Indices that an operator chooses by scores that it computes, such as the experts of a token.
/// Rounding may exchange scores that are nearly equal; each of them is then right. The operator
/// states its output of indices with `indexed`. Its other outputs follow the indices: `reference`
/// and `terms` take the indices that were chosen as one more input, after all others. A row of them
/// that names no valid choice is replaced by the best choice.
struct IndexChoice {
  std::string_view op;
  std::size_t output = 0;  ///< the indices

  /// The scores along the last axis, whose greatest are to be chosen, and the magnitudes of their
  /// terms. They may follow the chosen indices as well: an operator that first chooses groups may
  /// keep any of equal groups.
  struct Scores {
    std::vector<double> values, magnitudes;
  };
  Scores (*scores)(std::span<const InputReader> inputs, const Attrs& attrs);

  std::string key() const { return std::string(op); }
};

using RegisteredChoice = Registered<IndexChoice>;

/// The choice of operator `op`; null: it makes no choice.
const IndexChoice* find_choice(std::string_view op);

/// `inputs` of operator `op`, with empty ones for inputs that are not given, and then `chosen`.
std::vector<InputReader> with_chosen(const Op& op, std::vector<InputReader> inputs,
                                     const InputReader& chosen);

}  // namespace opbench
