#include "ops/format_rules.h"
#include "ops/shuffle.h"

namespace opbench {
namespace {

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  joined_shape("cat_shuffle_split", inputs, attrs);
  return {inputs[0], inputs[1]};
}

ExactReference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  const std::int64_t half = inputs[0].desc().shape[1];
  return joined_channels_moved(inputs, half, fp_index(2 * half, attrs.integer("groups")));
}

std::vector<GradientCall> gradient(const Problem&) {
  return {{"cat_shuffle_split_grad",
           {{GradientArg::output_gradient, 0}, {GradientArg::output_gradient, 1}},
           {0, 1}}};
}

const RegisteredOp registered{{
    .name = "cat_shuffle_split",
    .ir_name = "ChannelShuffleSplit",
    .summary = "y1, y2 = chunk(channel_shuffle(concat(x1, x2), groups), 2)",
    .source = "the affinity library's ChannelShuffle with split_shuffle=True",
    .known_as = {.not_recorded = "a rewrite: dumps hold the operators that it joins"},
    .inputs = {{"x1"}, {"x2"}},
    .outputs = {{"y1", "result/result_0"}, {"y2", "result/result_1"}},
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
