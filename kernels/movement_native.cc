// Data movement as a framework does it: views, made contiguous by an element loop through strides.
#include "kernels/move/element_copy.h"
#include "kernels/registry/kernel.h"
#include "ops/movement.h"
#include "ops/shuffle.h"
#include "ops/transpose.h"
#include "ops/view_text.h"

namespace opbench {
namespace {

Launch concat(const Problem& problem) {
  const std::size_t axis =
      axis_of("concat", problem.inputs[0].shape, problem.attrs.integer("axis"));
  std::vector<ElementCopy> copies;
  std::int64_t start = 0;
  for (const TensorDesc& input : problem.inputs) {
    copies.push_back(copy_into(input, problem.outputs[0], axis, start));
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
  return [copy = copy_elements(view, dense_view(view.shape), size_of(problem.inputs[0].dtype))](
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
    .summary = "each input copied into its part of the output, element by element",
    .prepare = concat,
}};

const RegisteredKernel native_split{{
    .op = "split",
    .name = "native",
    .provider = Provider::framework,
    .summary = "views of the parts, each made contiguous element by element",
    .prepare = split,
}};

const RegisteredKernel native_transpose{{
    .op = "transpose",
    .name = "native",
    .provider = Provider::framework,
    .summary = "permuted view, made contiguous element by element",
    .prepare = transpose,
}};

const RegisteredKernel native_channel_shuffle{{
    .op = "channel_shuffle",
    .name = "native",
    .provider = Provider::framework,
    .summary = "view, transpose, contiguous element by element",
    .prepare = channel_shuffle,
}};

const RegisteredKernel native_contiguous{{
    .op = "contiguous",
    .name = "native",
    .provider = Provider::framework,
    .summary = "strided view copied element by element",
    .prepare = contiguous,
}};

}  // namespace
}  // namespace opbench
