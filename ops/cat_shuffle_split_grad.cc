#include "ops/format_rules.h"
#include "ops/shuffle.h"

namespace opbench {
namespace {

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  joined_shape("cat_shuffle_split_grad", inputs, attrs);
  return {inputs[0], inputs[1]};
}

ExactReference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const std::int64_t half = inputs[0].desc().shape[1];
  return joined_channels_moved(inputs, half, inverse_fp_index(2 * half, attrs.integer("groups")));
}

const RegisteredOp registered{{
    .name = "cat_shuffle_split_grad",
    .ir_name = "ChannelShuffleSplitBackward",
    .summary = "dx1, dx2 = the halves of concat(dy1, dy2) shuffled back",
    .source = "the affinity library's ChannelShuffle with split_shuffle=True, backward",
    .known_as = {.not_recorded = "a rewrite: dumps hold the operators that it joins"},
    .inputs = {{"dy1", "grads/grads_0"}, {"dy2", "grads/grads_1"}},
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
                .variant_of = "cat_shuffle_split"},
}};

}  // namespace
}  // namespace opbench
