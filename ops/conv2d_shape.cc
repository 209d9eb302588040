#include <fmt/format.h>

#include "ops/conv2d.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

// Larger extents fit no tensor; products of two such extents fit 64 bits.
constexpr std::int64_t kLargest = (std::int64_t{1} << 31) - 1;

void require_rank(std::string_view op, std::string_view tensor, const Dims& shape,
                  std::string_view layout) {
  const bool fits = shape.size() == 4 && std::all_of(shape.begin(), shape.end(), [](auto extent) {
                      return extent <= kLargest;
                    });
  if (fits) return;
  throw Error(fmt::format("{}: '{}' has shape {}; allowed: {}, extents up to {}", op, tensor,
                          to_string(shape), layout, kLargest));
}

void require_channels(std::string_view op, const Dims& x, const Dims& weight, std::int64_t groups) {
  if (*std::min_element(weight.begin(), weight.end()) < 1 || x[1] < 1) {
    throw Error(
        fmt::format("{}: x of shape {} and weight of shape {}; a convolution needs at least "
                    "one channel, one output and one tap",
                    op, to_string(x), to_string(weight)));
  }
  if (x[1] % groups != 0 || weight[0] % groups != 0) {
    throw Error(
        fmt::format("{}: groups is {}; x has {} channels and weight {} outputs, which both "
                    "must be multiples of it",
                    op, groups, x[1], weight[0]));
  }
  if (weight[1] != x[1] / groups) {
    throw Error(
        fmt::format("{}: 'weight' of shape {} has {} channels; allowed: {}, the {} of x "
                    "divided by {} groups",
                    op, to_string(weight), weight[1], x[1] / groups, x[1], groups));
  }
}

void require_room(std::string_view op, const Dims& x, const Dims& weight, const Conv2d& conv) {
  if (conv.oh >= 1 && conv.ow >= 1) return;
  const Window& window = conv.window;
  throw Error(
      fmt::format("{}: a kernel of {}x{} with dilation {}x{} does not fit into {}x{} with "
                  "padding {}x{}",
                  op, weight[2], weight[3], window.dilation.h, window.dilation.w, x[2], x[3],
                  window.padding.h, window.padding.w));
}

}  // namespace

void store_weight_beside(const TensorDesc& x, const Attrs& attrs, TensorDesc& weight) {
  if (x.format != Format::NC1HWC0 || weight.shape.size() != 4) return;
  const std::int64_t groups = attrs.integer("groups");
  // infer reports groups that do not fit the weight; the storage does not change then.
  if (weight.shape[0] % groups != 0) return;
  weight = describe(weight.dtype, weight.shape, Format::FRACTAL_Z);
  weight.groups = static_cast<int>(groups);
}

void require_groups_stored(std::string_view op, const TensorDesc& weight, std::int64_t groups) {
  if (weight.format != Format::FRACTAL_Z || weight.groups == groups) return;
  throw Error(fmt::format("{}: 'weight' is stored in FRACTAL_Z for {} groups; allowed: {}", op,
                          weight.groups, groups));
}

void for_each_plane(ElementRange range, std::int64_t plane,
                    const std::function<void(std::int64_t, ElementRange, std::int64_t)>& body) {
  for (std::int64_t i = 0; i < range.count;) {
    const std::int64_t element = range.first + i, inside = element % plane;
    const std::int64_t count = std::min(plane - inside, range.count - i);
    body(element / plane, {inside, count}, i);
    i += count;
  }
}

bool is_depthwise(const Problem& problem) {
  const std::int64_t groups = problem.attrs.integer("groups");
  return groups > 1 && problem.inputs[0].shape.size() == 4 && groups == problem.inputs[0].shape[1];
}

bool keeps_grouped_weight(const Attrs& attrs) { return attrs.integer("groups") > 1; }

FormatChoice conv2d_output(const FormatQuery& query, FormatChoice on_device) {
  if (query.is_on_device) return on_device;
  return {query.problem.outputs[0].format, "conv2d: the framework does not convert its output"};
}

std::string pair_problem(const AttrValue& value, std::int64_t least) {
  const auto& numbers = std::get<std::vector<std::int64_t>>(value);
  const bool fits = (numbers.size() == 1 || numbers.size() == 2) &&
                    std::all_of(numbers.begin(), numbers.end(), [&](std::int64_t number) {
                      return number >= least && number <= kLargest;
                    });
  return fits ? "" : fmt::format("it must be one or two numbers from {} to {}", least, kLargest);
}

AttrSpec optional_pair_attr(std::string_view name, std::string_view help) {
  return {name, std::vector<std::int64_t>{}, help, [](const AttrValue& value) {
            const bool is_empty = std::get<std::vector<std::int64_t>>(value).empty();
            return is_empty ? std::string() : pair_problem(value, 1);
          }};
}

std::vector<AttrSpec> conv2d_attrs() {
  const auto positive = [](const AttrValue& value) { return pair_problem(value, 1); };
  return {{"stride", std::vector<std::int64_t>{1}, "from one window to the next; [h] or [h,w]",
           positive},
          {"padding", std::vector<std::int64_t>{0}, "zeros on each side; [h] or [h,w]",
           [](const AttrValue& value) { return pair_problem(value, 0); }},
          {"dilation", std::vector<std::int64_t>{1}, "from one tap to the next; [h] or [h,w]",
           positive},
          {"groups", std::int64_t{1}, "parts that the channels and the outputs are cut into",
           [](const AttrValue& value) -> std::string {
             const auto groups = std::get<std::int64_t>(value);
             return groups >= 1 && groups <= kLargest ? "" : "it must be 1 or more";
           }}};
}

Pair pair_of(const Attrs& attrs, std::string_view name) {
  const auto& numbers = attrs.list(name);
  return {numbers.front(), numbers.back()};
}

Conv2d conv2d_shape(std::string_view op, const Dims& x, const Dims& weight, const Attrs& attrs) {
  require_rank(op, "self", x, "[N, C, H, W]");
  require_rank(op, "weight", weight, "[M, C/groups, KH, KW]");
  const std::int64_t groups = attrs.integer("groups");
  require_channels(op, x, weight, groups);
  const Window window{{weight[2], weight[3]},
                      pair_of(attrs, "stride"),
                      pair_of(attrs, "padding"),
                      pair_of(attrs, "dilation")};
  Conv2d conv{x[0], x[1], x[2], x[3], weight[0], 0, 0, groups, window};
  conv.oh = window_count(conv.h, weight[2], window.stride.h, window.padding.h, window.dilation.h);
  conv.ow = window_count(conv.w, weight[3], window.stride.w, window.padding.w, window.dilation.w);
  require_room(op, x, weight, conv);
  return conv;
}

Conv2d conv2d_shape(const Problem& problem) {
  const auto& [op, inputs, outputs, attrs] = problem;
  if (op->name == "conv2d_grad_input") {
    return conv2d_shape(op->name, outputs[0].shape, inputs[1].shape, attrs);
  }
  if (op->name == "conv2d_grad_weight") {
    return conv2d_shape(op->name, inputs[1].shape, outputs[0].shape, attrs);
  }
  return conv2d_shape(op->name, inputs[0].shape, inputs[1].shape, attrs);
}

Traffic conv2d_traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  traffic.operations = conv2d_shape(problem).operations();
  if (problem.inputs.size() > 2) traffic.operations += double(problem.outputs[0].elements());
  return traffic;
}

}  // namespace opbench
