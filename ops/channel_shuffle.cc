#include "ops/shuffle.h"

namespace opbench {
namespace {

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  require_channels("channel_shuffle", "x", inputs[0].shape);
  require_groups("channel_shuffle", inputs[0].shape[1], attrs.integer("groups"));
  return {inputs[0]};
}

ExactReference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return moved(inputs, viewed(shuffled_view(inputs[0].desc().shape, attrs.integer("groups"))));
}

// The inverse shuffle has C / groups groups; without channels, any number.
std::vector<GradientCall> gradient(const Problem& forward) {
  const std::int64_t channels = forward.inputs[0].shape[1];
  const std::int64_t groups = channels == 0 ? 1 : channels / forward.attrs.integer("groups");
  return {{"channel_shuffle",
           {{GradientArg::output_gradient, 0}},
           {0},
           attrs_with("channel_shuffle", {{{"groups", groups}}})}};
}

const RegisteredOp registered{{
    .name = "channel_shuffle",
    .ir_name = "channel_shuffle",
    .summary = "y = x as (N, groups, C/groups, ...), the two in the middle swapped",
    .source = "torch.nn.ChannelShuffle; CANN ShuffleChannel",
    .known_as = {.calls = {{"channel_shuffle", "self", "result", {.attrs = "groups"}}},
                 .torch = "torch.nn.ChannelShuffle({groups})({0})"},
    .inputs = {{"x", "self"}},
    .outputs = {{"y", "result"}},
    .attrs = {groups_attr()},
    .dtypes = kMovableDTypes,
    .formats = kPlainFormats,
    .accuracy = AccuracyClass::exact,
    .infer = infer,
    .exact_reference = reference,
    .traffic = movement_traffic,
    .gradient = gradient,
    .context = {.view_copies = ViewCopies::in_framework},
}};

}  // namespace
}  // namespace opbench
