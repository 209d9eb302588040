// concat and channel_shuffle as primitives of oneDNN, and split as one reorder for every part.
#include "kernels/onednn/primitive.h"
#include "ops/movement.h"

namespace opbench {
namespace {

// [N, C, inner, 1] for any rank: the layout that the primitive is optimised for.
dnnl::memory::desc channels_desc(const TensorDesc& desc) {
  const AxisView view(desc.shape, 1);
  return onednn::view_desc(desc.dtype, dense_view({view.outer, view.extent, view.inner, 1}));
}

// oneDNN's group size is the number of columns of the channel matrix; the framework's is that of
// rows.
dnnl::shuffle_forward::primitive_desc primitive(const Problem& problem) {
  const std::int64_t columns = problem.inputs[0].shape[1] / problem.attrs.integer("groups");
  return {{dnnl::prop_kind::forward_inference, channels_desc(problem.inputs[0]), 1,
           static_cast<int>(columns)},
          onednn::engine()};
}

Launch channel_shuffle(const Problem& problem) {
  onednn::match_threads();
  const auto memory = channels_desc(problem.inputs[0]);
  return onednn::launch({{dnnl::shuffle_forward(primitive(problem)),
                          {{DNNL_ARG_SRC, memory, 0}},
                          {{DNNL_ARG_DST, memory, 0}}}});
}

const RegisteredKernel shuffle_kernel{{
    .op = "channel_shuffle",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN shuffle",
    .refusal = onednn::movement_refusal,
    .prepare = channel_shuffle,
    .note = onednn::note_of<channel_shuffle>,
}};

std::size_t joined_axis(const Problem& problem) {
  return axis_of(problem.op->name, problem.inputs[0].shape, problem.attrs.integer("axis"));
}

std::string refuse_concat(const Problem& problem) {
  const std::string reason = onednn::movement_refusal(problem);
  return reason.empty() ? onednn::blocks_refusal(problem.inputs, joined_axis(problem)) : reason;
}

std::string refuse_split(const Problem& problem) {
  const std::string reason = onednn::movement_refusal(problem);
  return reason.empty() ? onednn::blocks_refusal(problem.outputs, joined_axis(problem)) : reason;
}

Launch concat(const Problem& problem) {
  onednn::match_threads();
  const auto joined = onednn::axes_desc(problem.outputs[0]);
  std::vector<dnnl::memory::desc> parts;
  std::vector<onednn::Argument> arguments;
  for (std::size_t i = 0; i < problem.inputs.size(); ++i) {
    parts.push_back(onednn::axes_desc(problem.inputs[i]));
    arguments.push_back({DNNL_ARG_MULTIPLE_SRC + static_cast<int>(i), parts.back(), i});
  }
  const auto axis = onednn::stored_axis(problem.inputs[0], joined_axis(problem));
  const dnnl::concat::primitive_desc desc(joined, static_cast<int>(axis), parts, onednn::engine());
  return onednn::launch({{dnnl::concat(desc), arguments, {{DNNL_ARG_DST, joined, 0}}}});
}

Launch split(const Problem& problem) {
  onednn::match_threads();
  const auto joined = onednn::axes_desc(problem.inputs[0]);
  const std::size_t axis = onednn::stored_axis(problem.inputs[0], joined_axis(problem));
  dnnl::memory::dims start(joined.dims().size(), 0);
  std::vector<onednn::Step> steps;
  for (std::size_t i = 0; i < problem.outputs.size(); ++i) {
    const auto part = onednn::axes_desc(problem.outputs[i]);
    const auto from = joined.submemory_desc(part.dims(), start);
    const dnnl::reorder::primitive_desc desc(onednn::engine(), from, onednn::engine(), part);
    steps.push_back({dnnl::reorder(desc), {{DNNL_ARG_FROM, from, 0}}, {{DNNL_ARG_TO, part, i}}});
    start[axis] += part.dims()[axis];
  }
  return onednn::launch(steps);
}

const RegisteredKernel concat_kernel{{
    .op = "concat",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN concat",
    .refusal = refuse_concat,
    .prepare = concat,
}};

const RegisteredKernel split_kernel{{
    .op = "split",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN reorder, one for each part",
    .refusal = refuse_split,
    .prepare = split,
}};

}  // namespace

}  // namespace opbench
