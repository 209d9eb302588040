#include "ops/format_rules.h"
#include "ops/shuffle.h"

namespace opbench {
namespace {

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  return {with_shape(inputs[0], joined_shape("cat_shuffle", inputs, attrs))};
}

ExactReference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const std::int64_t channels = 2 * inputs[0].desc().shape[1];
  return joined_channels_moved(inputs, channels, fp_index(channels, attrs.integer("groups")));
}

std::vector<GradientCall> gradient(const Problem&) {
  return {{"cat_shuffle_grad", {{GradientArg::output_gradient, 0}}, {0, 1}}};
}

const RegisteredOp registered{{
    .name = "cat_shuffle",
    .ir_name = "ChannelShuffle",
    .summary = "y = channel_shuffle(concat(x1, x2), groups)",
    .source = "the affinity library's ChannelShuffle with split_shuffle=False",
    .known_as = {.not_recorded = "a rewrite: dumps hold the operators that it joins"},
    .inputs = {{"x1"}, {"x2"}},
    .outputs = {{"y", "result"}},
    .attrs = {groups_attr()},
    .dtypes = kMovableDTypes,
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer,
    .exact_reference = reference,
    .traffic = movement_traffic,
    .gradient = gradient,
    .context = {.output_format = joined_output,
                .forms = {"native", "full", "half"},
                .compose = compose_shuffle},
}};

}  // namespace
}  // namespace opbench
