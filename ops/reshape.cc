#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

[[noreturn]] void refuse(const Dims& from, const Dims& to) {
  throw Error(
      fmt::format("reshape: shape [{}] of input 'x' with shape {}; allowed: extents that "
                  "hold {} elements, one of them may be -1",
                  fmt::join(to, ","), to_string(from), element_count(from)));
}

Dims target(const Dims& from, const Attrs& attrs) {
  Dims to = attrs.list("shape");
  const auto open = std::find(to.begin(), to.end(), -1);
  if (open != to.end()) {
    *open = 1;
    if (std::any_of(to.begin(), to.end(), [](std::int64_t extent) { return extent < 0; })) {
      refuse(from, attrs.list("shape"));
    }
    const std::int64_t others = element_count(to);
    if (others == 0 || element_count(from) % others != 0) refuse(from, attrs.list("shape"));
    *open = element_count(from) / others;
  }
  const bool is_negative =
      std::any_of(to.begin(), to.end(), [](std::int64_t extent) { return extent < 0; });
  if (is_negative || element_count(to) != element_count(from)) refuse(from, attrs.list("shape"));
  return to;
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  return {with_shape(inputs[0], target(inputs[0].shape, attrs))};
}

ExactReference reference(std::span<const InputReader> inputs, const Attrs&) {
  const std::int64_t count = inputs[0].desc().elements();
  return moved(inputs, [count](std::size_t, std::int64_t element) {
    return SourceRun{0, element, count - element};
  });
}

std::vector<GradientCall> gradient(const Problem& forward) {
  return {{"reshape",
           {{GradientArg::output_gradient, 0}},
           {0},
           attrs_with("reshape", {{{"shape", forward.inputs[0].shape}}})}};
}

const RegisteredOp registered{{
    .name = "reshape",
    .ir_name = "reshape",
    .summary = "y = x in another shape, elements in the same order",
    .source = "torch.reshape; CANN Reshape",
    .known_as =
        {.calls = {{"contiguous, clone, reshape, view, flatten, unsqueeze, squeeze, detach, alias, "
                    "npu_format_cast, TransData, Identity, Reshape, TensorMove",
                    "self|x|src",
                    "result|y|dst",
                    {.attrs = "shape: shape of result|y|dst"}},
                   {"CloneBackward",
                    "grads/grads_0",
                    "grad_inputs/grad_inputs_0",
                    {.attrs = "shape: shape of grad_inputs/grad_inputs_0"}}},
         .profiled = {{"Reshape, Identity, TensorMove", "x", "y"}},
         .torch = "{0}.reshape({shape})"},
    .inputs = {{"x", "self"}},
    .outputs = {{"y", "result"}},
    .attrs = {{"shape", std::vector<std::int64_t>{-1},
               "extents of y; one may be -1: the remaining elements"}},
    .dtypes = kMovableDTypes,
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer,
    .exact_reference = reference,
    .traffic = movement_traffic,
    .gradient = gradient,
    .context = {.factor = unchanged},
}};

}  // namespace
}  // namespace opbench
