// Pools and their gradients plane by plane: `native` with one channel, the device's variants with
// 16 channels side by side.
#include "ops/pool.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

#include "kernels/copy/repeat.h"
#include "kernels/simd/channel_planes.h"
#include "kernels/simd/lane_planes.h"
#include "kernels/simd/plane_windows.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

Launch max_pool(const Problem& problem) {
  const ChannelPlanes x(problem.inputs[0]), y(problem.outputs[0]);
  return [x, y, pool = max_pool_shape(problem.inputs[0], problem.attrs)](const KernelArgs& args) {
    parallel_blocks(x.count(), [&](std::int64_t plane) {
      thread_local std::vector<float> x_buffer, y_buffer;
      float* to = y.target(args.outputs[0], plane, y_buffer);
      max_of_plane(pool, x.load(args.inputs[0], plane, x_buffer), to,
                   static_cast<std::int64_t*>(args.outputs[1]) + plane * y.elements());
      y.store(to, plane, args.outputs[0]);
    });
  };
}

Launch max_pool_of_lanes(const Problem& problem) {
  const ChannelPlanes x(problem.inputs[0]), y(problem.outputs[0]);
  const Pool pool = max_pool_shape(problem.inputs[0], problem.attrs);
  return [x, y, pool, stream = outgrows_cache(problem),
          across = taps_of(pool.columns(), pool.ow)](const KernelArgs& args) {
    parallel_blocks(x.count(), [&](std::int64_t plane) {
      max_of_lane_windows(pool, across, x.dtype, stream, x.address(args.inputs[0], plane),
                          y.address(args.outputs[0], plane),
                          static_cast<std::int64_t*>(args.outputs[1]) + plane * y.elements());
    });
  };
}

// dx[place] += dy for `used` of `lanes` channels side by side.
template <class Index>
void add_to_places(std::int64_t count, std::int64_t lanes, std::int64_t used, const Index* places,
                   const float* dy, float* dx) {
  const auto add = [&](std::int64_t side, std::int64_t taken) {
    for (std::int64_t i = 0; i < count; ++i, places += side, dy += side) {
      for (std::int64_t lane = 0; lane < taken; ++lane) dx[places[lane] * side + lane] += dy[lane];
    }
  };
  if (lanes == 1) return add(1, 1);
  if (used == kCube) return add(kCube, kCube);
  add(kCube, used);
}

// Adds dy to the places of its plane. Lanes past the last channel are not changed.
struct MaxPoolGrad {
  ChannelPlanes dy, dx;
  DType index;
  bool stream;

  MaxPoolGrad(const Problem& problem, bool may_stream)
      : dy(problem.inputs[0]),
        dx(problem.outputs[0]),
        index(problem.inputs[1].dtype),
        stream(may_stream && outgrows_cache(problem)) {}

  void add(const KernelArgs& args, std::int64_t plane, float* to) const {
    thread_local std::vector<float> buffer;
    const float* from = dy.load(args.inputs[0], plane, buffer);
    const void* places = at(args.inputs[1], index, plane * dy.elements());
    const auto add_by = [&](const auto* of) {
      add_to_places(dy.inner, dx.lanes, dx.used(plane), of, from, to);
    };
    if (index == DType::int64) return add_by(static_cast<const std::int64_t*>(places));
    add_by(static_cast<const std::int32_t*>(places));
  }

  void operator()(const KernelArgs& args) const {
    parallel_blocks(dx.count(), [&](std::int64_t plane) {
      if (dx.dtype == DType::fp32 && !stream) {
        float* to = dx.target(args.outputs[0], plane, sums());
        std::fill_n(to, dx.elements(), 0.0f);
        return add(args, plane, to);
      }
      sums().resize(static_cast<std::size_t>(dx.elements()));
      add(args, plane, sums().data());
      drain_floats(dx.dtype, stream, sums().data(), dx.elements(),
                   dx.address(args.outputs[0], plane));
    });
  }

  // The sums of one plane; zeros except during a call.
  static std::vector<float>& sums() {
    thread_local std::vector<float> values;
    return values;
  }
};

template <bool kStream>
Launch max_pool_grad(const Problem& problem) {
  return MaxPoolGrad(problem, kStream);
}

constexpr std::int64_t kGrainElements = 16 * 1024;  // fewer do not repay waking a thread

// Calls body(begin, end) over planes of `elements` elements.
template <class Body>
void for_each_plane_range(const ChannelPlanes& x, Body body) {
  parallel_ranges(x.count(), kGrainElements / std::max<std::int64_t>(1, x.elements()) + 1, body);
}

// kScaledFirst: every element times 1/n, then the sum; else the sum divided by n.
template <bool kScaledFirst>
Launch global_avg_pool(const Problem& problem) {
  const ChannelPlanes x(problem.inputs[0]);
  return [x](const KernelArgs& args) {
    const auto n = static_cast<float>(x.inner);
    const float scale = kScaledFirst ? 1 / n : 1.0f, divisor = kScaledFirst ? 1.0f : n;
    for_each_plane_range(x, [&](std::int64_t begin, std::int64_t end) {
      constexpr std::int64_t kPlanes = 32;
      std::array<float, kPlanes * kCube> sums;
      for (std::int64_t plane = begin; plane < end; plane += kPlanes) {
        const std::int64_t planes = std::min(kPlanes, end - plane), count = planes * x.lanes;
        sum_of_planes(x, args.inputs[0], plane, plane + planes, scale, sums.data());
        for (std::int64_t i = 0; i < count; ++i) sums[static_cast<std::size_t>(i)] /= divisor;
        store_floats(x.dtype, sums.data(), count, at(args.outputs[0], x.dtype, plane * x.lanes));
      }
    });
  };
}

template <bool kStream>
Launch global_avg_pool_grad(const Problem& problem) {
  const ChannelPlanes dy(problem.inputs[0]), dx(problem.outputs[0]);
  return [dy, dx, stream = kStream && outgrows_cache(problem)](const KernelArgs& args) {
    for_each_plane_range(dx, [&](std::int64_t begin, std::int64_t end) {
      constexpr std::int64_t kPlanes = 32;
      std::array<float, kPlanes * kCube> shares{};
      alignas(64) std::array<float, kPlanes * kCube> units;  // the shares in their storage
      for (std::int64_t plane = begin; plane < end; plane += kPlanes) {
        const std::int64_t planes = std::min(kPlanes, end - plane), count = planes * dx.lanes;
        load_floats(dy.dtype, dy.address(args.inputs[0], plane), count, shares.data());
        for (float& share : std::span(shares.data(), static_cast<std::size_t>(count))) {
          share /= static_cast<float>(dx.inner);
        }
        store_floats(dx.dtype, shares.data(), count, units.data());
        const auto bytes = static_cast<std::size_t>(dx.lanes) * size_of(dx.dtype);
        repeat_units({units.data(), bytes, planes, dx.inner}, stream,
                     dx.address(args.outputs[0], plane));
      }
    });
  };
}

std::string refuse_private(const Problem& problem) {
  return is_private(problem.inputs[0].format) ? "a framework's pool takes plain tensors" : "";
}

// Source: CANN's op info: MaxPoolWithArgmax in NC1HWC0, fp16, on later chips fp32.
std::string refuse_plain(const Problem& problem) {
  const TensorDesc& x = problem.inputs[0];
  if (x.format != Format::NC1HWC0) {
    return "the device's pool takes NC1HWC0, found " + std::string(name(x.format));
  }
  if (x.c0 != kCube) return "the device's pool takes blocks of 16 channels";
  return x.dtype == DType::bf16 ? "the device's pool takes fp16 and fp32, not bf16" : "";
}

// Source: CANN's op info and tiling have ceil_mode, but no dilation.
std::string refuse_dilation(const Problem& problem) {
  const Pair dilation = pair_of(problem.attrs, "dilation");
  if (dilation.h == 1 && dilation.w == 1) return refuse_plain(problem);
  return fmt::format("the device's pool takes no dilation, found {}x{}", dilation.h, dilation.w);
}

const RegisteredKernel max_pool_native{{
    .op = "max_pool2d",
    .name = "native",
    .provider = Provider::framework,
    .summary = "window after window, plane by plane",
    .refusal = refuse_private,
    .prepare = max_pool,
}};

const RegisteredKernel max_pool_with_argmax{{
    .op = "max_pool2d",
    .name = "max_pool_with_argmax_v1",
    .provider = Provider::npu,
    .summary = "MaxPoolWithArgmaxV1: 16 channels side by side; places instead of its bit mask",
    .refusal = refuse_dilation,
    .prepare = max_pool_of_lanes,
}};

const RegisteredKernel max_pool_grad_native{{
    .op = "max_pool2d_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "zeros, then one addition for each window",
    .refusal = refuse_private,
    .prepare = max_pool_grad<false>,
}};

const RegisteredKernel max_pool_grad_with_argmax{{
    .op = "max_pool2d_grad",
    .name = "max_pool_grad_with_argmax_v1",
    .family = "max_pool_with_argmax_v1",
    .provider = Provider::npu,
    .summary = "MaxPoolGradWithArgmaxV1: 16 channels side by side, fp32 sums",
    .refusal = refuse_plain,
    .prepare = max_pool_grad<true>,
}};

const RegisteredKernel avg_pool_native{{
    .op = "global_avg_pool2d",
    .name = "native",
    .provider = Provider::framework,
    .summary = "the sum of a plane in fp32, then divided by n",
    .refusal = refuse_private,
    .prepare = global_avg_pool<false>,
}};

const RegisteredKernel avg_pool_reduce_mean{{
    .op = "global_avg_pool2d",
    .name = "reduce_mean",
    .provider = Provider::npu,
    .summary = "ReduceMean: every element times 1/n first, then the sum in fp32",
    .refusal = refuse_plain,
    .prepare = global_avg_pool<true>,
}};

const RegisteredKernel avg_pool_grad_native{{
    .op = "global_avg_pool2d_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "dy/n written over every plane",
    .refusal = refuse_private,
    .prepare = global_avg_pool_grad<false>,
}};

const RegisteredKernel avg_pool_grad_broadcast{{
    .op = "global_avg_pool2d_grad",
    .name = "broadcast_to",
    .family = "reduce_mean",
    .provider = Provider::npu,
    .summary = "dy/n written over every plane, 16 channels side by side",
    .refusal = refuse_plain,
    .prepare = global_avg_pool_grad<true>,
}};

}  // namespace
}  // namespace opbench
