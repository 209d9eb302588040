#pragma once

#include <optional>
#include <string_view>

#include "compare/comparison.h"

namespace opbench {

/// How far a tensor is off as a whole: the sum of |actual - expected| over that of |expected|. An
/// element that fell on the other side of a kink counts no more than its error, which the root mean
/// square exaggerates. Infinite where a NaN or an Inf stands on one side only.
///
/// Gradients of biases are sums that may cancel, and then nothing but rounding: they count against
/// what terms of random signs would come to. So may the means be that batch norms keep: they count
/// against the root mean square of what they are means of. Single elements of a gradient at a kink,
/// as ReLU's, that fell on its other side count nothing.
double sum_error(const OperatorResult& op, const TensorResult& tensor);

/// The largest of one side's tensors; none if none was measured. Integer outputs of inputs that are
/// off count nothing: the places of a sort or a maximum follow from the least difference.
std::optional<double> sum_error(const OperatorResult& op, Side side);

/// What the terms of an output's sums would come to with random signs, or be of size, where these
/// may cancel: sums, means, gradients of biases, the mean of a norm, the loss of nearly certain
/// rows and its gradient; else 0.
double terms_scale(const OperatorResult& op, const TensorResult& output);

/// How often a small relative error of its inputs its outputs have: as often as the largest
/// exponent, where it takes exponentials; else 1.
double condition(const OperatorResult& op);

/// What rounding a product's operands to fp16 makes of it: more where they are subnormal there.
double operand_rounding(const OperatorResult& op);

/// Optimizers that divide a gradient by its own size: what is rounding alone moves as far as all
/// else.
bool is_adaptive(std::string_view op);

/// How many terms each element of its outputs adds up, by the sizes of its tensors; 1 at least.
double terms_per_output(const OperatorResult& op);

/// Convolutions, matrix products and their gradients, by an operator's name in a dump.
bool is_product(std::string_view op);

/// Operators that draw random numbers, by their name: dropout, bernoulli, ...
bool is_random(std::string_view op);

/// That by its name, unless both dumps have the same mask: then nothing was drawn.
bool is_random(const OperatorResult& op);

}  // namespace opbench
