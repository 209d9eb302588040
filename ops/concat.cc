#include <fmt/format.h>

#include <algorithm>

#include "ops/elementwise.h"
#include "ops/format_rules.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

// Inputs may differ only in their extent of the axis and in their floating dtype.
void check_alike(std::span<const TensorDesc> inputs, std::size_t axis) {
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    TensorDesc wanted = inputs[0];
    wanted.dtype = inputs[i].dtype;
    if (inputs[i].shape.size() == wanted.shape.size()) wanted.shape[axis] = inputs[i].shape[axis];
    if (inputs[i] == wanted) continue;
    throw Error(
        fmt::format("concat: input 'x{}' is {}, but 'x0' is {}; allowed: equal except for the "
                    "extent of axis {}",
                    i, to_string(inputs[i]), to_string(inputs[0]), axis));
  }
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const std::size_t axis = axis_of("concat", inputs[0].shape, attrs.integer("axis"));
  check_alike(inputs, axis);
  Dims shape = inputs[0].shape;
  for (const TensorDesc& input : inputs.subspan(1)) {
    if (__builtin_add_overflow(shape[axis], input.shape[axis], &shape[axis])) {
      throw Error(fmt::format("concat: the extents of axis {} add up to more than 2^63 - 1", axis));
    }
  }
  TensorDesc output = with_shape(inputs[0], std::move(shape));
  output.dtype = promoted(inputs);
  return {output};
}

ExactReference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Dims& shape = inputs[0].desc().shape;
  const std::size_t axis = axis_of("concat", shape, attrs.integer("axis"));
  const std::int64_t inner = AxisView(shape, axis).inner;
  std::vector<std::int64_t> starts{0};  // within a row: of every input, then the end
  for (const InputReader& input : inputs) {
    starts.push_back(starts.back() + input.desc().shape[axis] * inner);
  }
  return moved(
      inputs, promoted(descs_of(inputs)), [starts](std::size_t, std::int64_t element) -> SourceRun {
        const std::int64_t row = element / starts.back(), position = element % starts.back();
        const auto next = std::upper_bound(starts.begin(), starts.end(), position);
        const std::int64_t start = *(next - 1), length = *next - start;
        return {static_cast<std::size_t>(next - starts.begin()) - 1,
                row * length + position - start, *next - position};
      });
}

std::vector<GradientCall> gradient(const Problem& forward) {
  const std::int64_t axis = forward.attrs.integer("axis");
  GradientCall call{"split", {{GradientArg::output_gradient, 0}}, {}};
  std::vector<std::int64_t> sizes;
  for (std::size_t i = 0; i < forward.inputs.size(); ++i) {
    const Dims& shape = forward.inputs[i].shape;
    sizes.push_back(shape[axis_of("concat", shape, axis)]);
    call.of_inputs.push_back(i);
  }
  call.attrs = attrs_with("split", {{{"axis", axis}, {"sizes", sizes}}});
  return {call};
}

// ConcatD joins channels of NC1HWC0 only between blocks. The last input may end inside a block.
std::string engine_refusal(const Problem& problem, const FrameworkRules&) {
  return unaligned_cut(problem, std::span(problem.inputs).first(problem.inputs.size() - 1));
}

const RegisteredOp registered{{
    .name = "concat",
    .ir_name = "cat",
    .summary = "y = the inputs one after the other along an axis",
    .source = "torch.cat; CANN ConcatD",
    .known_as = {.calls = {{"cat, concat, ConcatD, Concat",
                            "tensors/tensors_*",
                            "result|out|y",
                            {.attrs = "axis: dim|axis|concat_dim"}},
                           {"SplitBackward, SplitWithSizesBackward, UnsafeSplitBackward, "
                            "UnsafeSplitWithSizesBackward",
                            "grads/grads_*",
                            "grad_inputs/grad_inputs_0",
                            {.attrs = "axis: dim", .needs = "axis"}},
                           {"ConcatV2D",
                            "tensors/tensors_*",
                            "y",
                            {.attrs = "axis: concat_dim", .is_profiled_only = true}}},
                 .profiled = {{"ConcatD", "tensors/tensors_*", "y"}},
                 .torch = "torch.cat({inputs}, {axis})",
                 .likely = likely_axes},
    .inputs = {{"x", "tensors/tensors_"}},
    .outputs = {{"y", "result"}},
    .variadic = true,
    .attrs = {{"axis", std::int64_t{1},
               "the axis along which the inputs are joined; negative: from the back"}},
    .dtypes = kMovableDTypes,
    .formats = kPlainAnd5hd,
    .accuracy = AccuracyClass::exact,
    .infer = infer,
    .exact_reference = reference,
    .traffic = movement_traffic,
    .gradient = gradient,
    .inputs_like =
        [](const Dims& shape, const Attrs&) {
          return std::vector<Dims>{shape, shape};
        },
    .promotes = true,
    .context = {.output_format = joined_output, .engine_refusal = engine_refusal},
}};

}  // namespace
}  // namespace opbench
