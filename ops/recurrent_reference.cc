// Recurrent layers in fp64, forwards and backwards. Their formulas also compute the running errors.
#include <algorithm>
#include <cmath>

#include "ops/movement.h"
#include "ops/recurrent.h"
#include "ops/running_error.h"
#include "ops/term_count.h"

namespace opbench {
namespace {

constexpr std::size_t kMostInputs = 8;

/// Rows of x, y and gates are in the order of steps, and states have one more step, the first.
template <class Number>
struct Layer {
  using Table = NumberMatrix<Number>;

  Recurrence r;
  Roundings roundings;
  std::vector<std::int64_t> lengths;
  Table x, w_ih, b_hh;
  typename Table::Factor from_h, to_h;  ///< the weights of h forwards and backwards
  Table h_products;                     ///< of a fused cell
  Table x_gates, h_gates, gates, h, c, tanh_c;

  Layer(const Recurrence& of, std::span<const InputReader> inputs, Roundings of_numbers)
      : r(of), roundings(of_numbers), lengths(std::size_t(of.batch), of.steps) {
    if (r.lengths != Recurrence::kNone) lengths = inputs[r.lengths].read_index();
    const std::int64_t width = r.gates() * r.hidden;
    const Table b_ih = read(inputs, r.b_ih, 1, width);
    if (r.is_fused) {
      x_gates = with_bias(inexact(read(inputs, r.x, r.batch, width)), b_ih);
      h_products = inexact(read(inputs, r.h_sums, r.batch, width));
    } else {
      x = in_steps(inputs[r.x], r.features);
      w_ih = read(inputs, r.w_ih, width, r.features);
      to_h = typename Table::Factor(read(inputs, r.w_hh, width, r.hidden).value);
      from_h = typename Table::Factor(to_h.value.transpose());
      x_gates = with_bias(x * w_ih.transposed(), b_ih);
    }
    b_hh = read(inputs, r.b_hh, 1, width);
    gates = h_gates = zeros(r.rows(), width);
    h = c = zeros(r.rows() + r.batch, r.hidden);
    tanh_c = zeros(r.rows(), r.hidden);
    set_rows(h, 0, read(inputs, r.h0, r.batch, r.hidden));
    set_rows(c, 0, read(inputs, r.c0, r.batch, r.hidden));
    for (std::int64_t s = 0; s < r.steps; ++s) step(s);
  }

  std::vector<Table> results() const {
    std::vector<Table> all;
    if (!r.is_cell) all.push_back(in_rows(h.rows(r.batch, r.rows())));
    all.push_back(h.rows(r.rows(), r.batch));
    if (r.kind == RecurrentKind::lstm) all.push_back(c.rows(r.rows(), r.batch));
    return all;
  }

  // The gradients of the forward operator's inputs, from those of its results.
  std::vector<Table> gradients(std::span<const InputReader> of_results) const {
    const std::size_t first = r.is_cell ? 0 : 1;
    const Table dy = r.is_cell ? zeros(r.rows(), r.hidden) : in_steps(of_results[0], r.hidden);
    Table dh = inexact(read(of_results, first, r.batch, r.hidden)), dc = zeros(r.batch, r.hidden);
    if (r.kind == RecurrentKind::lstm) {
      dc = inexact(read(of_results, first + 1, r.batch, r.hidden));
    }
    Table of_x = zeros(r.rows(), r.gates() * r.hidden), of_h = of_x;
    for (std::int64_t s = r.steps; s-- > 0;) step_back(s, dy, dh, dc, of_x, of_h);
    return gradients_of_inputs(of_x, of_h, dh, dc);
  }

  Table zeros(std::int64_t rows, std::int64_t columns) const {
    return Table::zeros(rows, columns, roundings);
  }
  Table read(std::span<const InputReader> inputs, std::size_t place, std::int64_t rows,
             std::int64_t columns) const {
    if (place == Recurrence::kNone) return zeros(rows, columns);
    return Table::exact(rows, columns, inputs[place].read_all(), roundings);
  }
  Table inexact(const Table& exact) const {
    Table result = zeros(exact.value.rows(), exact.value.cols());
    result.value = exact.value;
    return result;
  }
  static void set_rows(Table& to, std::int64_t first, const Table& from) {
    to.value.middleRows(first, from.value.rows()) = from.value;
    if (from.error.size() > 0) to.error.middleRows(first, from.error.rows()) = from.error;
  }

  // Calls body(row of steps, row of x or y, whether it is before the end) for all.
  template <class Body>
  void for_each_row(Body body) const {
    for (std::int64_t i = 0; i < r.rows(); ++i) {
      const std::int64_t s = i / r.batch, b = i % r.batch, length = lengths[std::size_t(b)];
      body(i, r.row(s, b, length), s < length);
    }
  }
  Table in_steps(const InputReader& input, std::int64_t columns) const {
    const Table from = Table::exact(r.rows(), columns, input.read_all(), roundings);
    Table to = from;
    for_each_row(
        [&](std::int64_t i, std::int64_t row, bool) { to.value.row(i) = from.value.row(row); });
    return to;
  }
  Table in_rows(const Table& from) const {
    Table to = zeros(from.value.rows(), from.value.cols());
    for_each_row([&](std::int64_t i, std::int64_t row, bool is_live) {
      if (is_live) set_rows(to, row, from.rows(i, 1));
    });
    return to;
  }
  Table with_bias(Table sums, const Table& bias) const {
    for (std::int64_t i = 0; i < sums.value.rows(); ++i) {
      for (std::int64_t j = 0; j < sums.value.cols(); ++j) {
        sums.set(i, j, sums.get(i, j) + bias.get(0, j));
      }
    }
    return sums;
  }

  std::int64_t column(std::size_t gate, std::int64_t j) const {
    return r.places[gate] * r.hidden + j;
  }
  // The rows of a step that are before the ends of their sequences.
  template <class Body>
  void for_each_element(std::int64_t s, Body body) const {
    for (std::int64_t b = 0; b < r.batch; ++b) {
      for (std::int64_t j = 0; s < lengths[std::size_t(b)] && j < r.hidden; ++j) {
        body(s * r.batch + b, b, j);
      }
    }
  }

  void step(std::int64_t s) {
    const std::int64_t before = s * r.batch, after = before + r.batch;
    set_rows(h, after, h.rows(before, r.batch));
    set_rows(c, after, c.rows(before, r.batch));
    set_rows(h_gates, before,
             with_bias(r.is_fused ? h_products : h.rows(before, r.batch).times(from_h), b_hh));
    for_each_element(s, [&](std::int64_t row, std::int64_t, std::int64_t j) {
      r.kind == RecurrentKind::lstm ? lstm(row, j) : gru(row, j);
    });
  }

  void lstm(std::int64_t row, std::int64_t j) {
    Number g[kMostGates];
    for (std::size_t q = 0; q < kMostGates; ++q) {
      const std::int64_t k = column(q, j);
      Number sum = x_gates.get(row, k) + h_gates.get(row, k);
      if (q == 1 && r.forget_bias != 0) sum = sum + forget_bias();
      g[q] = q == 2 ? tanh_of(sum) : sigmoid_of(sum);
      gates.set(row, k, g[q]);
    }
    const Number after = kept(g[1], c.get(row, j)) + g[0] * g[2], squashed = tanh_of(after);
    c.set(row + r.batch, j, after);
    tanh_c.set(row, j, squashed);
    h.set(row + r.batch, j, g[3] * squashed);
  }
  Number forget_bias() const { return Table::exact(1, 1, {r.forget_bias}, roundings).get(0, 0); }

  void gru(std::int64_t row, std::int64_t j) {
    const std::int64_t at_r = column(0, j), at_z = column(1, j), at_n = column(2, j);
    const Number reset = sigmoid_of(x_gates.get(row, at_r) + h_gates.get(row, at_r));
    const Number z = sigmoid_of(x_gates.get(row, at_z) + h_gates.get(row, at_z));
    const Number n = tanh_of(x_gates.get(row, at_n) + reset * h_gates.get(row, at_n));
    gates.set(row, at_r, reset);
    gates.set(row, at_z, z);
    gates.set(row, at_n, n);
    h.set(row + r.batch, j, rest_of(z) * n + kept(z, h.get(row, j)));
  }

  // dh and dc become the gradients of the states before the step.
  void step_back(std::int64_t s, const Table& dy, Table& dh, Table& dc, Table& of_x,
                 Table& of_h) const {
    Table direct = dh;
    for_each_element(s, [&](std::int64_t row, std::int64_t b, std::int64_t j) {
      const Number all = r.is_cell ? dh.get(b, j) : dh.get(b, j) + dy.get(row, j);
      direct.set(b, j,
                 r.kind == RecurrentKind::lstm ? lstm_back(row, b, j, all, dc, of_x)
                                               : gru_back(row, j, all, of_x, of_h));
    });
    if (r.kind == RecurrentKind::lstm) set_rows(of_h, s * r.batch, of_x.rows(s * r.batch, r.batch));
    if (r.is_fused) {
      dh = direct;
      return;
    }
    const Table through = of_h.rows(s * r.batch, r.batch).times(to_h);
    for_each_element(s, [&](std::int64_t, std::int64_t b, std::int64_t j) {
      direct.set(b, j, direct.get(b, j) + through.get(b, j));
    });
    dh = direct;
  }

  Number lstm_back(std::int64_t row, std::int64_t b, std::int64_t j, Number dh, Table& dc,
                   Table& of_x) const {
    const Number i = gates.get(row, column(0, j)), f = gates.get(row, column(1, j));
    const Number g = gates.get(row, column(2, j)), o = gates.get(row, column(3, j));
    const Number t = tanh_c.get(row, j), all = dc.get(b, j) + dh * o * rest_of(t * t);
    of_x.set(row, column(0, j), all * g * i * rest_of(i));
    of_x.set(row, column(1, j), all * c.get(row, j) * f * rest_of(f));
    of_x.set(row, column(2, j), all * i * rest_of(g * g));
    of_x.set(row, column(3, j), dh * t * o * rest_of(o));
    dc.set(b, j, kept(f, all));
    return zeros(1, 1).get(0, 0);
  }

  Number gru_back(std::int64_t row, std::int64_t j, Number dh, Table& of_x, Table& of_h) const {
    const std::int64_t at_r = column(0, j), at_z = column(1, j), at_n = column(2, j);
    const Number reset = gates.get(row, at_r), z = gates.get(row, at_z), n = gates.get(row, at_n);
    const Number dn = dh * rest_of(z) * rest_of(n * n);
    const Number dr = dn * h_gates.get(row, at_n) * reset * rest_of(reset);
    const Number dz = dh * (h.get(row, j) - n) * z * rest_of(z);
    for (Table* const of : {&of_x, &of_h}) {
      of->set(row, at_r, dr);
      of->set(row, at_z, dz);
    }
    of_x.set(row, at_n, dn);
    of_h.set(row, at_n, dn * reset);
    return kept(z, dh);
  }

  std::vector<Table> gradients_of_inputs(const Table& of_x, const Table& of_h, const Table& dh,
                                         const Table& dc) const {
    const Table ones{Table::Values::Ones(1, r.rows()), {}, roundings};
    std::vector<Table> all(kMostInputs);
    const auto add = [&](std::size_t place, Table gradient) {
      if (place != Recurrence::kNone) all[place] = std::move(gradient);
    };
    if (r.is_fused) {
      add(r.x, of_x);
      add(r.h_sums, of_h);
    } else {
      add(r.x, in_rows(of_x * w_ih));
      add(r.w_ih, of_x.transposed() * x);
      add(r.w_hh, of_h.transposed() * h.rows(0, r.rows()));
    }
    add(r.b_ih, ones * of_x);
    add(r.b_hh, ones * of_h);
    add(r.h0, dh);
    add(r.c0, dc);
    return all;
  }
};

template <class Number>
std::vector<NumberMatrix<Number>> computed(const Problem& problem,
                                           std::span<const InputReader> inputs,
                                           Roundings roundings) {
  const Recurrence of(problem);
  if (!is_recurrent_gradient(problem.op->name)) {
    return Layer<Number>(of, inputs, roundings).results();
  }
  const Layer<Number> layer(of, inputs.subspan(of.results()), roundings);
  std::vector<NumberMatrix<Number>> all = layer.gradients(inputs.first(of.results()));
  all.resize(problem.outputs.size());
  return all;
}

std::vector<double> flat(const NumberMatrix<double>::Values& values) {
  return {values.data(), values.data() + values.size()};
}

}  // namespace

Reference recurrent_reference(const Problem& problem, std::span<const InputReader> inputs) {
  std::vector<std::vector<double>> values;
  for (const auto& result : computed<double>(problem, inputs, {})) {
    values.push_back(flat(result.value));
  }
  return elements_of(std::move(values));
}

Terms recurrent_terms(const Problem& problem, std::span<const InputReader> inputs) {
  std::vector<std::vector<double>> magnitudes;
  // Small operators round their results to fp16, whose numbers below 2^-14 are equally spaced.
  const Roundings roundings{1 + weight_of_rounded_operands(problem, 0),
                            problem.inputs[0].dtype == DType::fp16 ? 0x1p-14 : 0};
  for (const auto& result : computed<Running>(problem, inputs, roundings)) {
    magnitudes.push_back(flat(result.error));
  }
  return {.magnitude = elements_of(std::move(magnitudes))};
}

}  // namespace opbench
