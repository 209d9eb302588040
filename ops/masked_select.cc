// Elements or rows selected by a mask, and put back in order; the places of elements other than 0.
#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "masked_select", kScatterName = "masked_scatter",
                           kNonzero = "nonzero";

/// The axes after those of the mask.
Dims row_of(std::string_view op, const TensorDesc& x, const TensorDesc& mask, bool by_rows) {
  const bool is_prefix = mask.shape.size() <= x.shape.size() &&
                         std::equal(mask.shape.begin(), mask.shape.end(), x.shape.begin());
  if (!is_prefix || (!by_rows && mask.shape.size() != x.shape.size())) {
    throw Error(fmt::format("{}: 'mask' has shape {}; allowed: {} of shape {}", op,
                            to_string(mask.shape), by_rows ? "the first axes" : "all axes",
                            to_string(x.shape)));
  }
  return {x.shape.begin() + std::ssize(mask.shape), x.shape.end()};
}

/// The places of the mask that are true, or of other numbers than 0; NaN is one of them.
std::vector<std::int64_t> places_of(const InputReader& mask) {
  const std::vector<double> holds = mask.read_all();
  std::vector<std::int64_t> places;
  for (std::size_t i = 0; i < holds.size(); ++i) {
    if (holds[i] != 0) places.push_back(static_cast<std::int64_t>(i));
  }
  return places;
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  Dims shape = row_of(kName, inputs[0], inputs[1], attrs.flag("by_rows"));
  const std::int64_t rows = attrs.integer("rows");
  shape.insert(shape.begin(), rows < 0 ? inputs[1].elements() : rows);
  return {describe(inputs[0].dtype, std::move(shape))};
}

ExactReference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const std::int64_t length =
      element_count(row_of(kName, inputs[0].desc(), inputs[1].desc(), attrs.flag("by_rows")));
  return moved(
      inputs.first(1),
      [length, places = places_of(inputs[1])](std::size_t, std::int64_t element) -> SourceRun {
        const std::int64_t row = element / length, inside = element % length;
        if (row >= std::ssize(places)) return {SourceRun::kZeros, 0, length - inside};
        return {0, places[static_cast<std::size_t>(row)] * length + inside, length - inside};
      });
}

// Reports rows that do not fit; they would be lost.
void require_room(std::string_view op, const InputReader& mask, std::int64_t rows) {
  const std::int64_t count = std::ssize(places_of(mask));
  if (count <= rows) return;
  throw Error(fmt::format("{}: '{}' is true at {} places; allowed: at most {}", op,
                          find_op(op).input_name(op == kNonzero ? 0 : 1), count, rows));
}

std::vector<AttrSpec> by_rows_attr() {
  return {{"by_rows", false, "the mask covers the first axes; the others move together"}};
}

std::vector<GradientCall> gradient(const Problem& forward) {
  const std::pair<std::string_view, AttrValue> attrs[] = {
      {"by_rows", forward.attrs.flag("by_rows")}};
  return {{kScatterName,
           {{GradientArg::output_gradient, 0}, {GradientArg::input, 1}},
           {0},
           attrs_with(kScatterName, attrs)}};
}

Distribution mask_data(const Problem&) { return {DistributionKind::integers, 0, 1}; }

std::vector<AttrSpec> select_attrs() {
  std::vector<AttrSpec> attrs = by_rows_attr();
  attrs.push_back({"rows", std::int64_t{-1},
                   "rows of y, 0 after the selected ones; -1: as many as the mask has elements"});
  return attrs;
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = kName,
    .summary = "y = the elements (by_rows: the rows) of x where the mask is true, in order",
    .source = "torch.masked_select, x[mask]",
    .known_as = {.calls = {{"masked_select",
                            "self, mask",
                            "result|out",
                            {.attrs = "rows: rows of result|out"}},
                           {"index_Tensor",
                            "self, indices/indices_0",
                            "result",
                            {.attrs = "by_rows: =true, rows: rows of result",
                             .where = "indices/indices_1:",
                             .turn = 1}}}},
    .inputs = {{"self"}, {.name = "mask", .dtypes = {DType::boolean}, .data = mask_data}},
    .outputs = {{"result"}},
    .attrs = select_attrs(),
    .dtypes = kMovableDTypes,
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer,
    .exact_reference = reference,
    .traffic = movement_traffic,
    .gradient = gradient,
    .check_values =
        [](const Problem& problem, std::span<const InputReader> inputs) {
          require_room(kName, inputs[1], problem.outputs[0].shape[0]);
        },
}};

std::vector<TensorDesc> infer_nonzero(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const std::int64_t rows = attrs.integer("rows");
  return {describe(DType::int64,
                   {rows < 0 ? inputs[0].elements() : rows, std::ssize(inputs[0].shape)})};
}

ExactReference reference_nonzero(std::span<const InputReader> inputs, const Attrs&) {
  return [strides = row_major_strides(inputs[0].desc().shape), shape = inputs[0].desc().shape,
          places = places_of(inputs[0])](std::size_t, ElementRange range, void* to) {
    auto* const coordinates = static_cast<std::int64_t*>(to);
    for (std::int64_t i = 0; i < range.count; ++i) {
      const auto row = static_cast<std::size_t>((range.first + i) / std::ssize(shape));
      const auto axis = static_cast<std::size_t>((range.first + i) % std::ssize(shape));
      coordinates[i] = row < places.size() ? places[row] / strides[axis] % shape[axis] : 0;
    }
  };
}

// hif8 has NaN where other dtypes have -0, and e8m0 has no 0.
std::vector<DType> dtypes_of_nonzero() {
  std::vector<DType> dtypes = kMovableDTypes;
  std::erase_if(dtypes, [](DType d) { return d == DType::hif8 || d == DType::e8m0; });
  return dtypes;
}

const RegisteredOp registered_nonzero{{
    .name = kNonzero,
    .ir_name = kNonzero,
    .summary = "y = the coordinates of the elements other than 0, one row each, in order",
    .source = "torch.nonzero; CANN NonZero",
    .known_as = {.calls = {{"nonzero", "self", "result|out", {.attrs = "rows: rows of result|out"}},
                           {"NonZero", "x", {}, {.is_profiled_only = true}}},
                 .profiled = {{"NonZero", "x"}},
                 .torch = "torch.nonzero({0})"},
    .inputs = {{.name = "self", .data = mask_data}},
    .outputs = {{"result"}},
    .attrs = {{"rows", std::int64_t{-1},
               "rows of y, 0 after those of elements; -1: as many as x has elements"}},
    .dtypes = dtypes_of_nonzero(),
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer_nonzero,
    .exact_reference = reference_nonzero,
    .traffic = movement_traffic,
    .check_values =
        [](const Problem& problem, std::span<const InputReader> inputs) {
          require_room(kNonzero, inputs[0], problem.outputs[0].shape[0]);
        },
}};

std::vector<TensorDesc> infer_scatter(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  TensorDesc result = describe(inputs[0].dtype, inputs[1].shape);
  const Dims& size = attrs.list("size");
  if (!size.empty() && size != inputs[1].shape) {
    throw Error(fmt::format("{}: 'mask' has shape {}; allowed: {}, it is not broadcast",
                            kScatterName, to_string(inputs[1].shape), to_string(size)));
  }
  if (attrs.flag("by_rows")) {
    const Dims& source = inputs[0].shape;
    if (source.empty()) {
      throw Error(fmt::format("{}: 'source' is a scalar; allowed: rows", kScatterName));
    }
    Dims shape = inputs[1].shape;
    shape.insert(shape.end(), source.begin() + 1, source.end());
    result = describe(inputs[0].dtype, std::move(shape));
  }
  if (inputs.size() > 2 && inputs[2].shape != result.shape) {
    throw Error(fmt::format("{}: 'self' has shape {}; allowed: {}", kScatterName,
                            to_string(inputs[2].shape), to_string(result.shape)));
  }
  return {result};
}

std::int64_t rows_of(const TensorDesc& source, const Attrs& attrs) {
  return attrs.flag("by_rows") ? source.shape[0] : source.elements();
}

ExactReference reference_scatter(std::span<const InputReader> inputs, const Attrs& attrs) {
  const std::int64_t rows = rows_of(inputs[0].desc(), attrs);
  const Dims& source = inputs[0].desc().shape;
  const std::int64_t length =
      attrs.flag("by_rows") ? element_count({source.begin() + 1, source.end()}) : 1;
  // The row for each place; -1: no row.
  std::vector<std::int64_t> row_at(static_cast<std::size_t>(inputs[1].desc().elements()), -1);
  std::int64_t row = 0;
  for (const std::int64_t place : places_of(inputs[1])) {
    if (row < rows) row_at[static_cast<std::size_t>(place)] = row++;
  }
  std::vector<InputReader> moving = {inputs[0]};
  if (inputs.size() > 2) moving.push_back(inputs[2]);
  const std::size_t other = inputs.size() > 2 ? 1 : SourceRun::kZeros;
  return moved(
      moving,
      [length, other, row_at = std::move(row_at)](std::size_t, std::int64_t element) -> SourceRun {
        const std::int64_t inside = element % length;
        const std::int64_t from = row_at[static_cast<std::size_t>(element / length)];
        if (from < 0) return {other, element, length - inside};
        return {0, from * length + inside, length - inside};
      });
}

std::vector<AttrSpec> scatter_attrs() {
  std::vector<AttrSpec> attrs = by_rows_attr();
  attrs.push_back(
      {"size", std::vector<std::int64_t>{}, "the shape that the mask must have; []: any"});
  return attrs;
}

const RegisteredOp registered_scatter{{
    .name = kScatterName,
    .ir_name = kScatterName,
    .summary = "y = self, or 0, and where the mask is true the elements (by_rows: rows) of source, "
               "in order",
    .source = "torch.masked_scatter, x[mask] = source; torch.masked_select backward",
    .known_as = {.calls = {{"masked_scatter", "source, mask, self", "result|self|out"},
                           {"MaskedSelectBackward",
                            "grads/grads_0, mask",
                            "grad_inputs/grad_inputs_0",
                            {.attrs = "size: shape of self"}},
                           {"IndexBackward",
                            "grads/grads_0, indices/indices_0",
                            "grad_inputs/grad_inputs_0",
                            {.attrs = "by_rows: =true", .where = "indices/indices_1:", .turn = 1}},
                           {"index_put",
                            "values, indices/indices_0, self",
                            "result|self|out",
                            {.attrs = "by_rows: =true",
                             .where = "accumulate: 0, indices/indices_1:"}}}},
    .inputs = {{"source"},
               {.name = "mask", .dtypes = {DType::boolean}, .data = mask_data},
               {"self"}},
    .outputs = {{"result"}},
    .optional_inputs = 1,
    .attrs = scatter_attrs(),
    .dtypes = kMovableDTypes,
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer_scatter,
    .exact_reference = reference_scatter,
    .traffic = movement_traffic,
    .check_values =
        [](const Problem& problem, std::span<const InputReader> inputs) {
          require_room(kScatterName, inputs[1], rows_of(problem.inputs[0], problem.attrs));
        },
}};

}  // namespace
}  // namespace opbench
