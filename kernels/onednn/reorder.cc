// transpose as oneDNN's reorder between two orders of strides.
#include "kernels/onednn/primitive.h"
#include "ops/transpose.h"

namespace opbench {
namespace {

Launch transpose(const Problem& problem) {
  onednn::match_threads();
  const Dims& shape = problem.inputs[0].shape;
  const DType dtype = problem.inputs[0].dtype;
  const StridedView view = permute(dense_view(shape), transpose_perm(shape, problem.attrs));
  const auto from = onednn::view_desc(dtype, view);
  const auto to = onednn::view_desc(dtype, dense_view(view.shape));
  const dnnl::reorder::primitive_desc desc(onednn::engine(), from, onednn::engine(), to);
  return onednn::launch(
      {{dnnl::reorder(desc), {{DNNL_ARG_FROM, from, 0}}, {{DNNL_ARG_TO, to, 0}}}});
}

const RegisteredKernel kernel{{
    .op = "transpose",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN reorder from permuted strides",
    .refusal = onednn::movement_refusal,
    .prepare = transpose,
}};

}  // namespace
}  // namespace opbench
