// channel_shuffle as oneDNN's shuffle primitive.
#include "kernels/onednn/primitive.h"
#include "ops/movement.h"

namespace opbench {
namespace {

// [N, C, inner, 1]: whatever the rank, the layout that the primitive is written for.
dnnl::memory::desc channels_desc(const TensorDesc& desc) {
  const AxisView view(desc.shape, 1);
  return onednn::view_desc(desc.dtype, dense_view({view.outer, view.extent, view.inner, 1}));
}

// oneDNN counts the columns of the matrix of channels where the framework counts its rows.
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

const RegisteredKernel kernel{{
    .op = "channel_shuffle",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN shuffle",
    .refusal = onednn::movement_refusal,
    .prepare = channel_shuffle,
    .note = onednn::note_of<channel_shuffle>,
}};

}  // namespace
}  // namespace opbench
