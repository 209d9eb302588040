#include <fmt/format.h>

#include <algorithm>

#include "ops/conv2d.h"
#include "ops/elementwise.h"
#include "ops/format_rules.h"
#include "ops/movement.h"
#include "ops/pool.h"
#include "tensor/error.h"

namespace opbench {
namespace {

constexpr std::string_view kName = "avg_pool2d", kGradName = "avg_pool2d_grad";

// The windows without their extents, which the caller sets.
AvgPool windows_of(std::string_view op, std::int64_t planes, const Attrs& attrs) {
  const Pair kernel = pair_of(attrs, "kernel_size"), padding = pair_of(attrs, "padding");
  const Pair stride = attrs.list("stride").empty() ? kernel : pair_of(attrs, "stride");
  if (2 * padding.h > kernel.h || 2 * padding.w > kernel.w) {
    throw Error(
        fmt::format("{}: padding is {}x{}; allowed: at most half the kernel of {}x{}, so that no "
                    "window is empty",
                    op, padding.h, padding.w, kernel.h, kernel.w));
  }
  return {{planes, 0, 0, 0, 0, {kernel, stride, padding, {1, 1}}}, attrs.flag("count_include_pad")};
}

std::vector<TensorDesc> infer(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Pool pool = avg_pool_shape(inputs[0], attrs).pool;
  const Dims& x = inputs[0].shape;
  return {with_shape(inputs[0], {x[0], x[1], pool.oh, pool.ow})};
}

std::vector<TensorDesc> infer_grad(std::span<const TensorDesc> inputs, const Attrs& attrs) {
  const Pool pool = avg_pool_grad_shape(inputs[0], attrs).pool;
  const Dims& dy = inputs[0].shape;
  return {with_shape(inputs[0], {dy[0], dy[1], pool.h, pool.w})};
}

double mean_of_window(const AvgPool& avg, const std::vector<double>& plane, std::int64_t oh,
                      std::int64_t ow) {
  const TapRange rows = avg.pool.rows().taps_at(oh), columns = avg.pool.columns().taps_at(ow);
  double sum = 0;
  for (std::int64_t h = rows.first; h < rows.last; ++h) {
    for (std::int64_t w = columns.first; w < columns.last; ++w) {
      sum += plane[static_cast<std::size_t>(h * avg.pool.w + w)];
    }
  }
  return sum / avg.divisor(oh, ow);
}

Reference reference(std::span<const InputReader> inputs, const Attrs& attrs) {
  return [x = inputs[0], avg = avg_pool_shape(inputs[0].desc(), attrs)](
             std::size_t, ElementRange range, std::span<double> to) {
    const std::int64_t elements = avg.pool.h * avg.pool.w;
    std::vector<double> values(static_cast<std::size_t>(elements));
    for_each_plane(range, avg.pool.oh * avg.pool.ow,
                   [&](std::int64_t plane, ElementRange part, std::int64_t at) {
                     x.read({plane * elements, elements}, values);
                     for (std::int64_t i = 0; i < part.count; ++i) {
                       const std::int64_t window = part.first + i;
                       to[static_cast<std::size_t>(at + i)] =
                           mean_of_window(avg, values, window / avg.pool.ow, window % avg.pool.ow);
                     }
                   });
  };
}

void add_share(const AvgPool& avg, std::int64_t oh, std::int64_t ow, double dy,
               std::vector<double>& sums) {
  const TapRange rows = avg.pool.rows().taps_at(oh), columns = avg.pool.columns().taps_at(ow);
  const double share = dy / avg.divisor(oh, ow);
  for (std::int64_t h = rows.first; h < rows.last; ++h) {
    for (std::int64_t w = columns.first; w < columns.last; ++w) {
      sums[static_cast<std::size_t>(h * avg.pool.w + w)] += share;
    }
  }
}

Reference reference_grad(std::span<const InputReader> inputs, const Attrs& attrs) {
  return [dy = inputs[0], avg = avg_pool_grad_shape(inputs[0].desc(), attrs)](
             std::size_t, ElementRange range, std::span<double> to) {
    const std::int64_t elements = avg.pool.h * avg.pool.w, windows = avg.pool.oh * avg.pool.ow;
    std::vector<double> gradients(static_cast<std::size_t>(windows)), sums;
    for_each_plane(range, elements, [&](std::int64_t plane, ElementRange part, std::int64_t at) {
      dy.read({plane * windows, windows}, gradients);
      sums.assign(static_cast<std::size_t>(elements), 0);
      for (std::int64_t i = 0; i < windows; ++i) {
        add_share(avg, i / avg.pool.ow, i % avg.pool.ow, gradients[static_cast<std::size_t>(i)],
                  sums);
      }
      std::copy_n(sums.begin() + part.first, part.count, to.begin() + at);
    });
  };
}

// The operations count for the smaller side, the windows.
template <bool kIsGradient>
Traffic traffic(const Problem& problem) {
  Traffic traffic = movement_traffic(problem);
  const Pair kernel = pair_of(problem.attrs, "kernel_size");
  const TensorDesc& windows = kIsGradient ? problem.inputs[0] : problem.outputs[0];
  const Dims& plane = (kIsGradient ? problem.outputs[0] : problem.inputs[0]).shape;
  traffic.operations = double(windows.elements()) * double(std::min(kernel.h, plane[2])) *
                       double(std::min(kernel.w, plane[3]));
  return traffic;
}

std::vector<GradientCall> gradient(const Problem& forward) {
  const Dims& x = forward.inputs[0].shape;
  const std::map<std::string, AttrValue, std::less<>> values(forward.attrs.values().begin(),
                                                             forward.attrs.values().end());
  const std::pair<std::string_view, AttrValue> attrs[] = {
      {"kernel_size", values.at("kernel_size")},
      {"stride", values.at("stride")},
      {"padding", values.at("padding")},
      {"count_include_pad", values.at("count_include_pad")},
      {"input_size", std::vector<std::int64_t>{x[2], x[3]}}};
  return {{kGradName, {{GradientArg::output_gradient, 0}}, {0}, attrs_with(kGradName, attrs)}};
}

std::vector<AttrSpec> window_attrs() {
  return {{"kernel_size", std::vector<std::int64_t>{2}, "[h] or [h,w]",
           [](const AttrValue& value) { return pair_problem(value, 1); }},
          optional_pair_attr("stride", "from one window to the next; [] is the kernel's size"),
          {"padding", std::vector<std::int64_t>{0}, "zeros on each side, at most half the kernel",
           [](const AttrValue& value) { return pair_problem(value, 0); }},
          {"count_include_pad", true, "the padding's zeros count in the mean"}};
}

std::vector<AttrSpec> with(std::vector<AttrSpec> attrs, AttrSpec more) {
  attrs.push_back(std::move(more));
  return attrs;
}

const RegisteredOp registered{{
    .name = kName,
    .ir_name = "avg_pool2d",
    .summary = "the mean of each window",
    .source = "torch.nn.functional.avg_pool2d; CANN AvgPool",
    .known_as = {.calls = {{"avg_pool2d, AvgPool, AvgPoolV2, AveragePool",
                            "self|x|X",
                            "result|y|Y",
                            {.attrs = "kernel_size: kernel_size|ksize, stride: stride|strides, "
                                      "padding: padding|pads, ceil_mode, count_include_pad"}}},
                 .profiled = {{"AvgPool, AvgPoolV2", "x", "y"},
                              {"aten::avg_pool2d",
                               "self, =kernel_size, =stride, =padding, =ceil_mode"}},
                 .torch = "F.avg_pool2d({0}, {kernel_size}, {stride} or None, {padding}, "
                          "{ceil_mode}, {count_include_pad})",
                 .likely = likely_of_pool},
    .inputs = {{"self"}},
    .outputs = {{"result"}},
    .attrs = with(window_attrs(),
                  {"ceil_mode", false,
                   "one more window if the last leaves a remainder; it starts inside the plane"}),
    .dtypes = kArithmeticDTypes,
    .formats = {Format::NCHW, Format::NC1HWC0},
    .infer = infer,
    .reference = reference,
    .traffic = traffic<false>,
    .gradient = gradient,
    .mixing = Mixing::sums,
    .context = {.input_format = blocked_images},
}};

const RegisteredOp registered_grad{{
    .name = kGradName,
    .ir_name = "AvgPool2DBackward",
    .summary = "dx = the sum of dy/n over the windows of n elements that contain the element",
    .source = "torch.nn.functional.avg_pool2d backward; CANN AvgPoolGrad",
    .known_as =
        {.calls =
             {{"AvgPool2DBackward",
               "grads/grads_0",
               "grad_inputs/grad_inputs_0",
               {.attrs =
                    "kernel_size, stride, padding, count_include_pad, input_size: plane of self"}},
              {"AvgPoolGrad, AvgPoolGradD, AvgPoolV2Grad, AvgPoolV2GradD",
               "input_grad",
               "out_grad",
               {.attrs = "kernel_size: ksize, stride: strides, padding: pads, input_size: plane of "
                         "out_grad",
                .is_profiled_only = true}}},
         .profiled = {{"AvgPoolGrad, AvgPoolV2Grad", "=orig_input_shape, input_grad", "out_grad"}},
         .likely = likely_of_pool},
    .inputs = {{"grad_output", "grads/grads_0"}},
    .outputs = {{"grad_input", "grad_inputs/grad_inputs_0"}},
    .attrs = with(window_attrs(),
                  optional_pair_attr("input_size",
                                     "height and width of x; [] is the least with these windows")),
    .dtypes = kArithmeticDTypes,
    .formats = {Format::NCHW, Format::NC1HWC0},
    .infer = infer_grad,
    .reference = reference_grad,
    .traffic = traffic<true>,
    .mixing = Mixing::sums,
    .context = {.input_format = blocked_images},
}};

}  // namespace

AvgPool avg_pool_shape(const TensorDesc& x, const Attrs& attrs) {
  require_planes(kName, "self", x);
  AvgPool avg = windows_of(kName, x.shape[0] * x.shape[1], attrs);
  Pool& pool = avg.pool;
  pool.h = x.shape[2], pool.w = x.shape[3];
  const bool ceil_mode = attrs.flag("ceil_mode");
  pool.oh = pool_windows(pool.rows(), ceil_mode);
  pool.ow = pool_windows(pool.columns(), ceil_mode);
  if (pool.oh >= 1 && pool.ow >= 1) return avg;
  const auto& [kernel, stride, padding, dilation] = pool.window;
  throw Error(fmt::format("{}: a kernel of {}x{} does not fit into {}x{} with padding {}x{}", kName,
                          kernel.h, kernel.w, pool.h, pool.w, padding.h, padding.w));
}

AvgPool avg_pool_grad_shape(const TensorDesc& dy, const Attrs& attrs) {
  require_planes(kGradName, "grad_output", dy);
  AvgPool avg = windows_of(kGradName, dy.shape[0] * dy.shape[1], attrs);
  Pool& pool = avg.pool;
  pool.oh = dy.shape[2], pool.ow = dy.shape[3];
  const auto& [kernel, stride, padding, dilation] = pool.window;
  if (attrs.list("input_size").empty()) {
    pool.h = std::max<std::int64_t>(1, (pool.oh - 1) * stride.h + kernel.h - 2 * padding.h);
    pool.w = std::max<std::int64_t>(1, (pool.ow - 1) * stride.w + kernel.w - 2 * padding.w);
  } else {
    const Pair size = pair_of(attrs, "input_size");
    pool.h = size.h, pool.w = size.w;
  }
  const auto fits = [](const PoolAxis& axis, std::int64_t windows) {
    return windows == pool_windows(axis, false) || windows == pool_windows(axis, true);
  };
  if (fits(pool.rows(), pool.oh) && fits(pool.columns(), pool.ow)) return avg;
  throw Error(
      fmt::format("{}: 'grad_output' has {}x{} windows; allowed: {}x{}, as planes of {}x{} have",
                  kGradName, pool.oh, pool.ow, pool_windows(pool.rows(), false),
                  pool_windows(pool.columns(), false), pool.h, pool.w));
}

}  // namespace opbench
