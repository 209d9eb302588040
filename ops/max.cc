#include <fmt/format.h>

#include <memory>

#include "ops/movement.h"
#include "ops/order.h"
#include "tensor/error.h"

namespace opbench {
namespace {

std::size_t axis_in(const Dims& shape, const Attrs& attrs) {
  return axis_of("max", shape, attrs.integer("axis"));
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const TensorDesc& x = inputs[0];
  const std::size_t axis = axis_in(x.shape, attrs);
  if (x.shape[axis] == 0) {
    throw Error(fmt::format("max: axis {} of 'self' is empty in shape {}; a maximum needs elements",
                            axis, to_string(x.shape)));
  }
  Dims shape = x.shape;
  if (attrs.flag("keep_dims")) {
    shape[axis] = 1;
  } else {
    shape.erase(shape.begin() + static_cast<std::ptrdiff_t>(axis));
  }
  return {describe(x.dtype, shape), describe(DType::int64, shape)};
}

// The place along the axis of the first element that no other element exceeds.
template <class T>
std::int64_t first_greatest(const T* line, const AxisView& view) {
  std::int64_t best = 0;
  for (std::int64_t k = 1; k < view.extent; ++k) {
    if (is_less(line[best * view.inner], line[k * view.inner])) best = k;
  }
  return best;
}

ExactReference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const TensorDesc& desc = inputs[0].desc();
  const auto x = std::make_shared<std::vector<std::byte>>(desc.bytes());
  inputs[0].read_bits({0, desc.elements()}, x->data());
  const AxisView view(desc.shape, axis_in(desc.shape, attrs));
  return [x, view, dtype = desc.dtype](std::size_t output, ElementRange range, void* to) {
    visit_ordered(dtype, [&](auto tag) {
      using T = decltype(tag);
      for (std::int64_t i = 0; i < range.count; ++i) {
        const std::int64_t element = range.first + i;
        const T* line = reinterpret_cast<const T*>(x->data()) +
                        element / view.inner * view.extent * view.inner + element % view.inner;
        const std::int64_t place = first_greatest(line, view);
        if (output == 0) {
          static_cast<T*>(to)[i] = line[place * view.inner];
        } else {
          static_cast<std::int64_t*>(to)[i] = place;
        }
      }
    });
  };
}

std::optional<IndexedLines> indexed(const Problem& problem, std::size_t output) {
  if (output != 1) return std::nullopt;
  const Dims& shape = problem.inputs[0].shape;
  return indexed_along(AxisView(shape, axis_in(shape, problem.attrs)), 1, false);
}

const RegisteredOp registered{{
    .name = "max",
    .ir_name = "max",
    .summary = "the greatest elements along an axis and the places of the first; NaN greatest",
    .source = "torch.max(dim); CANN ArgMaxWithValue",
    .known_as = {.calls = {{"max_dim, ArgMaxWithValue",
                            "self|x",
                            "values|result0|max|result, indices|result1|max_indices",
                            {.attrs = "axis: dim|dimension, keep_dims: keepdim|keep_dims"}}},
                 .profiled = {{"ArgMaxWithValue", "x", ", max"}},
                 .torch = "torch.max({0}, {axis}, {keep_dims})",
                 .likely = likely_of_max},
    .inputs = {{"self"}},
    .outputs = {{"values"}, {"indices"}},
    .attrs = {{"axis", std::int64_t{-1}, "the axis that is reduced"},
              {"keep_dims", false, "the axis stays, with one element"}},
    .dtypes = kOrderedDTypes,
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer,
    .exact_reference = reference,
    .indexed = indexed,
    .traffic = input_traffic<1>,
}};

}  // namespace
}  // namespace opbench
