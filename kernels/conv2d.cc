// Conv2D and Conv2DBackpropInput as the cube unit computes them: for every tap of the kernel a
// product of the places it meets with its slice of the weight, added up in fp32.
#include <memory>
#include <vector>

#include "kernels/conv2d_blocks.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kTilePlaces = 64;

// Where tap i of the kernel finds the input of place o; -1: outside. Forward it walks x for a place
// of y, backward dy for a place of x.
std::vector<std::int64_t> sources(bool backward, std::int64_t outputs, std::int64_t inputs,
                                  std::int64_t kernel, std::int64_t stride, std::int64_t padding,
                                  std::int64_t dilation) {
  std::vector<std::int64_t> result;
  for (std::int64_t o = 0; o < outputs; ++o) {
    for (std::int64_t i = 0; i < kernel; ++i) {
      const std::int64_t shifted = o + padding - i * dilation;
      const std::int64_t source = backward ? shifted / stride : o * stride - padding + i * dilation;
      const bool is_met = !backward || (shifted >= 0 && shifted % stride == 0);
      result.push_back(is_met && source >= 0 && source < inputs ? source : -1);
    }
  }
  return result;
}

struct CubeConv2d {
  FractalWeight weight;
  bool backward;
  ChannelPlanes in, out;
  std::int64_t in_w, out_w;
  std::int64_t terms, sums;  // channels of a block that go in and come out, padded
  std::vector<std::int64_t> rows, columns;
  DType bias_dtype;
  bool has_bias;
  Scratch operands, factors;

  CubeConv2d(const Problem& problem, bool is_backward)
      : weight(problem, problem.inputs[1]),
        backward(is_backward),
        in(problem.inputs[0]),
        out(problem.outputs[0]),
        in_w(problem.inputs[0].shape[3]),
        out_w(problem.outputs[0].shape[3]),
        terms(backward ? weight.outputs() : weight.channels()),
        sums(backward ? weight.channels() : weight.outputs()),
        bias_dtype(problem.inputs.back().dtype),
        has_bias(problem.inputs.size() > 2),
        operands(in.count() * in.elements()),
        factors(weight.fractal.blocks * weight.conv.taps() * terms * sums) {
    const auto& [kernel, stride, padding, dilation] = weight.conv.window;
    rows = sources(backward, problem.outputs[0].shape[2], problem.inputs[0].shape[2], kernel.h,
                   stride.h, padding.h, dilation.h);
    columns = sources(backward, out_w, in_w, kernel.w, stride.w, padding.w, dilation.w);
  }

  // The weight of a tap as [terms, sums], zero where groups do not meet.
  void pack_tap(const void* from, std::int64_t block, std::int64_t tap) const {
    float* to = factors.data() + (block * weight.conv.taps() + tap) * terms * sums;
    float values[kCube];
    for (std::int64_t output = 0; output < weight.outputs(); ++output) {
      for (std::int64_t channel = 0; channel < weight.channels(); channel += kCube) {
        load_operands(weight.dtype,
                      at(from, weight.dtype, weight.offset(block, tap, output, channel)), kCube,
                      values);
        for (std::int64_t c = 0; c < kCube; ++c) {
          const bool is_element = weight.is_element(block, output, channel + c);
          const std::int64_t term = backward ? output : channel + c;
          const std::int64_t sum = backward ? channel + c : output;
          to[term * sums + sum] = is_element ? values[c] : 0.0f;
        }
      }
    }
  }

  // What the tap meets at the places of a tile, [places, terms]; false if it meets nothing.
  bool gather(std::int64_t n, std::int64_t block, std::int64_t tap, std::int64_t first,
              std::int64_t count, float* to) const {
    const Pair kernel = weight.conv.window.kernel;
    const std::int64_t i = tap / kernel.w, j = tap % kernel.w;
    const std::int64_t base =
        (backward ? weight.first_output(block) : weight.first_channel(block)) / kCube;
    const std::int64_t blocks = std::min(terms / kCube, in.planes - base);
    bool any = false;
    for (std::int64_t p = 0; p < count; ++p, to += terms) {
      const std::int64_t row = rows[static_cast<std::size_t>((first + p) / out_w * kernel.h + i)];
      const std::int64_t column =
          columns[static_cast<std::size_t>((first + p) % out_w * kernel.w + j)];
      if (row < 0 || column < 0) {
        std::fill_n(to, terms, 0.0f);
        continue;
      }
      any = true;
      const float* from =
          operands.data() + ((n * in.planes + base) * in.inner + row * in_w + column) * kCube;
      for (std::int64_t b = 0; b < blocks; ++b) {
        std::copy_n(from + b * in.inner * kCube, kCube, to + b * kCube);
      }
      std::fill(to + blocks * kCube, to + terms, 0.0f);
    }
    return any;
  }

  void tile(const KernelArgs& args, std::int64_t n, std::int64_t block, std::int64_t first) const {
    thread_local std::vector<float> met, totals, lane_values;
    const std::int64_t count = std::min(kTilePlaces, out.inner - first);
    met.resize(static_cast<std::size_t>(kTilePlaces * terms));
    totals.assign(static_cast<std::size_t>(kTilePlaces * sums), 0.0f);
    for (std::int64_t tap = 0; tap < weight.conv.taps(); ++tap) {
      if (!gather(n, block, tap, first, count, met.data())) continue;
      gemm({count, sums, terms, terms, sums, sums}, met.data(),
           factors.data() + (block * weight.conv.taps() + tap) * terms * sums, totals.data(), true);
    }
    lane_values.resize(static_cast<std::size_t>(kTilePlaces * kCube));
    const std::int64_t base =
        (backward ? weight.first_channel(block) : weight.first_output(block)) / kCube;
    for (std::int64_t b = 0; b < sums / kCube && base + b < out.planes; ++b) {
      float bias[kCube] = {};
      const std::int64_t plane = n * out.planes + base + b;
      if (has_bias) {
        load_floats(bias_dtype, at(args.inputs[2], bias_dtype, (base + b) * kCube), out.used(plane),
                    bias);
      }
      for (std::int64_t p = 0; p < count; ++p) {
        for (std::int64_t lane = 0; lane < kCube; ++lane) {
          lane_values.data()[p * kCube + lane] =
              totals.data()[p * sums + b * kCube + lane] + bias[lane];
        }
      }
      store_floats(out.dtype, lane_values.data(), count * kCube,
                   at(args.outputs[0], out.dtype, plane * out.elements() + first * kCube));
    }
  }

  void operator()(const KernelArgs& args) const {
    pack_operands(in, args.inputs[0], operands.data());
    const std::int64_t taps = weight.conv.taps(), blocks = weight.fractal.blocks;
    parallel_blocks(blocks * taps,
                    [&](std::int64_t i) { pack_tap(args.inputs[1], i / taps, i % taps); });
    const std::int64_t tiles = (out.inner + kTilePlaces - 1) / kTilePlaces;
    parallel_blocks(weight.conv.n * blocks * tiles, [&](std::int64_t i) {
      tile(args, i / tiles / blocks, i / tiles % blocks, i % tiles * kTilePlaces);
    });
  }
};

template <bool kBackward>
Launch prepare(const Problem& problem) {
  return [plan = std::make_shared<CubeConv2d>(problem, kBackward)](const KernelArgs& args) {
    (*plan)(args);
  };
}

std::size_t temporaries(const Problem& problem) {
  const FractalWeight weight(problem, problem.inputs[1]);
  return sizeof(float) * static_cast<std::size_t>(problem.inputs[0].storage_elements() +
                                                  weight.fractal.blocks * weight.conv.taps() *
                                                      weight.channels() * weight.outputs());
}

const RegisteredKernel conv2d{{
    .op = "conv2d",
    .name = "conv2d",
    .summary = "Conv2D: fp16 operands, fp32 sums, tap by tap; NC1HWC0 and FRACTAL_Z",
    .refusal = conv2d_refusal,
    .prepare = prepare<false>,
    .judged_as = DType::fp16,
    .temporary_bytes = temporaries,
}};

const RegisteredKernel backprop_input{{
    .op = "conv2d_grad_input",
    .name = "conv2d_backprop_input",
    .family = "conv2d",
    .summary = "Conv2DBackpropInput: fp16 operands, fp32 sums, tap by tap",
    .refusal = conv2d_refusal,
    .prepare = prepare<true>,
    .judged_as = DType::fp16,
    .temporary_bytes = temporaries,
}};

}  // namespace
}  // namespace opbench
