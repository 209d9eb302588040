#include <algorithm>

#include "ops/elementwise.h"
#include "ops/movement.h"
#include "ops/reduction.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "sum_to_size";

// Blocks of channels stay complete if channels are not summed.
std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Dims& size = attrs.list("size");
  const std::vector<bool> summed = summed_axes(kName, inputs[0].shape, size);
  const bool keeps_blocks =
      inputs[0].format == Format::NC1HWC0 && size.size() == 4 && summed.size() == 4 && !summed[1];
  return {keeps_blocks ? with_shape(inputs[0], size) : describe(inputs[0].dtype, size)};
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const std::vector<bool> summed = summed_axes(kName, inputs[0].desc().shape, attrs.list("size"));
  return
      [sums = sums_over(inputs[0], summed)](std::size_t, ElementRange range, std::span<double> to) {
        std::copy_n(sums.begin() + range.first, range.count, to.begin());
      };
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "sum",
    .summary = "y = the sums of x over the axes that size lacks or where it is 1",
    .source = "torch.Tensor.sum_to_size, the gradient of what was broadcast; CANN ReduceSumD",
    .known_as = {.calls = {{"ReduceSum, ReduceSumD", "x", "y", {.attrs = "size: shape of y"}},
                           {"sum_dim_IntList",
                            "self",
                            "result|out",
                            {.attrs = "size: kept shape of self along dim", .turn = 1}},
                           {"ExpandBackward",
                            "grads/grads_0",
                            "grad_inputs/grad_inputs_0",
                            {.attrs = "size: shape of grad_inputs/grad_inputs_0"}}},
                 .profiled = {{"ReduceSumD", "x", "y"}, {"ReduceSum", "x, =axes", "y"}}},
    .inputs = {{"self"}},
    .outputs = {{"result"}},
    .attrs = {{"size", std::vector<std::int64_t>{},
               "extents of y, aligned with those of x at the last axis; [] is a scalar",
               [](const AttrValue& value) -> std::string {
                 const auto& size = std::get<std::vector<std::int64_t>>(value);
                 const bool fits = std::all_of(size.begin(), size.end(),
                                               [](std::int64_t extent) { return extent >= 0; });
                 return fits ? "" : "its extents must be 0 or more";
               }}},
    .dtypes = kArithmeticDTypes,
    .formats = kPlainAnd5hd,
    .infer = infer,
    .reference = reference,
    .traffic = input_traffic<1>,
    .mixing = Mixing::sums,
}};

}  // namespace
}  // namespace opbench
