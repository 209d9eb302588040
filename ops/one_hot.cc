#include <algorithm>

#include "ops/index.h"
#include "ops/movement.h"

namespace opbench {
namespace {

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  Dims shape = inputs[0].shape;
  shape.push_back(attrs.integer("num_classes"));
  return {with_shape(inputs[0], std::move(shape))};
}

ExactReference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return [indices = inputs[0].read_index(), classes = attrs.integer("num_classes"),
          dtype = inputs[0].desc().dtype](std::size_t, ElementRange range, void* to) {
    std::vector<double> ones(static_cast<std::size_t>(range.count));
    for (std::int64_t i = 0; i < range.count; ++i) {
      const std::int64_t element = range.first + i;
      const auto row = static_cast<std::size_t>(element / classes);
      ones[static_cast<std::size_t>(i)] = element % classes == indices[row] ? 1 : 0;
    }
    from_doubles(dtype, ones.data(), range.count, to);
  };
}

const RegisteredOp registered{{
    .name = "one_hot",
    .ir_name = "one_hot",
    .summary = "y[i, c] = 1 where c is x[i], else 0",
    .source = "torch.nn.functional.one_hot; CANN OneHot",
    .known_as = {.calls = {{"one_hot",
                            "self",
                            "result",
                            {.attrs = "num_classes", .needs = "num_classes"}}}},
    .inputs = {{.name = "self",
                .data =
                    [](const Problem& problem) {
                      return index_data(problem.attrs.integer("num_classes"));
                    }}},
    .outputs = {{"result"}},
    .attrs = {{"num_classes", std::int64_t{10}, "length of the new last axis",
               [](const AttrValue& value) -> std::string {
                 return std::get<std::int64_t>(value) >= 1 ? "" : "it must be 1 or more";
               }}},
    .dtypes = kIndexDTypes,
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer,
    .exact_reference = reference,
    .traffic = movement_traffic,
    .check_values =
        [](const Problem& problem, std::span<const InputReader> inputs) {
          check_index({"one_hot", "self", problem.attrs.integer("num_classes")},
                      inputs[0].read_index());
        },
}};

}  // namespace
}  // namespace opbench
