#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <memory>

#include "ops/elementwise.h"
#include "ops/index.h"
#include "ops/movement.h"
#include "ops/terms.h"
#include "tensor/error.h"

namespace opbench {
namespace {

std::size_t axis_in(const Dims& self, const Attrs& attrs) {
  return axis_of("index_add", self, attrs.integer("axis"));
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Dims &self = inputs[0].shape, &index = inputs[1].shape, &source = inputs[2].shape;
  const std::size_t axis = axis_in(self, attrs);
  if (index.size() != 1) {
    throw Error(
        fmt::format("index_add: 'index' has shape {}; allowed: one dimension", to_string(index)));
  }
  Dims wanted = self;
  wanted[axis] = index[0];
  if (source != wanted) {
    throw Error(
        fmt::format("index_add: 'source' has shape {}; allowed: {}, that of 'self' with "
                    "the length of 'index' on axis {}",
                    to_string(source), to_string(wanted), axis));
  }
  return {inputs[0]};
}

// The rows of the source that are added to each position of the axis, in order.
using RowsAt = std::vector<std::vector<std::int64_t>>;

// The sum, or the error bound or the greatest value of its steps.
enum class Wanted { sum, rounding, greatest };

// A sum that grows addend by addend. A variant may keep it in memory and round each step to the
// dtype.
struct Steps {
  double sum = 0, squares = 0, magnitudes = 0;

  void add(double addend) {
    sum += addend;
    squares += sum * sum + addend * addend;
    magnitudes += std::fabs(addend);
  }
  // Independent rounding errors add up like squares.
  double wanted(Wanted what) const {
    if (what == Wanted::sum) return sum;
    return what == Wanted::rounding ? std::sqrt(squares) : magnitudes;
  }
};

struct Sum {
  InputReader self, source;
  AxisView view;
  double alpha;
  RowsAt rows_at;
  Wanted what;

  // Computes elements [outer][position][first, first + to.size()) of one row of the output.
  void row(std::int64_t row, std::int64_t first, std::span<double> to) const {
    thread_local std::vector<double> addend;
    thread_local std::vector<Steps> steps;
    addend.resize(to.size());
    const std::int64_t outer = row / view.extent, count = std::ssize(to);
    const std::int64_t added = source.desc().elements() / (view.outer * view.inner);
    self.read({row * view.inner + first, count}, to);
    steps.resize(to.size());
    for (std::size_t j = 0; j < to.size(); ++j) steps[j] = {to[j], 0, std::fabs(to[j])};
    for (const std::int64_t i : rows_at[static_cast<std::size_t>(row % view.extent)]) {
      source.read({(outer * added + i) * view.inner + first, count}, addend);
      for (std::size_t j = 0; j < to.size(); ++j) steps[j].add(alpha * addend[j]);
    }
    for (std::size_t j = 0; j < to.size(); ++j) to[j] = steps[j].wanted(what);
  }

  void operator()(std::size_t, ElementRange range, std::span<double> to) const {
    for (std::int64_t done = 0; done < range.count;) {
      const std::int64_t at = range.first + done, first = at % view.inner;
      const std::int64_t count = std::min(view.inner - first, range.count - done);
      row(at / view.inner, first,
          to.subspan(static_cast<std::size_t>(done), static_cast<std::size_t>(count)));
      done += count;
    }
  }
};

template <Wanted kWhat>
Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Dims& self = inputs[0].desc().shape;
  const AxisView view(self, axis_in(self, attrs));
  RowsAt rows_at(static_cast<std::size_t>(view.extent));
  const std::vector<std::int64_t> index = inputs[1].read_index();
  for (std::size_t i = 0; i < index.size(); ++i) {
    const auto place = static_cast<std::size_t>(from_front(index[i], view.extent));
    rows_at[place].push_back(static_cast<std::int64_t>(i));
  }
  return Sum{inputs[0], inputs[2], view, attrs.number("alpha"), std::move(rows_at), kWhat};
}

void check_values(const Problem& problem, std::span<const InputReader> inputs) {
  const Dims& self = problem.inputs[0].shape;
  check_index({"index_add", "index", self[axis_in(self, problem.attrs)],
               problem.attrs.flag("negative_index")},
              inputs[1].read_index());
}

// With as many rows as places each place occurs once, like an index that restores the order of
// channels.
Distribution index_of(const Problem& problem) {
  const Dims& self = problem.inputs[0].shape;
  const std::int64_t extent = self[axis_in(self, problem.attrs)];
  if (problem.inputs[1].shape[0] == extent) return {DistributionKind::permutation};
  return problem.attrs.flag("negative_index") ? index_data_around(extent) : index_data(extent);
}

Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  traffic.operations = 2.0 * double(problem.inputs[2].elements());
  return traffic;
}

std::vector<GradientCall> gradient(const Problem& forward) {
  if (forward.attrs.number("alpha") != 1) {
    throw Error(fmt::format("index_add: no gradient for alpha {}; allowed: 1",
                            forward.attrs.number("alpha")));
  }
  return {{"", {{GradientArg::output_gradient, 0}}, {0}},
          {"index_select", {{GradientArg::output_gradient, 0}, {GradientArg::input, 1}}, {2}}};
}

const RegisteredOp registered{{
    .name = "index_add",
    .ir_name = "index_add",
    .summary = "y = self, then y[index[i]] += alpha*source[i] along the axis",
    .source = "torch.index_add, with negative_index index_put(accumulate); CANN InplaceIndexAdd",
    .known_as =
        {.calls = {{"index_add", "self, index, source", "result|self", {.attrs = "axis: dim"}}},
         .torch = "torch.index_add({0}, {axis}, {1}, {2}, alpha={alpha})"},
    .inputs = {{"self"}, {.name = "index", .dtypes = kIndexDTypes, .data = index_of}, {"source"}},
    .outputs = {{"result"}},
    .attrs = {{"axis", std::int64_t{0}, "the axis that the index counts along"},
              {"alpha", 1.0, "factor of the source"},
              negative_index_attr()},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainFormats,
    .infer = infer,
    .reference = reference<Wanted::sum>,
    .terms =
        [](std::span<const InputReader> inputs, const Attrs& attrs) {
          return Terms{.magnitude = reference<Wanted::rounding>(inputs, attrs),
                       .greatest = reference<Wanted::greatest>(inputs, attrs)};
        },
    .traffic = traffic,
    .gradient = gradient,
    .inputs_like =
        [](const Dims& shape, const Attrs& attrs) {
          return std::vector<Dims>{shape, {shape[axis_in(shape, attrs)]}, shape};
        },
    .check_values = check_values,
    // The first input is zeros, created like the gradient that is added.
    .context = {.device_name = "InplaceIndexAdd", .leading_input = 2},
}};

}  // namespace
}  // namespace opbench
