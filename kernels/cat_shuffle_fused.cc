// Concat, channel shuffle and chunk of two tensors in one pass: every channel goes from its input
// straight to its place.
#include "kernels/copy/row_copy.h"
#include "kernels/simd/elementwise.h"
#include "ops/shuffle.h"

namespace opbench {
namespace {

// Output channel i, counted through the outputs, is input channel source[i], counted through the
// inputs.
Launch copy_channels(const Problem& problem, const std::vector<std::int64_t>& source) {
  const AxisView in(problem.inputs[0].shape, 1), out(problem.outputs[0].shape, 1);
  const std::int64_t row = in.inner * static_cast<std::int64_t>(size_of(problem.inputs[0].dtype));
  RowPlan plan{.outer = in.outer,
               .input_strides = std::vector<std::int64_t>(problem.inputs.size(), in.extent * row),
               .outputs = std::vector<std::vector<RowSource>>(problem.outputs.size())};
  for (std::size_t i = 0; i < source.size(); ++i) {
    const auto output = i / static_cast<std::size_t>(out.extent);
    plan.outputs[output].push_back(
        {static_cast<std::size_t>(source[i] / in.extent), source[i] % in.extent * row, row});
  }
  return copy_rows(std::move(plan), outgrows_cache(problem));
}

std::int64_t channels_of(const Problem& problem) {
  return problem.inputs[0].shape[1] * static_cast<std::int64_t>(problem.inputs.size());
}

Launch forward(const Problem& problem) {
  return copy_channels(problem, fp_index(channels_of(problem), problem.attrs.integer("groups")));
}

Launch backward(const Problem& problem) {
  return copy_channels(problem,
                       inverse_fp_index(channels_of(problem), problem.attrs.integer("groups")));
}

constexpr std::string_view kForward = "one pass: every channel straight to its place, streamed";
constexpr std::string_view kBackward = "one pass: every channel straight back, streamed";

const RegisteredKernel cat_shuffle{{.op = "cat_shuffle",
                                    .name = "fused",
                                    .provider = Provider::npu,
                                    .summary = kForward,
                                    .prepare = forward}};
const RegisteredKernel cat_shuffle_split{{.op = "cat_shuffle_split",
                                          .name = "fused",
                                          .provider = Provider::npu,
                                          .summary = kForward,
                                          .prepare = forward}};
const RegisteredKernel cat_shuffle_grad{{.op = "cat_shuffle_grad",
                                         .name = "fused",
                                         .provider = Provider::npu,
                                         .summary = kBackward,
                                         .prepare = backward}};
const RegisteredKernel cat_shuffle_split_grad{{.op = "cat_shuffle_split_grad",
                                               .name = "fused",
                                               .provider = Provider::npu,
                                               .summary = kBackward,
                                               .prepare = backward}};

}  // namespace
}  // namespace opbench
