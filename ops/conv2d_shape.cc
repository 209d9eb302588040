#include <fmt/format.h>

#include "ops/conv2d.h"
#include "ops/movement.h"
#include "tensor/error.h"

namespace opbench {
namespace {

// Larger extents fit no tensor; products of two such extents fit 64 bits.
constexpr std::int64_t kLargest = (std::int64_t{1} << 31) - 1;

constexpr std::string_view kLayouts[] = {"L", "H, W", "D, H, W"};
constexpr std::string_view kKernelLayouts[] = {"K", "KH, KW", "KD, KH, KW"};

void require_rank(std::string_view op, std::string_view tensor, const Dims& shape, std::size_t axes,
                  std::string_view layout) {
  const bool fits =
      shape.size() == axes + 2 &&
      std::all_of(shape.begin(), shape.end(), [](auto extent) { return extent <= kLargest; });
  if (fits) return;
  throw Error(fmt::format("{}: '{}' has shape {}; allowed: [{}], extents up to {}", op, tensor,
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

// The extents behind the first two.
Dims windowed(const Dims& shape) { return {shape.begin() + 2, shape.end()}; }

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

std::string numbers_problem(const AttrValue& value, std::size_t axes, std::int64_t least) {
  constexpr std::string_view kCounts[] = {"one number", "one or two numbers",
                                          "one or three numbers"};
  const auto& numbers = std::get<std::vector<std::int64_t>>(value);
  const bool fits = (numbers.size() == 1 || numbers.size() == axes) &&
                    std::all_of(numbers.begin(), numbers.end(), [&](std::int64_t number) {
                      return number >= least && number <= kLargest;
                    });
  if (fits) return {};
  return fmt::format("it must be {} from {} to {}", kCounts[axes - 1], least, kLargest);
}

std::string pair_problem(const AttrValue& value, std::int64_t least) {
  return numbers_problem(value, 2, least);
}

template <std::size_t kAxes>
std::vector<AttrSpec> conv_attrs() {
  constexpr std::string_view kHelp[][3] = {
      {"from one window to the next; [l]", "zeros on each side; [l]",
       "from one tap to the next; [l]"},
      {"from one window to the next; [h] or [h,w]", "zeros on each side; [h] or [h,w]",
       "from one tap to the next; [h] or [h,w]"},
      {"from one window to the next; [d] or [d,h,w]", "zeros on each side; [d] or [d,h,w]",
       "from one tap to the next; [d] or [d,h,w]"}};
  const auto& help = kHelp[kAxes - 1];
  const auto positive = [](const AttrValue& value) { return numbers_problem(value, kAxes, 1); };
  return {{"stride", std::vector<std::int64_t>{1}, help[0], positive},
          {"padding", std::vector<std::int64_t>{0}, help[1],
           [](const AttrValue& value) { return numbers_problem(value, kAxes, 0); }},
          {"dilation", std::vector<std::int64_t>{1}, help[2], positive},
          {"groups", std::int64_t{1}, "parts that the channels and the outputs are cut into",
           [](const AttrValue& value) -> std::string {
             const auto groups = std::get<std::int64_t>(value);
             return groups >= 1 && groups <= kLargest ? "" : "it must be 1 or more";
           }}};
}
template std::vector<AttrSpec> conv_attrs<1>();
template std::vector<AttrSpec> conv_attrs<2>();
template std::vector<AttrSpec> conv_attrs<3>();

AttrSpec optional_pair_attr(std::string_view name, std::string_view help) {
  return {name, std::vector<std::int64_t>{}, help, [](const AttrValue& value) {
            const bool is_empty = std::get<std::vector<std::int64_t>>(value).empty();
            return is_empty ? std::string() : pair_problem(value, 1);
          }};
}

std::vector<AttrSpec> conv2d_attrs() { return conv_attrs<2>(); }

Pair pair_of(const Attrs& attrs, std::string_view name) {
  const auto& numbers = attrs.list(name);
  return {numbers.front(), numbers.back()};
}

Dims numbers_of(const Attrs& attrs, std::string_view name, std::size_t axes) {
  const auto& numbers = attrs.list(name);
  return numbers.size() == 1 ? Dims(axes, numbers[0]) : numbers;
}

Dims convolved(std::string_view op, std::size_t axes, const Dims& x, const Dims& weight,
               const Attrs& attrs) {
  require_rank(op, "self", x, axes, fmt::format("N, C, {}", kLayouts[axes - 1]));
  require_rank(op, "weight", weight, axes,
               fmt::format("M, C/groups, {}", kKernelLayouts[axes - 1]));
  require_channels(op, x, weight, attrs.integer("groups"));
  const Dims stride = numbers_of(attrs, "stride", axes);
  const Dims padding = numbers_of(attrs, "padding", axes);
  const Dims dilation = numbers_of(attrs, "dilation", axes);
  Dims y = {x[0], weight[0]};
  for (std::size_t i = 0; i < axes; ++i) {
    y.push_back(window_count(x[i + 2], weight[i + 2], stride[i], padding[i], dilation[i]));
  }
  if (*std::min_element(y.begin() + 2, y.end()) >= 1) return y;
  throw Error(
      fmt::format("{}: a kernel of {} with dilation {} does not fit into {} with padding {}", op,
                  to_string(windowed(weight)), to_string(dilation), to_string(windowed(x)),
                  to_string(padding)));
}

Conv2d conv2d_shape(std::string_view op, const Dims& x, const Dims& weight, const Attrs& attrs) {
  const Dims y = convolved(op, 2, x, weight, attrs);
  const Window window{{weight[2], weight[3]},
                      pair_of(attrs, "stride"),
                      pair_of(attrs, "padding"),
                      pair_of(attrs, "dilation")};
  return {x[0], x[1], x[2], x[3], weight[0], y[2], y[3], attrs.integer("groups"), window};
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
