#include <memory>

#include "kernels/lanes/channel_planes.h"
#include "kernels/lanes/in_fp32.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

// The columns of a matrix: every thread has its own, row after row.
void sum_columns(const ChannelView& view, const float* x, float* sums) {
  for_each_range(view.channels, [&](std::int64_t begin, std::int64_t end) {
    std::fill(sums + begin, sums + end, 0.0f);
    for (std::int64_t n = 0; n < view.outer; ++n) {
      for (std::int64_t c = begin; c < end; ++c) sums[c] += x[n * view.channels + c];
    }
  });
}

// One channel after the other, image after image.
void sum_lines(const ChannelView& view, const float* x, float* sums) {
  parallel_ranges(view.channels, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t c = begin; c < end; ++c) {
      double sum = 0;
      for (std::int64_t n = 0; n < view.outer; ++n) {
        const float* line = x + (n * view.channels + c) * view.inner;
        for (std::int64_t i = 0; i < view.inner; ++i) sum += double(line[i]);
      }
      sums[c] = static_cast<float>(sum);
    }
  });
}

Launch native_launch(const Problem& problem) {
  const ChannelView view = channel_view("bias_grad", "grad_output", problem.inputs[0]);
  return in_fp32(problem, [view](const KernelArgs& args) {
    const auto* x = static_cast<const float*>(args.inputs[0]);
    auto* sums = static_cast<float*>(args.outputs[0]);
    view.inner == 1 ? sum_columns(view, x, sums) : sum_lines(view, x, sums);
  });
}

struct BiasAddGrad {
  ChannelPlanes x;
  ChannelSums sums;

  explicit BiasAddGrad(const Problem& problem) : x(problem.inputs[0]), sums(x) {}

  void operator()(const KernelArgs& args) {
    parallel_blocks(x.count(), [&](std::int64_t plane) {
      thread_local std::vector<float> buffer;
      const float* values = x.load(args.inputs[0], plane, buffer);
      sums.add_plane(
          plane, [&](std::int64_t i, std::int64_t) { return values[i]; },
          [](std::int64_t, std::int64_t) { return 0.0f; });
    });
    parallel_ranges(x.channels, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t c = begin; c < end; ++c) {
        const float sum = sums.total(0, c);
        store_floats(x.dtype, &sum, 1, at(args.outputs[0], x.dtype, c));
      }
    });
  }
};

Launch npu_launch(const Problem& problem) {
  return [plan = std::make_shared<BiasAddGrad>(problem)](const KernelArgs& args) { (*plan)(args); };
}

bool is_fractal(const Problem& problem) { return problem.inputs[0].format == Format::FRACTAL_NZ; }

std::string refuse_private(const Problem& problem) {
  return is_private(problem.inputs[0].format) ? "a framework's sum takes plain tensors" : "";
}

const RegisteredKernel native{{
    .op = "bias_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "a sum over all axes but the channels'",
    .refusal = refuse_private,
    .prepare = native_launch,
    .temporary_bytes = in_fp32_bytes,
}};

const RegisteredKernel bias_add_grad{{
    .op = "bias_grad",
    .name = "bias_add_grad",
    .summary = "BiasAddGrad: fp32 sums, plane by plane",
    .refusal = [](const Problem& problem) -> std::string {
      if (is_fractal(problem)) return "the sum of FRACTAL_NZ's columns is taken plain";
      return problem.inputs[0].c0 != kCube ? "NC1HWC0 is taken in blocks of 16" : "";
    },
    .prepare = npu_launch,
    .temporary_bytes =
        [](const Problem& problem) { return ChannelSums::bytes(ChannelPlanes(problem.inputs[0])); },
}};

}  // namespace
}  // namespace opbench
