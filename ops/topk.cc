#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <numeric>

#include "ops/movement.h"
#include "ops/order.h"
#include "tensor/error.h"

namespace opbench {
namespace {

AxisView view_of(const Dims& shape, const Attrs& attrs) {
  return {shape, axis_of("topk", shape, attrs.integer("axis"))};
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const std::size_t axis = axis_of("topk", inputs[0].shape, attrs.integer("axis"));
  Dims shape = inputs[0].shape;
  const std::int64_t k = attrs.integer("k");
  if (k > shape[axis]) {
    throw Error(fmt::format("topk: k is {} on axis {} of shape {}; allowed: 1 to {}", k, axis,
                            to_string(shape), shape[axis]));
  }
  shape[axis] = k;
  return {describe(inputs[0].dtype, shape), describe(DType::int64, shape)};
}

// The places of the first elements of a sorted line; equal elements keep their order.
template <class T>
std::vector<std::int64_t> first_places(const T* line, const AxisView& view, std::int64_t k,
                                       bool largest) {
  std::vector<std::int64_t> places(static_cast<std::size_t>(view.extent));
  std::iota(places.begin(), places.end(), std::int64_t{0});
  std::stable_sort(places.begin(), places.end(), [&](std::int64_t a, std::int64_t b) {
    const T first = line[a * view.inner], second = line[b * view.inner];
    return largest ? is_less(second, first) : is_less(first, second);
  });
  places.resize(static_cast<std::size_t>(k));
  return places;
}

ExactReference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const TensorDesc& x = inputs[0].desc();
  const AxisView view = view_of(x.shape, attrs);
  const std::int64_t k = attrs.integer("k");
  auto places = std::make_shared<std::vector<std::int64_t>>(
      static_cast<std::size_t>(view.outer * k * view.inner));
  visit_ordered(x.dtype, [&](auto tag) {
    std::vector<decltype(tag)> values(static_cast<std::size_t>(x.elements()));
    inputs[0].read_bits({0, x.elements()}, values.data());
    for (std::int64_t line = 0; line < view.outer * view.inner; ++line) {
      const std::int64_t outer = line / view.inner, inside = line % view.inner;
      const std::vector<std::int64_t> first =
          first_places(values.data() + outer * view.extent * view.inner + inside, view, k,
                       attrs.flag("largest"));
      for (std::int64_t i = 0; i < k; ++i) {
        (*places)[static_cast<std::size_t>((outer * k + i) * view.inner + inside)] =
            first[static_cast<std::size_t>(i)];
      }
    }
  });
  const ExactReference values =
      moved(inputs, [places, view, k](std::size_t, std::int64_t element) -> SourceRun {
        const std::int64_t outer = element / (k * view.inner);
        const std::int64_t place = (*places)[static_cast<std::size_t>(element)];
        return {0, (outer * view.extent + place) * view.inner + element % view.inner, 1};
      });
  return [places, values](std::size_t output, ElementRange range, void* to) {
    if (output == 0) return values(0, range, to);
    std::copy_n(places->begin() + range.first, range.count, static_cast<std::int64_t*>(to));
  };
}

std::optional<IndexedLines> indexed(const Problem& problem, std::size_t output) {
  if (output != 1) return std::nullopt;
  return indexed_along(view_of(problem.inputs[0].shape, problem.attrs), problem.attrs.integer("k"),
                       true);
}

const RegisteredOp registered{{
    .name = "topk",
    .ir_name = "topk",
    .summary =
        "the k greatest (or smallest) elements along an axis in order, and their places; the "
        "first of equals first, NaN greatest",
    .source = "torch.topk; CANN TopKD",
    .known_as = {.calls =
                     {// Without `sorted` the order of the results is undefined.
                      {"topk, TopKD",
                       "self|x",
                       "values|result0, indices|result1",
                       {.attrs = "k, axis: dim, largest", .where = "sorted: 1", .needs = "k"}},
                      {"TopKV2",
                       "x",
                       "values",
                       {.attrs = "k, axis: dim, largest", .needs = "k", .is_profiled_only = true}}},
                 .profiled = {{"TopKV2", "x, =k", "values"},
                              {"aten::topk", "self, =k, =dim, =largest"}},
                 .likely = likely_of_topk},
    .inputs = {{"self"}},
    .outputs = {{"values"}, {"indices"}},
    .attrs = {{"k", std::int64_t{1}, "how many",
               [](const AttrValue& value) -> std::string {
                 return std::get<std::int64_t>(value) >= 1 ? "" : "it must be 1 or more";
               }},
              {"axis", std::int64_t{-1}, "the axis; negative: from the back"},
              {"largest", true, "the greatest elements, else the smallest"}},
    .dtypes = kOrderedDTypes,
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer,
    .exact_reference = reference,
    .indexed = indexed,
    .traffic = movement_traffic,
}};

}  // namespace
}  // namespace opbench
