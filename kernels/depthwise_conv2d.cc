// DepthwiseConv2D and its gradients: 16 channels side by side, each with its own kernel; only the
// diagonals of the weight's blocks are used.
#include <memory>
#include <vector>

#include "kernels/conv2d_blocks.h"
#include "kernels/lanes/lane_rows.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

struct Depthwise {
  FractalWeight weight;
  ChannelPlanes x, y;  // of the convolution, whatever is computed

  Depthwise(const Problem& problem, const TensorDesc& weight_desc, const TensorDesc& x_desc,
            const TensorDesc& y_desc)
      : weight(problem, weight_desc), x(x_desc), y(y_desc) {}

  // The kernels of a block of channels, [taps, 16].
  void load_taps(const void* from, std::int64_t block, std::vector<float>& taps) const {
    taps.assign(static_cast<std::size_t>(weight.conv.taps() * kCube), 0.0f);
    for (std::int64_t tap = 0; tap < weight.conv.taps(); ++tap) {
      for (std::int64_t lane = 0; lane < y.used(block); ++lane) {
        load_operands(weight.dtype,
                      at(from, weight.dtype, weight.offset(block, tap, lane, 0) + lane), 1,
                      taps.data() + tap * kCube + lane);
      }
    }
  }
  static void load_plane(const ChannelPlanes& planes, const void* from, std::int64_t plane,
                         std::vector<float>& values) {
    values.resize(static_cast<std::size_t>(planes.elements()));
    load_operands(planes.dtype, planes.address(from, plane), planes.elements(), values.data());
  }
  // Elements of x from a place that a tap meets to the next; those of y lie side by side.
  std::int64_t x_step() const { return weight.conv.window.stride.w * kCube; }
  // Calls row(count, x, y) for the rows of places that a tap joins, from these elements on.
  template <class Row>
  void for_each_meeting(std::int64_t tap, Row row) const {
    const Conv2d& conv = weight.conv;
    const Pair kernel = conv.window.kernel;
    for_each_tap_row(conv, tap / kernel.w, tap % kernel.w,
                     [&](auto oh, auto ih, auto begin, auto end, auto column) {
                       row(end - begin, (ih * conv.w + column) * kCube,
                           (oh * conv.ow + begin) * kCube);
                     });
  }
};

// kBackward: dx from dy, else y from x.
template <bool kBackward>
struct Forward : Depthwise {
  DType bias_dtype;
  bool has_bias;

  explicit Forward(const Problem& problem)
      : Depthwise(problem, problem.inputs[1], kBackward ? problem.outputs[0] : problem.inputs[0],
                  kBackward ? problem.inputs[0] : problem.outputs[0]),
        bias_dtype(problem.inputs.back().dtype),
        has_bias(problem.inputs.size() > 2) {}

  void start(const KernelArgs& args, std::int64_t block, std::vector<float>& sums) const {
    float bias[kCube] = {};
    if (has_bias) {
      load_floats(bias_dtype, at(args.inputs[2], bias_dtype, block * kCube), y.used(block), bias);
    }
    for (auto place = sums.begin(); place != sums.end(); place += kCube) {
      std::copy_n(bias, kCube, place);
    }
  }

  void plane(const KernelArgs& args, std::int64_t index) const {
    thread_local std::vector<float> taps, from, sums;
    const ChannelPlanes &in = kBackward ? y : x, &out = kBackward ? x : y;
    load_taps(args.inputs[1], index % x.planes, taps);
    load_plane(in, args.inputs[0], index, from);
    sums.resize(static_cast<std::size_t>(out.elements()));
    start(args, index % x.planes, sums);
    for (std::int64_t tap = 0; tap < weight.conv.taps(); ++tap) {
      const float* factor = taps.data() + tap * kCube;
      for_each_meeting(tap, [&](std::int64_t count, std::int64_t at_x, std::int64_t at_y) {
        const std::int64_t source = kBackward ? at_y : at_x, target = kBackward ? at_x : at_y;
        add_scaled_row(count, {from.data() + source, kBackward ? kCube : x_step()}, factor,
                       sums.data() + target, kBackward ? x_step() : kCube);
      });
    }
    store_floats(out.dtype, sums.data(), out.elements(), out.address(args.outputs[0], index));
  }

  void operator()(const KernelArgs& args) const {
    parallel_blocks(x.count(), [&](std::int64_t index) { plane(args, index); });
  }
};

struct Filter : Depthwise {
  explicit Filter(const Problem& problem)
      : Depthwise(problem, problem.outputs[0], problem.inputs[1], problem.inputs[0]) {}

  void add_image(const KernelArgs& args, std::int64_t plane, std::vector<float>& totals) const {
    thread_local std::vector<float> dy_values, x_values;
    load_plane(y, args.inputs[0], plane, dy_values);
    load_plane(x, args.inputs[1], plane, x_values);
    for (std::int64_t tap = 0; tap < weight.conv.taps(); ++tap) {
      float sums[kCube] = {};
      for_each_meeting(tap, [&](std::int64_t count, std::int64_t at_x, std::int64_t at_y) {
        add_products_of_rows(count, {x_values.data() + at_x, x_step()},
                             {dy_values.data() + at_y, kCube}, sums);
      });
      for (std::int64_t lane = 0; lane < kCube; ++lane) {
        totals.data()[tap * kCube + lane] += sums[lane];
      }
    }
  }

  // The diagonal of every tap's block, zeros beside it.
  void store_taps(const std::vector<float>& totals, std::int64_t block, void* dw) const {
    for (std::int64_t tap = 0; tap < weight.conv.taps(); ++tap) {
      for (std::int64_t output = 0; output < weight.outputs(); ++output) {
        float row[kCube] = {};
        if (output < y.used(block)) {
          row[output] = totals[static_cast<std::size_t>(tap * kCube + output)];
        }
        store_floats(weight.dtype, row, kCube,
                     at(dw, weight.dtype, weight.offset(block, tap, output, 0)));
      }
    }
  }

  void operator()(const KernelArgs& args) const {
    parallel_blocks(x.planes, [&](std::int64_t block) {
      thread_local std::vector<float> totals;
      totals.assign(static_cast<std::size_t>(weight.conv.taps() * kCube), 0.0f);
      for (std::int64_t n = 0; n < x.outer; ++n) add_image(args, n * x.planes + block, totals);
      store_taps(totals, block, args.outputs[0]);
    });
  }
};

template <class Plan>
Launch prepare(const Problem& problem) {
  return [plan = std::make_shared<Plan>(problem)](const KernelArgs& args) { (*plan)(args); };
}

// Where every channel is a group and has one output, 16 of them fill a block of the weight.
std::string refuse(const Problem& problem) {
  if (const std::string reason = conv2d_refusal(problem); !reason.empty()) return reason;
  const Conv2d conv = conv2d_shape(problem);
  return conv.groups == conv.c && conv.m == conv.c
             ? ""
             : "DepthwiseConv2D takes as many groups and outputs as there are channels";
}

const RegisteredKernel forward{{
    .op = "conv2d",
    .name = "depthwise_conv2d",
    .summary = "DepthwiseConv2D: fp16 operands, fp32 sums, 16 channels side by side",
    .refusal = refuse,
    .prepare = prepare<Forward<false>>,
    .judged_as = DType::fp16,
    .is_made_for = is_depthwise,
}};

const RegisteredKernel backprop_input{{
    .op = "conv2d_grad_input",
    .name = "depthwise_conv2d_backprop_input",
    .family = "depthwise_conv2d",
    .summary = "DepthwiseConv2DBackpropInput: fp16 operands, fp32 sums",
    .refusal = refuse,
    .prepare = prepare<Forward<true>>,
    .judged_as = DType::fp16,
    .is_made_for = is_depthwise,
}};

const RegisteredKernel backprop_filter{{
    .op = "conv2d_grad_weight",
    .name = "depthwise_conv2d_backprop_filter",
    .family = "depthwise_conv2d",
    .summary = "DepthwiseConv2DBackpropFilter: fp16 operands, fp32 sums, to FRACTAL_Z",
    .refusal = refuse,
    .prepare = prepare<Filter>,
    .judged_as = DType::fp16,
    .is_made_for = is_depthwise,
}};

}  // namespace
}  // namespace opbench
