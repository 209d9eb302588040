#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "ops/elementwise_op.h"
#include "ops/movement.h"
#include "ops/op.h"

namespace opbench {

enum class RecurrentKind { lstm, gru };

inline constexpr std::size_t kMostGates = 4;

/// A recurrent layer in one direction, or a cell, which is a layer of one step without `y`. A fused
/// cell is given the products with the weights, `input_gates` and `hidden_gates`.
struct Recurrence {
  static constexpr std::size_t kNone = SIZE_MAX;

  RecurrentKind kind;
  bool is_cell, is_fused, is_batch_first = false, is_reverse = false;
  std::int64_t steps = 1, batch = 0, features = 0, hidden = 0;
  double forget_bias = 0;
  /// The place in the weights of each gate: of i, f, g, o or r, z, n.
  std::array<std::int64_t, kMostGates> places{0, 1, 2, 3};
  /// The inputs of the forward operator; kNone: not given.
  std::size_t x = 0, h_sums = kNone, w_ih = kNone, w_hh = kNone, b_ih = kNone, b_hh = kNone,
              h0 = kNone, c0 = kNone, lengths = kNone;

  /// `inputs` are those of the forward operator. Errors: throws Error that names the operator, the
  /// input, its shape and the allowed one.
  Recurrence(std::string_view op, std::span<const TensorDesc> inputs, const Attrs& attrs);
  /// A use of an operator or of its gradient.
  explicit Recurrence(const Problem& problem);

  std::int64_t gates() const { return kind == RecurrentKind::lstm ? 4 : 3; }
  std::int64_t rows() const { return steps * batch; }
  /// The number of results: y unless it is a cell, h and c. The gradient's inputs begin with their
  /// gradients.
  std::size_t results() const {
    return (is_cell ? 0u : 1u) + (kind == RecurrentKind::lstm ? 2 : 1);
  }
  double operations() const {
    const double products = is_fused ? 5 : double(features + hidden);
    return 2 * double(rows()) * double(gates() * hidden) * products;
  }
  Dims state_shape() const { return is_cell ? Dims{batch, hidden} : Dims{1, batch, hidden}; }
  Dims result_shape() const {
    return is_batch_first ? Dims{batch, steps, hidden} : Dims{steps, batch, hidden};
  }
  /// The row of x and y for step `s` of sequence `b`, which has `length` elements. Steps after its
  /// end are in order.
  std::int64_t row(std::int64_t s, std::int64_t b, std::int64_t length) const {
    const std::int64_t t = is_reverse && s < length ? length - 1 - s : s;
    return is_batch_first ? b * steps + t : t * batch + b;
  }

 private:
  void take_extents(std::string_view op, std::span<const TensorDesc> inputs);
  void take_fused_extents(std::string_view op, std::span<const TensorDesc> inputs);
};

bool is_recurrent_gradient(std::string_view op);
bool is_recurrent_cell(std::string_view op);

/// The results of the forward operator or of the gradient, in fp64.
Reference recurrent_reference(const Problem& problem, std::span<const InputReader> inputs);

/// The running error of each result. Errors of a state reach all later steps.
Terms recurrent_terms(const Problem& problem, std::span<const InputReader> inputs);

// The parts of the definition of operator `op`: lstm, lstm_cell, lstm_gates, gru, gru_cell or
// gru_gates, or with "_grad".
std::vector<TensorSpec> recurrent_inputs(std::string_view op);
std::vector<TensorSpec> recurrent_outputs(std::string_view op);
std::vector<AttrSpec> recurrent_attrs(std::string_view op);
std::vector<TensorDesc> infer_recurrent(std::string_view op, std::span<const TensorDesc> inputs,
                                        const Attrs& attrs);
std::vector<Dims> recurrent_inputs_like(std::string_view op, const Dims& shape);
Traffic recurrent_traffic(const Problem& problem);
std::vector<GradientCall> recurrent_gradient(const Problem& forward);
void check_recurrent_values(const Problem& problem, std::span<const InputReader> inputs);

template <OpName kName>
Problem recurrent_problem(std::span<const InputReader> inputs, const Attrs& attrs) {
  const std::vector<TensorDesc> descs = descs_of(inputs);
  return {&find_op(kName.view()), descs, infer_recurrent(kName.view(), descs, attrs), attrs};
}

/// An operator without its names elsewhere. All inputs but the first five of a layer or of an
/// LSTM's cell are optional.
template <OpName kName>
Op recurrent_op(std::string_view summary, std::string_view source, KnownAs known_as) {
  constexpr std::string_view kOp = kName.view();
  return {
      .name = kOp,
      .ir_name = kOp,
      .summary = summary,
      .source = source,
      .known_as = std::move(known_as),
      .inputs = recurrent_inputs(kOp),
      .outputs = recurrent_outputs(kOp),
      .optional_inputs = is_recurrent_cell(kOp)    ? 2u
                         : kOp.starts_with("lstm") ? 5u
                                                   : 4u,
      .attrs = recurrent_attrs(kOp),
      .dtypes = kArithmeticDTypes,
      .formats = kPlainFormats,
      .infer = [](std::span<const TensorDesc> inputs,
                  const Attrs& attrs) { return infer_recurrent(kName.view(), inputs, attrs); },
      .reference =
          [](std::span<const InputReader> inputs, const Attrs& attrs) {
            return recurrent_reference(recurrent_problem<kName>(inputs, attrs), inputs);
          },
      .terms =
          [](std::span<const InputReader> inputs, const Attrs& attrs) {
            return recurrent_terms(recurrent_problem<kName>(inputs, attrs), inputs);
          },
      .traffic = recurrent_traffic,
      .gradient = kOp.ends_with("_grad") ? nullptr : recurrent_gradient,
      .inputs_like = [](const Dims& shape,
                        const Attrs&) { return recurrent_inputs_like(kName.view(), shape); },
      .check_values = check_recurrent_values,
      .mixing = Mixing::other,
      .holds_fp32 = true,
      .takes_functions = true,
      .context = {.uses_cube = true, .needs_fp32 = true},
  };
}

}  // namespace opbench
