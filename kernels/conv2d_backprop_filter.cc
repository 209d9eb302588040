// Conv2DBackpropFilter: for every tap a product of dy with the places of x that the tap meets, in
// FRACTAL_Z.
#include <memory>
#include <vector>

#include "kernels/conv2d_blocks.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kTileOutputs = 64;
constexpr std::int64_t kTilePlaces = 256;

struct BackpropFilter {
  FractalWeight weight;
  ChannelPlanes dy, x;
  Scratch gradients, operands;  // dy as [n, output, place], x as it is stored

  explicit BackpropFilter(const Problem& problem)
      : weight(problem, problem.outputs[0]),
        dy(problem.inputs[0]),
        x(problem.inputs[1]),
        gradients(dy.count() * dy.elements()),
        operands(x.count() * x.elements()) {}

  // Blocks of 16 outputs, each output's places side by side.
  void pack_gradients(const void* from) const {
    parallel_blocks(dy.count(), [&](std::int64_t plane) {
      thread_local std::vector<float> values;
      values.resize(static_cast<std::size_t>(dy.elements()));
      load_operands(dy.dtype, dy.address(from, plane), dy.elements(), values.data());
      float* to = gradients.data() + plane * dy.elements();
      for (std::int64_t lane = 0; lane < kCube; ++lane) {
        for (std::int64_t i = 0; i < dy.inner; ++i, ++to) {
          *to = lane < dy.used(plane) ? values.data()[i * kCube + lane] : 0.0f;
        }
      }
    });
  }

  // The places of x that the tap meets from place `first` of dy on, [places, channels].
  bool gather(std::int64_t n, std::int64_t block, std::int64_t tap, std::int64_t first,
              std::int64_t count, float* to) const {
    const auto& [kernel, stride, padding, dilation] = weight.conv.window;
    const std::int64_t base = weight.first_channel(block) / kCube;
    const std::int64_t blocks = std::min(weight.fractal.c1, x.planes - base);
    bool any = false;
    std::fill_n(to, count * weight.channels(), 0.0f);
    for (std::int64_t p = 0; p < count; ++p, to += weight.channels()) {
      const std::int64_t place = first + p;
      const std::int64_t row =
          place / weight.conv.ow * stride.h - padding.h + tap / kernel.w * dilation.h;
      const std::int64_t column =
          place % weight.conv.ow * stride.w - padding.w + tap % kernel.w * dilation.w;
      if (row < 0 || row >= weight.conv.h || column < 0 || column >= weight.conv.w) continue;
      any = true;
      const float* from = operands.data() +
                          ((n * x.planes + base) * x.inner + row * weight.conv.w + column) * kCube;
      for (std::int64_t b = 0; b < blocks; ++b) {
        std::copy_n(from + b * x.inner * kCube, kCube, to + b * kCube);
      }
    }
    return any;
  }

  // Outputs [first, first + count) of a block and tap, all images in their order.
  void tile(void* dw, std::int64_t block, std::int64_t tap, std::int64_t first) const {
    thread_local std::vector<float> met, totals;
    const std::int64_t base = weight.first_output(block) + first;
    const std::int64_t stored = std::max<std::int64_t>(
        0, std::min({kTileOutputs, weight.outputs() - first, dy.planes * kCube - base}));
    const std::int64_t channels = weight.channels();
    met.resize(static_cast<std::size_t>(kTilePlaces * channels));
    totals.assign(static_cast<std::size_t>(kTileOutputs * channels), 0.0f);
    for (std::int64_t n = 0; stored > 0 && n < weight.conv.n; ++n) {
      for (std::int64_t place = 0; place < dy.inner; place += kTilePlaces) {
        const std::int64_t count = std::min(kTilePlaces, dy.inner - place);
        if (!gather(n, block, tap, place, count, met.data())) continue;
        gemm({stored, channels, count, dy.inner, channels, channels},
             gradients.data() + (n * dy.planes * kCube + base) * dy.inner + place, met.data(),
             totals.data(), true);
      }
    }
    const std::int64_t outputs = std::min(kTileOutputs, weight.outputs() - first);
    for (std::int64_t output = 0; output < outputs; ++output) {
      for (std::int64_t c = 0; c < channels; c += kCube) {
        float* sums = totals.data() + output * channels + c;
        for (std::int64_t lane = 0; lane < kCube; ++lane) {
          if (!weight.is_element(block, first + output, c + lane)) sums[lane] = 0;
        }
        store_floats(weight.dtype, sums, kCube,
                     at(dw, weight.dtype, weight.offset(block, tap, first + output, c)));
      }
    }
  }

  void operator()(const KernelArgs& args) const {
    pack_gradients(args.inputs[0]);
    pack_operands(x, args.inputs[1], operands.data());
    const std::int64_t tiles = (weight.outputs() + kTileOutputs - 1) / kTileOutputs;
    const std::int64_t taps = weight.conv.taps();
    parallel_blocks(weight.fractal.blocks * taps * tiles, [&](std::int64_t i) {
      tile(args.outputs[0], i / tiles / taps, i / tiles % taps, i % tiles * kTileOutputs);
    });
  }
};

const RegisteredKernel registered{{
    .op = "conv2d_grad_weight",
    .name = "conv2d_backprop_filter",
    .family = "conv2d",
    .summary = "Conv2DBackpropFilter: fp16 operands, fp32 sums, to FRACTAL_Z",
    .refusal = conv2d_refusal,
    .prepare = [](const Problem& problem) -> Launch {
      return [plan = std::make_shared<BackpropFilter>(problem)](const KernelArgs& args) {
        (*plan)(args);
      };
    },
    .judged_as = DType::fp16,
    .temporary_bytes =
        [](const Problem& problem) {
          return sizeof(float) * static_cast<std::size_t>(problem.inputs[0].storage_elements() +
                                                          problem.inputs[1].storage_elements());
        },
}};

}  // namespace
}  // namespace opbench
