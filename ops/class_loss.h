#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "ops/reduction.h"

namespace opbench {

// Losses of rows of classes: cross_entropy, nll_loss and their gradients. Inputs `first`, first + 1
// and optionally first + 2 of an operator are the rows, the target class of each row, and a factor
// for each class.

/// Errors: throws Error that names the operator and the input unless the rows are [N, C], the
/// target [N] and the weight, if given, [C].
void require_class_rows(std::string_view op, std::span<const TensorDesc> inputs);
/// Requires rows [N, C, ...] and a target [N, ...]; for images this is a class for every place.
void require_class_places(std::string_view op, std::span<const TensorDesc> inputs);

/// [N, ...] of rows [N, C, ...].
Dims class_places(const Dims& shape);

/// The target of every row.
struct ClassTargets {
  std::vector<std::int64_t> target;
  std::vector<double> weight;
  std::int64_t ignore_index;
  double total = 0;  ///< the divisor of the sum of all losses

  /// `inputs`: the rows, the target and optionally the weight.
  ClassTargets(std::span<const InputReader> inputs, const Attrs& attrs);

  bool is_ignored(std::size_t row) const { return target[row] == ignore_index; }
  double of_target(std::size_t row) const { return weight[static_cast<std::size_t>(target[row])]; }
};

/// The rows with values of `data` (null: any), the target and the weight.
std::vector<TensorSpec> class_inputs(std::size_t first, Distribution (*data)(const Problem&));

/// ignore_index and reduction.
std::vector<AttrSpec> class_loss_attrs();

/// Requires every target to be a class or ignore_index.
template <std::size_t kFirst>
void check_classes(const Problem& problem, std::span<const InputReader> inputs);

/// The input shapes of the loss, and of its gradient, for rows of `shape`.
std::vector<Dims> class_loss_inputs(const Dims& shape, const Attrs& attrs);
std::vector<Dims> class_loss_grad_inputs(const Dims& shape, const Attrs& attrs);

/// The call of operator `gradient` with the gradient of the output and all inputs.
std::vector<GradientCall> class_loss_gradient(std::string_view gradient, const Problem& forward);

/// Traffic with `operations` for each element of input `rows`.
Traffic class_loss_traffic(const Problem& problem, std::size_t rows, double operations);

}  // namespace opbench
