#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>

#include "ops/movement.h"
#include "ops/rearrange.h"
#include "tensor/error.h"

namespace opbench {
namespace {

StridedView view_of(const Dims& shape, const Attrs& attrs) {
  return permute(dense_view(shape), transpose_perm(shape, attrs));
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  return {with_shape(inputs[0], view_of(inputs[0].shape, attrs).shape)};
}

ExactReference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return moved(inputs, viewed(view_of(inputs[0].desc().shape, attrs)));
}

std::vector<GradientCall> gradient(const Problem& forward) {
  const Dims perm = transpose_perm(forward.inputs[0].shape, forward.attrs);
  Dims inverse(perm.size());
  for (std::size_t i = 0; i < perm.size(); ++i) {
    inverse[static_cast<std::size_t>(perm[i])] = static_cast<std::int64_t>(i);
  }
  return {{"transpose",
           {{GradientArg::output_gradient, 0}},
           {0},
           attrs_with("transpose", {{{"perm", inverse}}})}};
}

const RegisteredOp registered{{
    .name = "transpose",
    .ir_name = "permute",
    .summary = "y = x with its axes in another order",
    .source = "torch.permute and contiguous; CANN Transpose",
    .known_as = {.calls = {{"permute, numpy_T, transpose, Transpose, TransposeD",
                            "self|x",
                            "result|y",
                            {.attrs = "perm: dims|perm", .needs = "perm"}}},
                 .profiled = {{"TransposeD", "x", "y"}, {"Transpose", "x, =perm", "y"}},
                 .torch = "{0}.permute({perm} or list(range({0}.dim()))[::-1])",
                 .likely = likely_of_transpose},
    .inputs = {{"x", "self"}},
    .outputs = {{"y", "result"}},
    .attrs = {{"perm", std::vector<std::int64_t>{},
               "axis k of y is axis perm[k] of x; empty: reversed"}},
    .dtypes = kMovableDTypes,
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer,
    .exact_reference = reference,
    .traffic = movement_traffic,
    .gradient = gradient,
}};

}  // namespace

Dims transpose_perm(const Dims& shape, const Attrs& attrs) {
  Dims axes(shape.size());
  std::iota(axes.begin(), axes.end(), 0);
  const Dims& perm = attrs.list("perm");
  if (perm.empty()) return {axes.rbegin(), axes.rend()};
  if (std::is_permutation(perm.begin(), perm.end(), axes.begin(), axes.end())) return perm;
  throw Error(
      fmt::format("transpose: perm [{}] of input 'x' with shape {}; allowed: a permutation of [{}]",
                  fmt::join(perm, ","), to_string(shape), fmt::join(axes, ",")));
}

}  // namespace opbench
