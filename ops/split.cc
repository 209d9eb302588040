#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "ops/elementwise.h"
#include "ops/format_rules.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::int64_t kMostParts = 4096;  // as for unbind: bounds the outputs of one operator

std::vector<std::int64_t> chunk_sizes(std::int64_t extent, std::int64_t chunks) {
  // torch.chunk returns `chunks` parts of an empty axis.
  if (extent == 0) return std::vector<std::int64_t>(static_cast<std::size_t>(chunks), 0);
  const std::int64_t size = extent / chunks + (extent % chunks != 0 ? 1 : 0);
  std::vector<std::int64_t> sizes;
  for (std::int64_t start = 0; start < extent; start += size) {
    sizes.push_back(std::min(size, extent - start));
  }
  return sizes;
}

void check_sizes(const std::vector<std::int64_t>& sizes, std::int64_t extent, std::size_t axis,
                 const Dims& shape) {
  std::int64_t left = extent;
  const bool fit = std::all_of(sizes.begin(), sizes.end(), [&](std::int64_t size) {
    return size >= 0 && size <= left && ((left -= size), true);
  });
  if (fit && left == 0 && std::ssize(sizes) <= kMostParts) return;
  throw Error(
      fmt::format("split: sizes [{}] of input 'x' with shape {}; allowed: at most {} sizes "
                  "from 0 that add up to {}, the extent of axis {}",
                  fmt::join(sizes, ","), to_string(shape), kMostParts, extent, axis));
}

// The extents of the parts of a split of `shape`: attribute `sizes`, or if it is empty `chunks`
// parts like torch.chunk: all as large as the first except the last, and fewer parts if these reach
// the end.
std::vector<std::int64_t> split_sizes(const Dims& shape, const Attrs& attrs) {
  const std::size_t axis = axis_of("split", shape, attrs.integer("axis"));
  if (attrs.list("sizes").empty()) return chunk_sizes(shape[axis], attrs.integer("chunks"));
  check_sizes(attrs.list("sizes"), shape[axis], axis, shape);
  return attrs.list("sizes");
}

std::string chunks_problem(const AttrValue& value) {
  const std::int64_t chunks = std::get<std::int64_t>(value);
  if (chunks >= 1 && chunks <= kMostParts) return {};
  return fmt::format("allowed: 1 to {}", kMostParts);
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const std::size_t axis = axis_of("split", inputs[0].shape, attrs.integer("axis"));
  std::vector<TensorDesc> outputs;
  for (const std::int64_t size : split_sizes(inputs[0].shape, attrs)) {
    Dims shape = inputs[0].shape;
    shape[axis] = size;
    outputs.push_back(with_shape(inputs[0], std::move(shape)));
  }
  return outputs;
}

ExactReference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const Dims& shape = inputs[0].desc().shape;
  const AxisView view(shape, axis_of("split", shape, attrs.integer("axis")));
  const std::int64_t row = view.extent * view.inner;
  std::vector<std::int64_t> starts{0};  // within a row: of every part, then the end
  for (const std::int64_t size : split_sizes(shape, attrs)) {
    starts.push_back(starts.back() + size * view.inner);
  }
  return moved(inputs, [starts, row](std::size_t output, std::int64_t element) -> SourceRun {
    const std::int64_t length = starts[output + 1] - starts[output];
    const std::int64_t position = element % length;
    return {0, element / length * row + starts[output] + position, length - position};
  });
}

std::vector<GradientCall> gradient(const Problem& forward) {
  GradientCall call{"concat", {}, {0}};
  for (std::size_t i = 0; i < forward.outputs.size(); ++i) {
    call.args.push_back({GradientArg::output_gradient, i});
  }
  return {call};
}

// SplitD cuts channels of NC1HWC0 only between blocks.
std::string engine_refusal(const Problem& problem, const FrameworkRules&) {
  return unaligned_cut(problem, problem.outputs);
}

// Copies of the parts: torch.split makes views, which the next operator needs dense.
std::vector<ComposedCall> compose(const Problem& problem, std::string_view) {
  return dense_parts({ComposedArg::input, 0}, problem.inputs[0].shape,
                     split_sizes(problem.inputs[0].shape, problem.attrs),
                     problem.attrs.integer("axis"));
}

const RegisteredOp registered{{
    .name = "split",
    .ir_name = "split",
    .summary = "y0, y1, ... = the parts of x along an axis",
    .source = "torch.split, torch.chunk; CANN SplitV, SplitD",
    .known_as = {.calls = {{"unsafe_split, unsafe_split_with_sizes, unsafe_chunk",
                            "self",
                            "result/result_*",
                            {.attrs = "axis: dim, sizes: extents of result/result_* along dim"}},
                           {"CatBackward",
                            "grads/grads_0",
                            "grad_inputs/grad_inputs_*",
                            {.attrs = "axis: dim, "
                                      "sizes: extents of grad_inputs/grad_inputs_* along dim"}}}},
    .inputs = {{"x", "self"}},
    .outputs = {{"y", "result/result_"}},
    .attrs = {{"axis", std::int64_t{1}, "the axis along which x is cut; negative: from the back"},
              {"sizes", std::vector<std::int64_t>{}, "extents of the parts; empty: see chunks"},
              {"chunks", std::int64_t{2}, "number of parts without sizes; the last may be smaller",
               chunks_problem}},
    .dtypes = kMovableDTypes,
    .formats = kPlainAnd5hd,
    .accuracy = AccuracyClass::exact,
    .infer = infer,
    .exact_reference = reference,
    .traffic = movement_traffic,
    .gradient = gradient,
    .context = {.view_copies = ViewCopies::in_framework,
                .engine_refusal = engine_refusal,
                .forms = {"native"},
                .compose = compose},
}};

}  // namespace
}  // namespace opbench
