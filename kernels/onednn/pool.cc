// oneDNN's pooling as a variant of max_pool2d, avg_pool2d, global_avg_pool2d and their gradients.
// The primitive's workspace has indices within the window. The places in the plane are computed
// from it within the timed region. max_pool2d_grad has no such variant: it takes places in a plane,
// from which the index in the window cannot be derived.
#include "ops/pool.h"

#include <memory>
#include <unordered_map>

#include "kernels/onednn/primitive.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

using dnnl::memory;

memory unbound(const memory::desc& desc) { return {desc, onednn::engine(), DNNL_MEMORY_NONE}; }

struct MaxPool {
  Pool pool;
  std::int64_t lanes, elements;
  memory::data_type counted;
  dnnl::primitive primitive;
  memory x, y, workspace;

  explicit MaxPool(const Problem& problem)
      : pool(max_pool_shape(problem.inputs[0], problem.attrs)),
        lanes(problem.inputs[0].format == Format::NC1HWC0 ? problem.inputs[0].c0 : 1),
        elements(problem.outputs[0].storage_elements()) {
    const memory::desc from = onednn::memory_desc(problem.inputs[0]);
    const memory::desc to = onednn::memory_desc(problem.outputs[0]);
    const auto& [kernel, stride, padding, dilation] = pool.window;
    // The extent that the last window lacks on the far side.
    const memory::dims after = {(pool.oh - 1) * stride.h + kernel.h - pool.h - padding.h,
                                (pool.ow - 1) * stride.w + kernel.w - pool.w - padding.w};
    const dnnl::pooling_forward::primitive_desc desc({dnnl::prop_kind::forward_training,
                                                      dnnl::algorithm::pooling_max,
                                                      from,
                                                      to,
                                                      {stride.h, stride.w},
                                                      {kernel.h, kernel.w},
                                                      {padding.h, padding.w},
                                                      after},
                                                     onednn::engine());
    primitive = dnnl::pooling_forward(desc);
    x = unbound(from), y = unbound(to);
    workspace = memory(desc.workspace_desc(), onednn::engine());
    counted = desc.workspace_desc().data_type();
  }

  std::int64_t count_at(std::int64_t i) const {
    const void* counts = workspace.get_data_handle();
    return counted == memory::data_type::u8 ? static_cast<const std::uint8_t*>(counts)[i]
                                            : static_cast<const std::int32_t*>(counts)[i];
  }

  void write_places(std::int64_t* places) const {
    const Pair kernel = pool.window.kernel, stride = pool.window.stride,
               padding = pool.window.padding;
    parallel_ranges(elements, 64, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t window = i / lanes % (pool.oh * pool.ow), count = count_at(i);
        const std::int64_t h = window / pool.ow * stride.h - padding.h + count / kernel.w;
        const std::int64_t w = window % pool.ow * stride.w - padding.w + count % kernel.w;
        places[i] = h * pool.w + w;
      }
    });
  }

  void operator()(const KernelArgs& args) {
    onednn::match_threads();
    x.set_data_handle(const_cast<void*>(args.inputs[0]));
    y.set_data_handle(args.outputs[0]);
    primitive.execute(onednn::stream(),
                      {{DNNL_ARG_SRC, x}, {DNNL_ARG_DST, y}, {DNNL_ARG_WORKSPACE, workspace}});
    onednn::stream().wait();
    write_places(static_cast<std::int64_t*>(args.outputs[1]));
  }
};

Launch max_pool(const Problem& problem) {
  onednn::match_threads();
  return [plan = std::make_shared<MaxPool>(problem)](const KernelArgs& args) { (*plan)(args); };
}

// One window, the whole plane.
dnnl::pooling_forward::primitive_desc average_desc(const memory::desc& planes,
                                                   const memory::desc& means, const Dims& shape) {
  return {{dnnl::prop_kind::forward_inference,
           dnnl::algorithm::pooling_avg_exclude_padding,
           planes,
           means,
           {1, 1},
           {shape[2], shape[3]},
           {0, 0},
           {0, 0}},
          onednn::engine()};
}

Launch average(const Problem& problem) {
  onednn::match_threads();
  const auto x = onednn::memory_desc(problem.inputs[0]),
             y = onednn::memory_desc(problem.outputs[0]);
  return onednn::launch({{dnnl::pooling_forward(average_desc(x, y, problem.inputs[0].shape)),
                          {{DNNL_ARG_SRC, x, 0}},
                          {{DNNL_ARG_DST, y, 0}}}});
}

Launch average_grad(const Problem& problem) {
  onednn::match_threads();
  const Dims& shape = problem.outputs[0].shape;
  const auto dy = onednn::memory_desc(problem.inputs[0]),
             dx = onednn::memory_desc(problem.outputs[0]);
  const dnnl::pooling_backward::primitive_desc desc({dnnl::algorithm::pooling_avg_exclude_padding,
                                                     dx,
                                                     dy,
                                                     {1, 1},
                                                     {shape[2], shape[3]},
                                                     {0, 0},
                                                     {0, 0}},
                                                    onednn::engine(), average_desc(dx, dy, shape));
  return onednn::launch(
      {{dnnl::pooling_backward(desc), {{DNNL_ARG_DIFF_DST, dy, 0}}, {{DNNL_ARG_DIFF_SRC, dx, 0}}}});
}

std::string refuse(const Problem& problem) { return onednn::refusal(problem.inputs[0]); }

std::string refuse_window(const Problem& problem) {
  const Pool pool = max_pool_shape(problem.inputs[0], problem.attrs);
  const Pair &dilation = pool.window.dilation, &kernel = pool.window.kernel;
  if (dilation.h != 1 || dilation.w != 1) {
    return "oneDNN has reference code only for pools with dilation";
  }
  // The primitive visits every tap, also outside the plane.
  constexpr double kTaps = 1024;
  if (double(kernel.h) * double(kernel.w) > kTaps + 4 * double(pool.h) * double(pool.w)) {
    return "oneDNN is used for windows of about the plane's size";
  }
  return refuse(problem);
}

const RegisteredKernel max_pool2d{{
    .op = "max_pool2d",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN pooling, places made from its workspace",
    .refusal = refuse_window,
    .prepare = max_pool,
    .takes = InputRange::normal,  // subnormal bf16 becomes 0 there
    .temporary_bytes =
        [](const Problem& problem) {
          return static_cast<std::size_t>(problem.outputs[0].storage_elements()) *
                 sizeof(std::int32_t);
        },
}};

const RegisteredKernel global_avg_pool2d{{
    .op = "global_avg_pool2d",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN pooling over one window",
    .refusal = refuse,
    .prepare = average,
}};

const RegisteredKernel global_avg_pool2d_grad{{
    .op = "global_avg_pool2d_grad",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN pooling over one window, backward",
    .refusal = refuse,
    .prepare = average_grad,
}};

/// The arguments of the primitives.
struct Average {
  dnnl::algorithm algorithm;
  memory::dims stride, kernel, before, after;

  explicit Average(const AvgPool& avg)
      : algorithm(avg.count_include_pad ? dnnl::algorithm::pooling_avg_include_padding
                                        : dnnl::algorithm::pooling_avg_exclude_padding) {
    const Pool& pool = avg.pool;
    const auto& [size, step, padding, dilation] = pool.window;
    stride = {step.h, step.w}, kernel = {size.h, size.w}, before = {padding.h, padding.w};
    // The extent that the last window lacks on the far side.
    after = {(pool.oh - 1) * step.h + size.h - pool.h - padding.h,
             (pool.ow - 1) * step.w + size.w - pool.w - padding.w};
  }

  dnnl::pooling_forward::primitive_desc forward(const memory::desc& x,
                                                const memory::desc& y) const {
    return {{dnnl::prop_kind::forward_inference, algorithm, x, y, stride, kernel, before, after},
            onednn::engine()};
  }
};

Launch average_windows(const Problem& problem) {
  onednn::match_threads();
  const Average average(avg_pool_shape(problem.inputs[0], problem.attrs));
  const auto x = onednn::memory_desc(problem.inputs[0]),
             y = onednn::memory_desc(problem.outputs[0]);
  return onednn::launch({{dnnl::pooling_forward(average.forward(x, y)),
                          {{DNNL_ARG_SRC, x, 0}},
                          {{DNNL_ARG_DST, y, 0}}}});
}

Launch average_windows_grad(const Problem& problem) {
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

std::string refuse_average(const Problem& problem, const AvgPool& avg) {
  const Pool& pool = avg.pool;
  const Average average(avg);
  const Pair padding = pool.window.padding;
  if (avg.count_include_pad && (average.after[0] > padding.h || average.after[1] > padding.w)) {
    return "oneDNN counts elements that ceil_mode adds beyond the padding";
  }
  // The primitive visits every tap, also outside the plane.
  constexpr double kTaps = 1024;
  const Pair kernel = pool.window.kernel;
  if (double(kernel.h) * double(kernel.w) > kTaps + 4 * double(pool.h) * double(pool.w)) {
    return "oneDNN is used for windows of about the plane's size";
  }
  return onednn::refusal(problem.inputs[0]);
}

std::string refuse_avg_pool(const Problem& problem) {
  return refuse_average(problem, avg_pool_shape(problem.inputs[0], problem.attrs));
}

std::string refuse_avg_pool_grad(const Problem& problem) {
  return refuse_average(problem, avg_pool_grad_shape(problem.inputs[0], problem.attrs));
}

const RegisteredKernel avg_pool2d{{
    .op = "avg_pool2d",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN pooling",
    .refusal = refuse_avg_pool,
    .prepare = average_windows,
}};

const RegisteredKernel avg_pool2d_grad{{
    .op = "avg_pool2d_grad",
    .name = "onednn",
    .provider = Provider::vendor,
    .summary = "oneDNN pooling, backward",
    .refusal = refuse_avg_pool_grad,
    .prepare = average_windows_grad,
}};

}  // namespace

}  // namespace opbench
