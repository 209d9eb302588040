// DepthwiseConv2D and its gradients: 16 channels side by side, each with its own kernel. Only the
// diagonals of the weight's blocks are used.
#include <memory>
#include <vector>

#include "kernels/conv2d_plan.h"
#include "kernels/simd/conv2d_plane.h"
#include "kernels/simd/scratch.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

// kBackward: dx from dy, else y from x.
template <bool kBackward>
struct Forward {
  FractalWeight weight;
  ChannelPlanes in, out;
  ConvAxes axes;
  ConvRows rows;
  DType bias_dtype;
  bool has_bias;
  Scratch factors;  // [block of channels][tap][16]

  explicit Forward(const Problem& problem)
      : weight(problem, problem.inputs[1]),
        in(problem.inputs[0]),
        out(problem.outputs[0]),
        axes(ConvAxes::of(problem, weight.conv, kBackward)),
        rows(in, axes.h, axes.w, 1, kCube, {packed_room(0), 1}),
        bias_dtype(problem.inputs.back().dtype),
        has_bias(problem.inputs.size() > 2),
        factors(in.planes * block_factors()) {}

  std::int64_t block_factors() const { return weight.conv.taps() * kCube; }

  // Loads the diagonals of a block of the weight, which is stored as T.
  template <class T>
  void load_diagonals(const void* from, std::int64_t block) const {
    const std::int64_t used = in.used(block);
    T stored[kCube] = {};
    for (std::int64_t tap = 0; tap < weight.conv.taps(); ++tap) {
      const T* tile = static_cast<const T*>(from) + weight.offset(block, tap, 0, 0);
      for (std::int64_t lane = 0; lane < used; ++lane) stored[lane] = tile[lane * (kCube + 1)];
      load_places(weight.dtype, stored, {}, 1,
                  factors.data() + block * block_factors() + tap * kCube);
    }
  }
  void load_factors(const void* from, std::int64_t block) const {
    if (weight.dtype == DType::fp32) return load_diagonals<float>(from, block);
    load_diagonals<std::uint16_t>(from, block);
  }

  // Computes a part of the rows of a plane.
  void compute(const KernelArgs& args, std::int64_t plane, std::int64_t part) const {
    thread_local AlignedFloats packed;
    packed.resize(rows.plane_elements());
    const std::int64_t block = plane % in.planes;
    const ConvBand band = rows.bands().part(plane / in.planes, part);
    rows.pack(args.inputs[0], band, block, 1, packed.data());
    ConvImage image = axes.image(rows, band, out.dtype);
    float bias[kCube] = {};
    if (has_bias) {
      load_floats(bias_dtype, at(args.inputs[2], bias_dtype, block * kCube), out.used(block), bias);
    }
    image.x = packed.data();
    image.w = factors.data() + block * block_factors();
    image.width = kCube;
    image.bias = bias;
    image.y[0] = out.address(args.outputs[0], plane);
    image.used[0] = out.used(block);
    convolve_depthwise(image);
  }

  void operator()(const KernelArgs& args) const {
    parallel_blocks(in.planes, [&](std::int64_t block) { load_factors(args.inputs[1], block); });
    const std::int64_t parts = rows.bands().place_parts();
    parallel_blocks(in.count() * parts,
                    [&](std::int64_t i) { compute(args, i / parts, i % parts); });
  }
};

struct Filter {
  FractalWeight weight;
  ChannelPlanes dy, x;
  ConvAxes axes;
  ConvRows rows;
  Scratch sums;  // [image][block of channels][tap][16]

  explicit Filter(const Problem& problem)
      : weight(problem, problem.outputs[0]),
        dy(problem.inputs[0]),
        x(problem.inputs[1]),
        axes(ConvAxes::of_weight(problem, weight.conv)),
        rows(x, axes.h, axes.w, 1, kCube, {packed_room(0), 1}),
        sums(dy.count() * plane_sums()) {}

  std::int64_t plane_sums() const { return weight.conv.taps() * kCube; }

  void add_part(const KernelArgs& args, std::int64_t plane, const ConvBand& band) const {
    thread_local AlignedFloats packed, gradients;
    thread_local std::vector<DepthwiseTerm> terms;
    packed.resize(rows.plane_elements());
    rows.pack(args.inputs[1], band, plane % x.planes, 1, packed.data());
    gradients.resize((band.end - band.begin) * axes.out_w * kCube);
    const std::int64_t line = axes.out_w * kCube;
    load_places(dy.dtype, at(args.inputs[0], dy.dtype, plane * dy.elements() + band.begin * line),
                {}, (band.end - band.begin) * axes.out_w, gradients.data());
    DepthwisePlaces places{nullptr, 0, axes.out_w, rows.row_elements()};
    for (std::int64_t q = band.begin; q < band.end; q += places.rows) {
      terms.clear();
      places.dy = gradients.data() + (q - band.begin) * line;
      places.rows = alike(q, band.end);
      const float* from = packed.data() + (q - band.begin) * rows.row_elements();
      for (const ConvTap& down : rows.row_phases().front().taps) {
        if (!down.meets(q, 1)) continue;
        for (const ConvTap& along : rows.column_phases().front().taps) {
          terms.push_back({from + down.x + along.x,
                           sums.data() + plane * plane_sums() + (down.w + along.w) * kCube});
        }
      }
      add_depthwise_terms(places, terms);
    }
  }

  // The number of rows from q on that meet the same taps.
  std::int64_t alike(std::int64_t q, std::int64_t end) const {
    for (const ConvTap& down : rows.row_phases().front().taps) {
      if (down.begin > q) end = std::min(end, down.begin);
      if (down.end > q) end = std::min(end, down.end);
    }
    return end - q;
  }

  void add_plane(const KernelArgs& args, std::int64_t plane) const {
    std::fill_n(sums.data() + plane * plane_sums(), plane_sums(), 0.0f);
    for (std::int64_t part = 0; part < rows.bands().place_parts(); ++part) {
      add_part(args, plane, rows.bands().part(plane / x.planes, part));
    }
  }

  // Adds the images' sums in order to the diagonal of every tap's block; the other elements are
  // zeros.
  void store(std::int64_t block, void* dw) const {
    alignas(64) float stored[kCube * kCube] = {};
    for (std::int64_t tap = 0; tap < weight.conv.taps(); ++tap) {
      float totals[kCube] = {};
      for (std::int64_t n = 0; n < x.outer; ++n) {
        const float* of = sums.data() + (n * x.planes + block) * plane_sums() + tap * kCube;
        for (std::int64_t lane = 0; lane < kCube; ++lane) totals[lane] += of[lane];
      }
      for (std::int64_t lane = 0; lane < dy.used(block); ++lane) {
        stored[lane * kCube + lane] = totals[lane];
      }
      store_floats(weight.dtype, stored, kCube * kCube,
                   at(dw, weight.dtype, weight.offset(block, tap, 0, 0)));
    }
  }

  void operator()(const KernelArgs& args) const {
    parallel_blocks(x.count(), [&](std::int64_t plane) { add_plane(args, plane); });
    parallel_blocks(x.planes, [&](std::int64_t block) { store(block, args.outputs[0]); });
  }
};

template <class Plan>
Launch prepare(const Problem& problem) {
  return [plan = std::make_shared<Plan>(problem)](const KernelArgs& args) { (*plan)(args); };
}

// Temporaries: the weight of every tap or the sums of every image, and a plane of each tensor for
// each thread.
template <bool kFilter>
std::size_t temporaries(const Problem& problem) {
  const Conv2d conv = conv2d_shape(problem);
  const ChannelPlanes first(problem.inputs[0]), second(problem.inputs[kFilter ? 1 : 0]);
  const std::int64_t kernels = (kFilter ? first.count() : first.planes) * conv.taps() * kCube;
  const std::int64_t planes = first.elements() + (kFilter ? second.elements() : 0);
  return sizeof(float) * static_cast<std::size_t>(kernels + thread_count() * planes);
}

// If every channel is a group with one output, 16 channels fill a block of the weight.
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
    .provider = Provider::npu,
    .summary = "DepthwiseConv2D: fp16 operands, fp32 sums, 16 channels side by side",
    .refusal = refuse,
    .prepare = prepare<Forward<false>>,
    .judged_as = DType::fp16,
    .temporary_bytes = temporaries<false>,
    .is_made_for = is_depthwise,
}};

const RegisteredKernel backprop_input{{
    .op = "conv2d_grad_input",
    .name = "depthwise_conv2d_backprop_input",
    .family = "depthwise_conv2d",
    .provider = Provider::npu,
    .summary = "DepthwiseConv2DBackpropInput: fp16 operands, fp32 sums",
    .refusal = refuse,
    .prepare = prepare<Forward<true>>,
    .judged_as = DType::fp16,
    .temporary_bytes = temporaries<false>,
    .is_made_for = is_depthwise,
}};

const RegisteredKernel backprop_filter{{
    .op = "conv2d_grad_weight",
    .name = "depthwise_conv2d_backprop_filter",
    .family = "depthwise_conv2d",
    .provider = Provider::npu,
    .summary = "DepthwiseConv2DBackpropFilter: fp16 operands, fp32 sums, to FRACTAL_Z",
    .refusal = refuse,
    .prepare = prepare<Filter>,
    .judged_as = DType::fp16,
    .temporary_bytes = temporaries<true>,
    .is_made_for = is_depthwise,
}};

}  // namespace
}  // namespace opbench
