// Inputs, outputs and shapes of recurrent operators.
#include "ops/recurrent.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "ops/index.h"
#include "ops/matmul.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kGrad = "_grad", kCell = "_cell", kFused = "_gates";

bool is_lstm(std::string_view op) { return op.starts_with("lstm"); }
bool is_fused(std::string_view op) { return op.find(kFused) != op.npos; }
bool is_cell(std::string_view op) { return is_fused(op) || op.find(kCell) != op.npos; }

/// An input with its gradient, or a result with its gradient.
struct Named {
  std::string_view name, gradient;
};

std::vector<Named> input_names(std::string_view op) {
  if (is_fused(op)) {
    return {{"input_gates", "grad_input_gates"},
            {"hidden_gates", "grad_hidden_gates"},
            is_lstm(op) ? Named{"c0", "grad_c0"} : Named{"h0", "grad_h0"},
            {"bias_ih", "grad_bias_ih"},
            {"bias_hh", "grad_bias_hh"}};
  }
  std::vector<Named> all = {{"input", "grad_input"}};
  const auto add_states = [&] {
    all.push_back({"h0", "grad_h0"});
    if (is_lstm(op)) all.push_back({"c0", "grad_c0"});
  };
  if (is_cell(op)) add_states();
  all.insert(all.end(), {{"weight_ih", "grad_weight_ih"},
                         {"weight_hh", "grad_weight_hh"},
                         {"bias_ih", "grad_bias_ih"},
                         {"bias_hh", "grad_bias_hh"}});
  if (is_cell(op)) return all;
  add_states();
  all.push_back({"lengths", {}});
  return all;
}

bool is_optional(std::string_view op, std::string_view input) {
  const bool is_later = input == "h0" || input == "c0" || input == "lengths";
  return input.starts_with("bias") || (is_later && !is_cell(op));
}

std::vector<Named> result_names(std::string_view op) {
  std::vector<Named> all;
  if (!is_cell(op)) all.push_back({"y", "grad_y"});
  all.push_back({"h_n", "grad_h_n"});
  if (is_lstm(op)) all.push_back({"c_n", "grad_c_n"});
  return all;
}

std::string order_of_four(const AttrValue& value) {
  const std::string& order = std::get<std::string>(value);
  return order == "ifgo" || order == "igfo" ? "" : "it must be ifgo or igfo";
}
std::string order_of_three(const AttrValue& value) {
  const std::string& order = std::get<std::string>(value);
  return order == "rzn" || order == "zrn" ? "" : "it must be rzn or zrn";
}

// Uniform in +-1/sqrt(hidden), as PyTorch initialises them.
Distribution weights(const Problem& problem) {
  const double most = 1 / std::sqrt(double(std::max<std::int64_t>(1, Recurrence(problem).hidden)));
  return {DistributionKind::uniform, -most, most};
}
Distribution states(const Problem&) { return {DistributionKind::uniform, -1, 1}; }
Distribution lengths(const Problem& problem) {
  const std::int64_t most = std::max<std::int64_t>(1, Recurrence(problem).steps);
  return {DistributionKind::integers, 1, double(most)};
}

TensorSpec spec_of(std::string_view name) {
  TensorSpec spec{name, name, {}, unit_data};
  if (name.starts_with("weight")) spec.data = weights;
  if (name == "h0") spec.data = states;
  if (name == "lengths") {
    spec.dtypes = kIndexDTypes;
    spec.data = lengths;
    spec.differentiable = false;
  }
  return spec;
}

void require(std::string_view op, std::span<const TensorDesc> inputs, std::size_t place,
             const Dims& allowed, std::string_view meaning) {
  if (place == Recurrence::kNone || inputs[place].shape == allowed) return;
  throw Error(fmt::format("{}: '{}' has shape {}; allowed: {}, {}", op, input_names(op)[place].name,
                          to_string(inputs[place].shape), to_string(allowed), meaning));
}

}  // namespace

bool is_recurrent_gradient(std::string_view op) { return op.ends_with(kGrad); }
bool is_recurrent_cell(std::string_view op) { return is_cell(op); }

Recurrence::Recurrence(std::string_view op, std::span<const TensorDesc> inputs, const Attrs& attrs)
    : kind(is_lstm(op) ? RecurrentKind::lstm : RecurrentKind::gru),
      is_cell(opbench::is_cell(op)),
      is_fused(opbench::is_fused(op)) {
  const std::vector<Named> names = input_names(op);
  for (std::size_t i = 0; i < names.size(); ++i) {
    const std::pair<std::string_view, std::size_t*> places_of[] = {{"hidden_gates", &h_sums},
                                                                   {"weight_ih", &w_ih},
                                                                   {"weight_hh", &w_hh},
                                                                   {"bias_ih", &b_ih},
                                                                   {"bias_hh", &b_hh},
                                                                   {"h0", &h0},
                                                                   {"c0", &c0},
                                                                   {"lengths", &lengths}};
    for (const auto& [name, place] : places_of) {
      if (names[i].name != name) continue;
      if (!is_optional(op, name) || is_given(inputs, i)) *place = i;
    }
  }
  if (!is_cell) {
    is_batch_first = attrs.flag("batch_first");
    is_reverse = attrs.flag("reverse");
    const std::string& order = attrs.word("gate_order");
    if (order == "igfo") places = {0, 2, 1, 3};
    if (order == "zrn") places = {1, 0, 2};
    if (kind == RecurrentKind::lstm) forget_bias = attrs.number("forget_bias");
  }
  take_extents(op, inputs);
}

Recurrence::Recurrence(const Problem& problem)
    : Recurrence(problem.op->name,
                 std::span(problem.inputs)
                     .subspan(is_recurrent_gradient(problem.op->name)
                                  ? result_names(problem.op->name).size()
                                  : 0),
                 problem.attrs) {}

void Recurrence::take_extents(std::string_view op, std::span<const TensorDesc> inputs) {
  const Dims& of_x = inputs[x].shape;
  if (is_fused) return take_fused_extents(op, inputs);
  const Dims& of_w = inputs[w_hh].shape;
  if (of_x.size() != (is_cell ? 2 : 3)) {
    throw Error(fmt::format("{}: 'input' has shape {}; allowed: {}", op, to_string(of_x),
                            is_cell          ? "[sequences, features]"
                            : is_batch_first ? "[sequences, steps, features]"
                                             : "[steps, sequences, features]"));
  }
  if (of_w.size() != 2 || of_w[0] != gates() * of_w[1]) {
    throw Error(fmt::format(
        "{}: 'weight_hh' has shape {}; allowed: [{} H, H], rows of all gates for H states", op,
        to_string(of_w), gates()));
  }
  features = of_x.back();
  hidden = of_w[1];
  batch = is_cell || is_batch_first ? of_x[0] : of_x[1];
  if (!is_cell) steps = is_batch_first ? of_x[1] : of_x[0];
  require(op, inputs, w_ih, {gates() * hidden, features}, "rows of all gates for the features");
  require(op, inputs, b_ih, {gates() * hidden}, "all gates");
  require(op, inputs, b_hh, {gates() * hidden}, "all gates");
  require(op, inputs, h0, state_shape(), "states of one layer in one direction");
  require(op, inputs, c0, state_shape(), "states of one layer in one direction");
  require(op, inputs, lengths, {batch}, "a length for each sequence");
}

void Recurrence::take_fused_extents(std::string_view op, std::span<const TensorDesc> inputs) {
  const Dims& shape = inputs[x].shape;
  if (shape.size() != 2 || shape[1] % gates() != 0) {
    throw Error(fmt::format("{}: 'input_gates' has shape {}; allowed: [sequences, {} H]", op,
                            to_string(shape), gates()));
  }
  batch = shape[0];
  hidden = shape[1] / gates();
  require(op, inputs, h_sums, shape, "as 'input_gates'");
  require(op, inputs, b_ih, {shape[1]}, "all gates");
  require(op, inputs, b_hh, {shape[1]}, "all gates");
  require(op, inputs, h0, state_shape(), "H states");
  require(op, inputs, c0, state_shape(), "H states");
}

std::vector<TensorSpec> recurrent_inputs(std::string_view op) {
  std::vector<TensorSpec> all;
  if (is_recurrent_gradient(op)) {
    for (const Named& result : result_names(op)) {
      all.push_back({result.gradient, result.gradient, {}, unit_data});
    }
  }
  for (const Named& input : input_names(op)) all.push_back(spec_of(input.name));
  return all;
}

std::vector<TensorSpec> recurrent_outputs(std::string_view op) {
  std::vector<TensorSpec> all;
  if (!is_recurrent_gradient(op)) {
    for (const Named& result : result_names(op)) all.push_back({result.name});
    return all;
  }
  for (const Named& input : input_names(op)) {
    if (!input.gradient.empty()) all.push_back({input.gradient});
  }
  return all;
}

std::vector<AttrSpec> recurrent_attrs(std::string_view op) {
  if (is_cell(op)) return {};
  std::vector<AttrSpec> all = {
      {"batch_first", false, "input and y are [sequences, steps, ...]"},
      {"reverse", false, "from the last step of each sequence to its first"},
      {"gate_order", std::string(is_lstm(op) ? "ifgo" : "rzn"),
       is_lstm(op) ? "of the weights' rows; igfo: CANN's i, j, f, o" : "of the weights' rows",
       is_lstm(op) ? order_of_four : order_of_three}};
  if (is_lstm(op)) all.push_back({"forget_bias", 0.0, "added to the sum of the forget gate"});
  return all;
}

std::vector<TensorDesc> infer_recurrent(std::string_view op, std::span<const TensorDesc> inputs,
                                        const Attrs& attrs) {
  const std::size_t first = is_recurrent_gradient(op) ? result_names(op).size() : 0;
  const std::span<const TensorDesc> forward = inputs.subspan(first);
  const Recurrence of(op, forward, attrs);
  std::vector<TensorDesc> results;
  if (!of.is_cell) results.push_back(with_shape(forward[0], of.result_shape()));
  results.resize(of.results(), with_shape(forward[0], of.state_shape()));
  if (first == 0) return results;
  for (std::size_t i = 0; i < first; ++i) {
    if (inputs[i].shape == results[i].shape) continue;
    throw Error(fmt::format("{}: '{}' has shape {}; allowed: {}, as the result", op,
                            result_names(op)[i].gradient, to_string(inputs[i].shape),
                            to_string(results[i].shape)));
  }
  const std::size_t count = std::min(forward.size(), recurrent_outputs(op).size());
  return {forward.begin(), forward.begin() + std::ptrdiff_t(count)};
}

// x is [steps, sequences, features]; up to 12 hidden states.
std::vector<Dims> recurrent_inputs_like(std::string_view op, const Dims& shape) {
  const std::int64_t features = shape.empty() ? 1 : shape.back();
  const std::int64_t hidden = std::min<std::int64_t>(features, 12);
  const std::int64_t steps = is_cell(op) || shape.size() < 2 ? 1 : shape.front();
  const std::int64_t rows = features == 0 ? 0 : element_count(shape) / features;
  const std::int64_t batch = steps == 0 ? 0 : rows / steps;
  const std::int64_t width = (is_lstm(op) ? 4 : 3) * hidden;
  const Dims state = is_cell(op) ? Dims{batch, hidden} : Dims{1, batch, hidden};
  std::vector<Dims> all;
  if (is_recurrent_gradient(op)) {
    for (const Named& result : result_names(op)) {
      all.push_back(result.name == "y" ? Dims{steps, batch, hidden} : state);
    }
  }
  for (const auto& [name, gradient] : input_names(op)) {
    if (name.ends_with("gates")) {
      all.push_back({batch, width});
    } else if (name == "input") {
      all.push_back(is_cell(op) ? Dims{batch, features} : Dims{steps, batch, features});
    } else if (name.starts_with("weight")) {
      all.push_back({width, name == "weight_ih" ? features : hidden});
    } else if (name.starts_with("bias")) {
      all.push_back({width});
    } else if (name != "lengths") {
      all.push_back(state);
    }
  }
  return all;
}

Traffic recurrent_traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  const double passes = is_recurrent_gradient(problem.op->name) ? 3 : 1;
  traffic.operations = passes * Recurrence(problem).operations();
  return traffic;
}

std::vector<GradientCall> recurrent_gradient(const Problem& forward) {
  GradientCall call{find_op(std::string(forward.op->name) += kGrad).name, {}, {}};
  for (std::size_t i = 0; i < forward.outputs.size(); ++i) {
    call.args.push_back({GradientArg::output_gradient, i});
  }
  for (std::size_t i = 0; i < forward.inputs.size(); ++i) {
    call.args.push_back({GradientArg::input, i});
    if (forward.op->input(i).differentiable) call.of_inputs.push_back(i);
  }
  return {call};
}

void check_recurrent_values(const Problem& problem, std::span<const InputReader> inputs) {
  const Recurrence of(problem);
  if (of.lengths == Recurrence::kNone) return;
  const std::size_t first = is_recurrent_gradient(problem.op->name) ? of.results() : 0;
  check_index({problem.op->name, "lengths", of.steps + 1}, inputs[first + of.lengths].read_index());
}

}  // namespace opbench
