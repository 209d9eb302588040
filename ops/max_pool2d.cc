#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "ops/conv2d.h"
#include "ops/elementwise.h"
#include "ops/format_rules.h"
#include "ops/movement.h"
#include "ops/pool.h"
#include "tensor/error.h"

namespace opbench {
namespace {

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Pool pool = max_pool_shape(inputs[0], attrs);
  const Dims& x = inputs[0].shape;
  TensorDesc result = with_shape(inputs[0], {x[0], x[1], pool.oh, pool.ow}), indices = result;
  indices.dtype = DType::int64;
  return {result, indices};
}

ExactReference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return [x = inputs[0], pool = max_pool_shape(inputs[0].desc(), attrs)](
             std::size_t output, ElementRange range, void* to) {
    const std::int64_t elements = pool.h * pool.w;
    const std::size_t size = size_of(x.desc().dtype);
    std::vector<double> values(static_cast<std::size_t>(elements));
    std::vector<std::byte> bits(values.size() * size);
    for_each_plane(
        range, pool.oh * pool.ow, [&](std::int64_t plane, ElementRange part, std::int64_t at) {
          x.read({plane * elements, elements}, values);
          x.read_bits({plane * elements, elements}, bits.data());
          for (std::int64_t i = 0; i < part.count; ++i) {
            const std::int64_t window = part.first + i;
            const std::int64_t place =
                greatest_in_window(pool, values.data(), window / pool.ow, window % pool.ow);
            if (output == 1) {
              static_cast<std::int64_t*>(to)[at + i] = place;
            } else {
              std::memcpy(static_cast<std::byte*>(to) + static_cast<std::size_t>(at + i) * size,
                          bits.data() + static_cast<std::size_t>(place) * size, size);
            }
          }
        });
  };
}

// Each index is a place in its plane; several windows may share it.
std::optional<IndexedLines> indexed(const Problem& problem, std::size_t output) {
  if (output != 1) return std::nullopt;
  const Dims &x = problem.inputs[0].shape, &y = problem.outputs[1].shape;
  return IndexedLines{.outer = x[0] * x[1], .extent = x[2] * x[3], .places = y[2] * y[3]};
}

Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  const Pair kernel = pair_of(problem.attrs, "kernel_size");
  const Dims& x = problem.inputs[0].shape;
  traffic.operations = double(problem.outputs[0].elements()) * double(std::min(kernel.h, x[2])) *
                       double(std::min(kernel.w, x[3]));
  return traffic;
}

std::vector<GradientCall> gradient(const Problem& forward) {
  const Dims& x = forward.inputs[0].shape;
  const std::pair<std::string_view, AttrValue> size[] = {
      {"input_size", std::vector<std::int64_t>{x[2], x[3]}}};
  return {{"max_pool2d_grad",
           {{GradientArg::output_gradient, 0}, {GradientArg::output, 1}},
           {0},
           attrs_with("max_pool2d_grad", size)}};
}

const RegisteredOp registered{{
    .name = "max_pool2d",
    .ir_name = "max_pool2d_with_indices",
    .summary = "the greatest element of each window and its place in the plane",
    .source = "torch.nn.functional.max_pool2d(return_indices=True); CANN MaxPoolWithArgmaxV1",
    .known_as = {.calls = {{"max_pool2d_with_indices, max_pool2d, MaxPool, MaxPoolWithArgmaxV1",
                            "self|x|X",
                            "result0|result|out|y, result1|indices|argmax",
                            {.attrs = "kernel_size: kernel_size|ksize, stride: stride|strides, "
                                      "padding: padding|pads, dilation, ceil_mode"}},
                           {"MaxPoolV3",
                            "x",
                            "y",
                            {.attrs =
                                 "kernel_size: ksize, stride: strides, padding: pads, ceil_mode",
                             .is_profiled_only = true}}},
                 .profiled = {{"MaxPool, MaxPoolWithArgmaxV1", "x", "y"},
                              {"aten::max_pool2d_with_indices, aten::max_pool2d",
                               "self, =kernel_size, =stride, =padding, =dilation, =ceil_mode"}},
                 .torch = "F.max_pool2d({0}, {kernel_size}, {stride} or None, {padding}, "
                          "{dilation}, {ceil_mode}, True)",
                 .likely = likely_of_pool},
    .inputs = {{"self"}},
    .outputs = {{"result"}, {"indices"}},
    .attrs = {{"kernel_size", std::vector<std::int64_t>{2}, "[h] or [h,w]",
               [](const AttrValue& value) { return pair_problem(value, 1); }},
              optional_pair_attr("stride", "from one window to the next; [] is the kernel's size"),
              {"padding", std::vector<std::int64_t>{0}, "on each side, at most half the kernel",
               [](const AttrValue& value) { return pair_problem(value, 0); }},
              {"dilation", std::vector<std::int64_t>{1}, "from one tap to the next; [h] or [h,w]",
               [](const AttrValue& value) { return pair_problem(value, 1); }},
              {"ceil_mode", false,
               "one more window if the last leaves a remainder; it starts inside the plane"}},
    .dtypes = kArithmeticDTypes,
    .formats = {Format::NCHW, Format::NC1HWC0},
    .accuracy = AccuracyClass::exact_value,
    .infer = infer,
    .exact_reference = reference,
    .indexed = indexed,
    .traffic = traffic,
    .gradient = gradient,
    .context = {.input_format = blocked_images},
}};

// Only windows in the padding can be empty: a dilation above the extent can step over the plane.
// Later windows start on the plane.
bool has_empty_window(const PoolAxis& axis, std::int64_t windows) {
  if (axis.dilation <= axis.extent) return false;
  for (std::int64_t i = 0; i < windows && i * axis.stride < axis.padding; ++i) {
    const TapRange taps = axis.taps_at(i);
    if (taps.first >= taps.last) return true;
  }
  return false;
}

void require_windows(const Pool& pool) {
  const auto& [kernel, stride, padding, dilation] = pool.window;
  if (pool.oh < 1 || pool.ow < 1) {
    throw Error(fmt::format(
        "max_pool2d: a kernel of {}x{} does not fit into {}x{} with padding "
        "{}x{}, dilation {}x{}",
        kernel.h, kernel.w, pool.h, pool.w, padding.h, padding.w, dilation.h, dilation.w));
  }
  if (has_empty_window(pool.rows(), pool.oh) || has_empty_window(pool.columns(), pool.ow)) {
    throw Error(
        fmt::format("max_pool2d: with dilation {}x{} and padding {}x{} a window meets no element "
                    "of {}x{}; allowed: less of either",
                    dilation.h, dilation.w, padding.h, padding.w, pool.h, pool.w));
  }
}

}  // namespace

std::vector<TapRange> taps_of(const PoolAxis& axis, std::int64_t windows) {
  std::vector<TapRange> taps;
  taps.reserve(static_cast<std::size_t>(windows));
  for (std::int64_t i = 0; i < windows; ++i) taps.push_back(axis.taps_at(i));
  return taps;
}

// The number of windows of an axis. Source: ATen's pooling_output_shape: with ceil_mode rounded up,
// minus the window that would start behind the plane.
std::int64_t pool_windows(const PoolAxis& axis, bool ceil_mode) {
  if (axis.extent < 1) return 0;
  if (!ceil_mode) {
    return window_count(axis.extent, axis.kernel, axis.stride, axis.padding, axis.dilation);
  }
  const std::int64_t room = axis.extent + 2 * axis.padding - axis.dilation * (axis.kernel - 1) - 1;
  if (room + axis.stride - 1 < 0) return 0;
  const std::int64_t count = (room + axis.stride - 1) / axis.stride + 1;
  return (count - 1) * axis.stride >= axis.extent + axis.padding ? count - 1 : count;
}

void require_planes(std::string_view op, std::string_view input, const TensorDesc& desc) {
  if (desc.shape.size() == 4) return;
  throw Error(fmt::format("{}: '{}' has shape {}; allowed: [N, C, H, W]", op, input,
                          to_string(desc.shape)));
}

Pool max_pool_shape(const TensorDesc& x, const Attrs& attrs) {
  require_planes("max_pool2d", "self", x);
  const Pair kernel = pair_of(attrs, "kernel_size"), padding = pair_of(attrs, "padding");
  const Pair stride = attrs.list("stride").empty() ? kernel : pair_of(attrs, "stride");
  if (2 * padding.h > kernel.h || 2 * padding.w > kernel.w) {
    throw Error(
        fmt::format("max_pool2d: padding is {}x{}; allowed: at most half the kernel of "
                    "{}x{}, so that no window is empty",
                    padding.h, padding.w, kernel.h, kernel.w));
  }
  Pool pool{x.shape[0] * x.shape[1],
            x.shape[2],
            x.shape[3],
            0,
            0,
            {kernel, stride, padding, pair_of(attrs, "dilation")}};
  const bool ceil_mode = attrs.flag("ceil_mode");
  pool.oh = pool_windows(pool.rows(), ceil_mode);
  pool.ow = pool_windows(pool.columns(), ceil_mode);
  require_windows(pool);
  return pool;
}

Pair input_size_of(const TensorDesc& dy, const Attrs& attrs, std::int64_t scale) {
  if (!attrs.list("input_size").empty()) return pair_of(attrs, "input_size");
  return {dy.shape[2] * scale, dy.shape[3] * scale};
}

std::int64_t greatest_in_window(const Pool& pool, const double* plane, std::int64_t oh,
                                std::int64_t ow) {
  const TapRange rows = pool.rows().taps_at(oh), columns = pool.columns().taps_at(ow);
  std::int64_t best = -1;
  for (std::int64_t h = rows.first; h < rows.last; h += pool.window.dilation.h) {
    for (std::int64_t w = columns.first; w < columns.last; w += pool.window.dilation.w) {
      const std::int64_t place = h * pool.w + w;
      if (best < 0 || plane[place] > plane[best] || std::isnan(plane[place])) best = place;
    }
  }
  return best;
}

}  // namespace opbench
