#include <algorithm>
#include <memory>

#include "ops/movement.h"
#include "ops/order.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

std::size_t axis_in(std::string_view op, const Dims& shape, const Attrs& attrs) {
  return axis_of(op, shape, attrs.integer("axis"));
}

// Sorts one line along the axis: `order[k]` becomes the place of the k-th element. Places break
// ties, so any sorting algorithm is stable.
template <class T>
void sort_line(const T* x, const AxisView& view, bool descending, std::int64_t* order) {
  for (std::int64_t k = 0; k < view.extent; ++k) order[k] = k;
  std::sort(order, order + view.extent, [&](std::int64_t a, std::int64_t b) {
    const T first = x[a * view.inner], second = x[b * view.inner];
    const bool less = descending ? is_less(second, first) : is_less(first, second);
    const bool greater = descending ? is_less(first, second) : is_less(second, first);
    return less || (!greater && a < b);
  });
}

// The place along the axis of the input, for every element of the output.
std::vector<std::int64_t> places(const InputReader& input, const AxisView& view, bool descending) {
  const std::int64_t elements = input.desc().elements();
  std::vector<std::int64_t> result(static_cast<std::size_t>(elements));
  visit_ordered(input.desc().dtype, [&](auto tag) {
    std::vector<decltype(tag)> x(result.size());
    input.read_bits({0, elements}, x.data());
    if (view.extent == 0) return;
    parallel_blocks(view.outer * view.inner, [&](std::int64_t line) {
      const std::int64_t outer = line / view.inner;
      const std::int64_t first = outer * view.extent * view.inner + line % view.inner;
      std::vector<std::int64_t> order(static_cast<std::size_t>(view.extent));
      sort_line(x.data() + first, view, descending, order.data());
      for (std::int64_t k = 0; k < view.extent; ++k) {
        result[static_cast<std::size_t>(first + k * view.inner)] =
            order[static_cast<std::size_t>(k)];
      }
    });
  });
  return result;
}

// The source of the sorted elements, element by element.
SourceMap sorted(std::shared_ptr<const std::vector<std::int64_t>> from, const AxisView& view) {
  return [from, view](std::size_t, std::int64_t element) -> SourceRun {
    const std::int64_t line = view.extent * view.inner;
    return {0,
            element / line * line + (*from)[static_cast<std::size_t>(element)] * view.inner +
                element % view.inner,
            1};
  };
}

// kValues: output 0 has the sorted elements and output 1 their places; otherwise the places are the
// only output.
template <bool kValues>
ExactReference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Dims& shape = inputs[0].desc().shape;
  const AxisView view(shape, axis_in("sort", shape, attrs));
  auto from = std::make_shared<const std::vector<std::int64_t>>(
      places(inputs[0], view, attrs.flag("descending")));
  return [from, values = moved(inputs, sorted(from, view))](std::size_t output, ElementRange range,
                                                            void* to) {
    if (kValues && output == 0) return values(0, range, to);
    std::copy_n(from->begin() + range.first, range.count, static_cast<std::int64_t*>(to));
  };
}

template <bool kValues>
std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  axis_in(kValues ? "sort" : "argsort", inputs[0].shape, attrs);
  TensorDesc indices = inputs[0];
  indices.dtype = DType::int64;
  if (kValues) return {inputs[0], indices};
  return {indices};
}

template <bool kValues>
std::optional<IndexedLines> indexed(const Problem& problem, std::size_t output) {
  if (kValues && output == 0) return std::nullopt;
  const Dims& shape = problem.inputs[0].shape;
  const AxisView view(shape, axis_in("sort", shape, problem.attrs));
  return indexed_along(view, view.extent, true);
}

// Operations are not counted: the number of comparisons depends on the algorithm.
constexpr auto kTraffic = movement_traffic;

std::vector<AttrSpec> sort_attrs() {
  return {{"axis", std::int64_t{-1}, "the axis that is sorted"},
          {"descending", false, "the greatest first"}};
}

const RegisteredOp sort_op{{
    .name = "sort",
    .ir_name = "sort",
    .summary = "the elements along an axis in order, and their places; stable, NaN greatest",
    .source = "torch.sort(stable=True); CANN Sort",
    .known_as = {.calls = {{"sort, Sort",
                            "self|x",
                            "values|result0|y1, indices|result1|y2",
                            {.attrs = "axis: dim|axis, descending"}}},
                 .profiled = {{"Sort", "x", "y1"}},
                 .torch = "torch.sort({0}, dim={axis}, descending={descending}, stable=True)"},
    .inputs = {{"self"}},
    .outputs = {{"values"}, {"indices"}},
    .attrs = sort_attrs(),
    .dtypes = kOrderedDTypes,
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer<true>,
    .exact_reference = reference<true>,
    .indexed = indexed<true>,
    .traffic = kTraffic,
}};

const RegisteredOp argsort_op{{
    .name = "argsort",
    .ir_name = "argsort",
    .summary = "the places of the elements along an axis in order; stable, NaN greatest",
    .source = "torch.argsort(stable=True); CANN Sort",
    .known_as = {.calls = {{"argsort", "self", "result", {.attrs = "axis: dim, descending"}}},
                 .torch = "torch.sort({0}, dim={axis}, descending={descending}, stable=True)[1]"},
    .inputs = {{"self"}},
    .outputs = {{"result"}},
    .attrs = sort_attrs(),
    .dtypes = kOrderedDTypes,
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer<false>,
    .exact_reference = reference<false>,
    .indexed = indexed<false>,
    .traffic = kTraffic,
}};

}  // namespace
}  // namespace opbench
