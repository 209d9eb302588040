// oneDNN's pooling as a variant of avg_pool2d and its gradient.
#include "ops/avg_pool.h"

#include "kernels/onednn/primitive.h"

namespace opbench {
namespace {

using dnnl::memory;

/// The arguments of its primitives.
struct Average {
  dnnl::algorithm algorithm;
  memory::dims stride, kernel, before, after;

  explicit Average(const AvgPool& avg)
      : algorithm(avg.count_include_pad ? dnnl::algorithm::pooling_avg_include_padding
                                        : dnnl::algorithm::pooling_avg_exclude_padding) {
    const Pool& pool = avg.pool;
    const auto& [size, step, padding, dilation] = pool.window;
    stride = {step.h, step.w}, kernel = {size.h, size.w}, before = {padding.h, padding.w};
    // What the last window lacks on the far side.
    after = {(pool.oh - 1) * step.h + size.h - pool.h - padding.h,
             (pool.ow - 1) * step.w + size.w - pool.w - padding.w};
  }

  dnnl::pooling_forward::primitive_desc forward(const memory::desc& x,
                                                const memory::desc& y) const {
    return {{dnnl::prop_kind::forward_inference, algorithm, x, y, stride, kernel, before, after},
            onednn::engine()};
  }
};

Launch prepare(const Problem& problem) {
  onednn::match_threads();
  const Average average(avg_pool_shape(problem.inputs[0], problem.attrs));
  const auto x = onednn::memory_desc(problem.inputs[0]),
             y = onednn::memory_desc(problem.outputs[0]);
  return onednn::launch({{dnnl::pooling_forward(average.forward(x, y)),
                          {{DNNL_ARG_SRC, x, 0}},
                          {{DNNL_ARG_DST, y, 0}}}});
}

Launch prepare_grad(const Problem& problem) {
  onednn::match_threads();
  const Average average(avg_pool_grad_shape(problem.inputs[0], problem.attrs));
  const auto dy = onednn::memory_desc(problem.inputs[0]),
             dx = onednn::memory_desc(problem.outputs[0]);
  const dnnl::pooling_backward::primitive_desc desc(
      {average.algorithm, dx, dy, average.stride, average.kernel, average.before, average.after},
      onednn::engine(), average.forward(dx, dy));
  return onednn::launch(
      {{dnnl::pooling_backward(desc), {{DNNL_ARG_DIFF_DST, dy, 0}}, {{DNNL_ARG_DIFF_SRC, dx, 0}}}});
}

std::string refuse_windows(const Problem& problem, const AvgPool& avg) {
  const Pool& pool = avg.pool;
  const Average average(avg);
  const Pair padding = pool.window.padding;
  if (avg.count_include_pad && (average.after[0] > padding.h || average.after[1] > padding.w)) {
    return "oneDNN counts what ceil_mode lets stand out beyond the padding";
  }
  // It visits every tap, whether that meets the plane or not.
  constexpr double kTaps = 1024;
  const Pair kernel = pool.window.kernel;
  if (double(kernel.h) * double(kernel.w) > kTaps + 4 * double(pool.h) * double(pool.w)) {
    return "oneDNN is used for windows of about the plane's size";
  }
  return onednn::refusal(problem.inputs[0]);
}

std::string refuse(const Problem& problem) {
  return refuse_windows(problem, avg_pool_shape(problem.inputs[0], problem.attrs));
}

std::string refuse_grad(const Problem& problem) {
  return refuse_windows(problem, avg_pool_grad_shape(problem.inputs[0], problem.attrs));
}

const RegisteredKernel avg_pool2d{{
    .op = "avg_pool2d",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN pooling",
    .refusal = refuse,
    .prepare = prepare,
}};

const RegisteredKernel avg_pool2d_grad{{
    .op = "avg_pool2d_grad",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN pooling, backward",
    .refusal = refuse_grad,
    .prepare = prepare_grad,
}};

}  // namespace
}  // namespace opbench
