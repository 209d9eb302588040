// Data movement like a framework: views made contiguous with plain stores.
#include <algorithm>

#include "kernels/cast.h"
#include "kernels/copy/strided_copy.h"
#include "kernels/simd/elementwise.h"
#include "ops/elementwise.h"
#include "ops/movement.h"
#include "ops/rearrange.h"
#include "ops/shuffle.h"
#include "ops/view_text.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

/// `part` converted to the dtype of `whole`, from `start` on along `axis`. Both are plain.
ElementCopy convert_into(const TensorDesc& part, const TensorDesc& whole, std::size_t axis,
                         std::int64_t start) {
  const AxisView from(part.shape, axis), to(whole.shape, axis);
  const std::int64_t length = from.extent * from.inner, whole_length = to.extent * to.inner;
  const auto convert = cast_loop(part.dtype, whole.dtype);
  return [=, elements = part.elements(), first = start * to.inner, from_dtype = part.dtype,
          to_dtype = whole.dtype](const void* source, void* target) {
    constexpr std::int64_t kGrain = 16 * 1024;  // elements; fewer do not repay waking a thread
    parallel_ranges(elements, kGrain, [&](std::int64_t begin, std::int64_t end) {
      while (begin < end) {
        const std::int64_t row = begin / length, position = begin % length;
        const std::int64_t count = std::min(length - position, end - begin);
        convert(at(source, from_dtype, begin),
                at(target, to_dtype, row * whole_length + first + position),
                static_cast<std::size_t>(count));
        begin += count;
      }
    });
  };
}

std::string refuse_concat(const Problem& problem) {
  const bool is_mixed = has_mixed_dtypes(*problem.op, problem.inputs);
  if (!is_mixed || problem.inputs[0].format != Format::NC1HWC0) return {};
  return "different dtypes are joined in plain formats only";
}

Launch concat(const Problem& problem) {
  const std::size_t axis =
      axis_of("concat", problem.inputs[0].shape, problem.attrs.integer("axis"));
  std::vector<ElementCopy> copies;
  std::int64_t start = 0;
  for (const TensorDesc& input : problem.inputs) {
    const bool is_same = input.dtype == problem.outputs[0].dtype;
    copies.push_back(is_same ? copy_into(input, problem.outputs[0], axis, start)
                             : convert_into(input, problem.outputs[0], axis, start));
    start += input.shape[axis];
  }
  return [copies](const KernelArgs& args) {
    for (std::size_t i = 0; i < copies.size(); ++i) copies[i](args.inputs[i], args.outputs[0]);
  };
}

Launch split(const Problem& problem) {
  const std::size_t axis = axis_of("split", problem.inputs[0].shape, problem.attrs.integer("axis"));
  std::vector<ElementCopy> copies;
  std::int64_t start = 0;
  for (const TensorDesc& output : problem.outputs) {
    copies.push_back(copy_out_of(problem.inputs[0], output, axis, start));
    start += output.shape[axis];
  }
  return [copies](const KernelArgs& args) {
    for (std::size_t i = 0; i < copies.size(); ++i) copies[i](args.inputs[0], args.outputs[i]);
  };
}

Launch contiguous_of(const Problem& problem, const StridedView& view) {
  return [copy = copy_view(view, dense_view(view.shape), size_of(problem.inputs[0].dtype))](
             const KernelArgs& args) { copy(args.inputs[0], args.outputs[0]); };
}

Launch transpose(const Problem& problem) {
  const Dims& shape = problem.inputs[0].shape;
  return contiguous_of(problem, permute(dense_view(shape), transpose_perm(shape, problem.attrs)));
}

Launch channel_shuffle(const Problem& problem) {
  return contiguous_of(problem,
                       shuffled_view(problem.inputs[0].shape, problem.attrs.integer("groups")));
}

Launch contiguous(const Problem& problem) {
  return contiguous_of(problem, parse_view(problem.attrs.word("view"), problem.inputs[0].shape));
}

const RegisteredKernel native_concat{{
    .op = "concat",
    .name = "native",
    .provider = Provider::framework,
    .summary = "each input copied into its part of the output, converted if its dtype differs",
    .refusal = refuse_concat,
    .prepare = concat,
    .promotes = true,
}};

const RegisteredKernel native_split{{
    .op = "split",
    .name = "native",
    .provider = Provider::framework,
    .summary = "views of the parts, each made contiguous",
    .prepare = split,
}};

const RegisteredKernel native_transpose{{
    .op = "transpose",
    .name = "native",
    .provider = Provider::framework,
    .summary = "permuted view, made contiguous",
    .prepare = transpose,
}};

const RegisteredKernel native_channel_shuffle{{
    .op = "channel_shuffle",
    .name = "native",
    .provider = Provider::framework,
    .summary = "view, transpose, contiguous",
    .prepare = channel_shuffle,
}};

const RegisteredKernel native_contiguous{{
    .op = "contiguous",
    .name = "native",
    .provider = Provider::framework,
    .summary = "strided view copied",
    .prepare = contiguous,
}};

}  // namespace
}  // namespace opbench
