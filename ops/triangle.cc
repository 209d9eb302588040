// Elements above or below a diagonal of matrices, as in causal masks.
#include <fmt/format.h>

#include <algorithm>

#include "ops/elementwise_op.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

void require_matrix(std::string_view op, const Dims& shape) {
  if (shape.size() >= 2) return;
  throw Error(
      fmt::format("{}: 'self' has shape {}; allowed: two axes or more", op, to_string(shape)));
}

template <OpName kName>
std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs&) {
  require_matrix(kName.view(), inputs[0].shape);
  return {inputs[0]};
}

// The elements of a row from the diagonal on, or up to it.
template <bool kIsUpper>
ExactReference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Dims& shape = inputs[0].desc().shape;
  return moved(
      inputs,
      [rows = shape.end()[-2], columns = shape.back(), diagonal = attrs.integer("diagonal")](
          std::size_t, std::int64_t element) -> SourceRun {
        const std::int64_t row = element / columns % rows, column = element % columns;
        // The first column to keep (upper), or the first to drop (lower).
        const std::int64_t border =
            std::clamp<std::int64_t>(row + diagonal + (kIsUpper ? 0 : 1), 0, columns);
        const bool is_kept = (column >= border) == kIsUpper;
        const std::int64_t count = column < border ? border - column : columns - column;
        return {is_kept ? 0 : SourceRun::kZeros, element, count};
      });
}

template <OpName kName>
std::vector<GradientCall> gradient(const Problem&) {
  return {{kName.view(), {{GradientArg::output_gradient, 0}}}};
}

std::string far_problem(const AttrValue& value) {
  constexpr std::int64_t kMost = std::int64_t{1} << 40;
  const std::int64_t diagonal = std::get<std::int64_t>(value);
  return diagonal >= -kMost && diagonal <= kMost ? "" : "it must be within 2^40";
}

template <OpName kName, bool kIsUpper>
Op triangle(std::string_view summary, std::string_view source, KnownAs known_as) {
  return {
      .name = kName.view(),
      .ir_name = kName.view(),
      .summary = summary,
      .source = source,
      .known_as = std::move(known_as),
      .inputs = {{"self"}},
      .outputs = {{"result"}},
      .attrs = {{"diagonal", std::int64_t{0}, "0: the main diagonal, positive: above it",
                 far_problem}},
      .dtypes = kMovableDTypes,
      .formats = kPlainFormats,
      .accuracy = AccuracyClass::exact,
      .infer = infer<kName>,
      .exact_reference = reference<kIsUpper>,
      .traffic = movement_traffic,
      .gradient = gradient<kName>,
  };
}

const RegisteredOp kOperators[] = {
    RegisteredOp(triangle<"triu", true>(
        "y = x from a diagonal on, 0 below it", "torch.triu",
        {.calls = {{"triu, Triu", "self|x", "result|self|out|y", {.attrs = "diagonal"}},
                   {"TriuBackward",
                    "grads/grads_0",
                    "grad_inputs/grad_inputs_0",
                    {.attrs = "diagonal"}}},
         .torch = "torch.triu({0}, {diagonal})"})),
    RegisteredOp(triangle<"tril", false>(
        "y = x up to a diagonal, 0 above it", "torch.tril",
        {.calls = {{"tril, Tril", "self|x", "result|self|out|y", {.attrs = "diagonal"}},
                   {"TrilBackward",
                    "grads/grads_0",
                    "grad_inputs/grad_inputs_0",
                    {.attrs = "diagonal"}}},
         .torch = "torch.tril({0}, {diagonal})"})),
};

}  // namespace
}  // namespace opbench
