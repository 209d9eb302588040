#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ops/op.h"
#include "tensor/shape.h"

namespace opbench {

inline const std::vector<DType> kMovableDTypes = {kAllDTypes.begin(), kAllDTypes.end()};
inline const std::vector<Format> kPlainFormats = {Format::NCHW, Format::ND, Format::NCDHW};

/// The source of consecutive elements of an output: `count` logical elements of input `input` from
/// `first` on. kZeros: zeros.
struct SourceRun {
  static constexpr std::size_t kZeros = SIZE_MAX;

  std::size_t input = 0;
  std::int64_t first = 0;
  std::int64_t count = 1;
};

/// Returns the run that begins at logical element `element` of output `output`. Runs may be cut
/// anywhere.
using SourceMap = std::function<SourceRun(std::size_t output, std::int64_t element)>;

/// The reference of an operator that only moves data with the dtype of the first input: bit for
/// bit, for any storage.
ExactReference moved(std::span<const InputReader> inputs, SourceMap source);

/// Like moved(inputs, source), for inputs of different floating dtypes that `dtype` represents
/// exactly.
ExactReference moved(std::span<const InputReader> inputs, DType dtype, SourceMap source);

/// The elements of `view`, a view of input `input`, in row-major order.
SourceMap viewed(StridedView view, std::size_t input = 0);

/// `shape` with the dtype of `like`, stored like it. Errors: throws Error if it does not fit.
TensorDesc with_shape(const TensorDesc& like, Dims shape);

/// The attributes of operator `op`: `values`, and defaults for the others.
Attrs attrs_with(std::string_view op,
                 std::span<const std::pair<std::string_view, AttrValue>> values);

/// The calls that make parts of `whole` dense. `whole` has shape `shape`; part i has extent
/// sizes[i] along `axis` and becomes output i.
std::vector<ComposedCall> dense_parts(const ComposedArg& whole, const Dims& shape,
                                      const std::vector<std::int64_t>& sizes, std::int64_t axis);

/// Every input is read once and every output is written once.
Traffic movement_traffic(const Problem& problem);

/// Movement plus kOperations for each element of the first input.
template <int kOperations>
Traffic input_traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  traffic.operations = kOperations * static_cast<double>(problem.inputs[0].elements());
  return traffic;
}

/// `axis` counted from the front; negative numbers count from the back. Errors: throws Error that
/// names the operator, the axis and the shape.
std::size_t axis_of(std::string_view op, const Dims& shape, std::int64_t axis);

/// A shape seen from one axis: [outer, extent, inner].
struct AxisView {
  std::int64_t outer = 1, extent = 1, inner = 1;

  AxisView(const Dims& shape, std::size_t axis);
};

/// Calls `body(first)` with the first element of every line along the axis of `view`; elements of a
/// line are `view.inner` apart.
template <class Body>
void for_each_axis_line(const AxisView& view, Body body) {
  for (std::int64_t line = 0; line < view.outer * view.inner; ++line) {
    body(line / view.inner * view.extent * view.inner + line % view.inner);
  }
}

/// Indices along an axis of the first input, in an output with `places` elements on that axis.
IndexedLines indexed_along(const AxisView& view, std::int64_t places, bool are_distinct);

/// A reference with precomputed values: those of output i are `values[i]`.
Reference elements_of(std::vector<std::vector<double>> values);

}  // namespace opbench
