#include "ops/format_rules.h"
#include "ops/shuffle.h"

namespace opbench {
namespace {

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Dims shape = half_shape("cat_shuffle_grad", "dy", inputs[0].shape);
  require_groups("cat_shuffle_grad", inputs[0].shape[1], attrs.integer("groups"));
  return std::vector<TensorDesc>(2, with_shape(inputs[0], shape));
}

ExactReference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const std::int64_t channels = inputs[0].desc().shape[1];
  return joined_channels_moved(inputs, channels / 2,
                               inverse_fp_index(channels, attrs.integer("groups")));
}

const RegisteredOp registered{{
    .name = "cat_shuffle_grad",
    .ir_name = "ChannelShuffleBackward",
    .summary = "dx1, dx2 = the halves of dy shuffled back",
    .source = "the affinity library's ChannelShuffle with split_shuffle=False, backward",
    .known_as = {.not_recorded = "a rewrite: dumps hold the operators that it joins"},
    .inputs = {{"dy", "grads/grads_0"}},
    .outputs = {{"dx1", "grad_inputs/grad_inputs_0"}, {"dx2", "grad_inputs/grad_inputs_1"}},
    .attrs = {groups_attr()},
    .dtypes = kMovableDTypes,
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer,
    .exact_reference = reference,
    .traffic = movement_traffic,
    .context = {.output_format = joined_output,
                .forms = {"native", "index_add_host", "index_add", "full", "half"},
                .compose = compose_shuffle_grad,
                .variant_of = "cat_shuffle"},
}};

}  // namespace
}  // namespace opbench
