#include "kernels/conv2d_one_place.h"

#include <algorithm>
#include <numeric>

#include "kernels/simd/conv2d_plane.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

// Weights of a group: half of a small first-level cache.
constexpr std::int64_t kGroupFactors = 4096;

std::int64_t tap_factors_of(const CubePlan& plan) {
  return plan.term_blocks * kCube * kPanelBlocks * kCube;
}
std::int64_t group_of(const CubePlan& plan) {
  return std::max<std::int64_t>(1, kGroupFactors / std::max<std::int64_t>(1, tap_factors_of(plan)));
}

// The tap that each element of an axis meets; -1 for an element without a tap.
std::vector<std::int64_t> taps_of(const ConvAxis& axis, std::int64_t elements) {
  std::vector<std::int64_t> taps(static_cast<std::size_t>(elements), -1);
  for (const AxisPhase& phase : axis.phases) {
    for (const AxisTap& tap : phase.taps) {
      for (std::int64_t q = tap.begin; q < tap.end; ++q) {
        taps[static_cast<std::size_t>(phase.first + q * axis.out_step)] = tap.tap;
      }
    }
  }
  return taps;
}

/// Taps [begin, end) of an axis with a single window. They meet places from `place` on, a dilation
/// apart.
struct MetTaps {
  std::int64_t begin, end, place;
};

MetTaps met_taps(std::int64_t extent, std::int64_t kernel, std::int64_t padding,
                 std::int64_t dilation) {
  const std::int64_t begin = (padding + dilation - 1) / dilation;
  const std::int64_t behind = (extent + padding + dilation - 1) / dilation;
  return {std::min(begin, kernel), std::clamp(behind, std::min(begin, kernel), kernel),
          begin * dilation - padding};
}

std::int64_t row_operands(const FractalWeight& weight, const ChannelPlanes& x) {
  return x.outer * weight.conv.window.kernel.w * kCube;
}

}  // namespace

bool OnePlaceConv2d::takes(const Problem& problem) {
  return ChannelPlanes(problem.inputs[0]).inner == 1;
}

OnePlaceConv2d::OnePlaceConv2d(const Problem& problem, bool backward)
    : plan_(problem, backward),
      tap_factors_(tap_factors_of(plan_)),
      group_(group_of(plan_)),
      images_{{0, plan_.in.outer, {{0, 0, 0, plan_.in.outer}}}},
      x_(plan_.in.count() * kCube) {
  const std::int64_t width = plan_.axes.out_w;
  const std::int64_t height = width == 0 ? 0 : plan_.out.inner / width;
  const std::vector<std::int64_t> along = taps_of(plan_.axes.w, width);
  for (const std::int64_t down : taps_of(plan_.axes.h, height)) {
    for (const std::int64_t across : along) {
      const auto element = static_cast<std::int64_t>(elements_.size());
      const bool meets = down >= 0 && across >= 0;
      taps_.push_back(meets ? down * plan_.axes.w.kernel + across : -1);
      ConvPhase& row = elements_.emplace_back(ConvPhase{element, 1, {}});
      if (meets) row.taps.push_back({0, element % group_, 0, 1});
    }
  }
}

// The elements of a group and the sums of a panel.
void OnePlaceConv2d::compute(const KernelArgs& args, std::int64_t block, std::int64_t panel,
                             std::int64_t group) const {
  thread_local AlignedFloats factors;
  factors.resize(group_ * tap_factors_);
  float bias[kPanelBlocks * kCube];
  ConvImage image{};
  plan_.set_panel(args, block, panel, bias, image);
  const auto all = static_cast<std::int64_t>(elements_.size());
  const std::int64_t begin = group * group_, end = std::min(begin + group_, all);
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t tap = taps_[static_cast<std::size_t>(i)];
    if (tap < 0) continue;
    plan_.pack_panel(args.inputs[1], block, panel, tap,
                     factors.data() + (i - begin) * image.channels * image.width);
  }
  image.rows = std::span(elements_).subspan(static_cast<std::size_t>(begin),
                                            static_cast<std::size_t>(end - begin));
  image.columns = images_;
  image.begin = 0;
  image.end = 1;
  image.column_step = plan_.out.planes * plan_.out.inner;
  image.y_width = 1;
  image.lanes = kCube;
  image.plane = plan_.in.outer * kCube;
  image.x = x_.data() + plan_.first_in(block) * image.plane;
  image.w = factors.data();
  image.dtype = plan_.out.dtype;
  for (std::int64_t b = 0; b < image.width / kCube; ++b) {
    image.y[b] =
        plan_.out.address(args.outputs[0], plan_.first_out(block) + panel * kPanelBlocks + b);
  }
  convolve(image);
}

void OnePlaceConv2d::operator()(const KernelArgs& args) const {
  const ChannelPlanes& in = plan_.in;
  for (std::int64_t plane = 0; plane < in.count(); ++plane) {
    load_places(in.dtype, in.address(args.inputs[0], plane), {}, 1,
                x_.data() + (plane % in.planes * in.outer + plane / in.planes) * kCube);
  }
  const std::int64_t groups = (static_cast<std::int64_t>(elements_.size()) + group_ - 1) / group_;
  const std::int64_t panels = plan_.panels();
  parallel_blocks(in.outer == 0 ? 0 : plan_.weight.fractal.blocks * panels * groups,
                  [&](std::int64_t i) {
                    const std::int64_t block = i / groups / panels, panel = i / groups % panels;
                    if (plan_.panel_blocks(block, panel) > 0) {
                      compute(args, block, panel, i % groups);
                    }
                  });
}

std::size_t OnePlaceConv2d::temporary_bytes(const Problem& problem, bool backward) {
  const CubePlan plan(problem, backward);
  const std::int64_t factors = group_of(plan) * tap_factors_of(plan);
  return sizeof(float) *
         static_cast<std::size_t>(plan.in.count() * kCube + thread_count() * factors);
}

bool OnePlaceFilter::takes(const Problem& problem) {
  return ChannelPlanes(problem.inputs[0]).inner == 1 && conv2d_shape(problem).groups == 1;
}

OnePlaceFilter::OnePlaceFilter(const Problem& problem)
    : weight_(problem, problem.outputs[0]),
      dy_(problem.inputs[0]),
      x_(problem.inputs[1]),
      outputs_(static_cast<std::size_t>(dy_.planes * kCube)),
      packed_dy_(dy_.count() * kCube) {
  std::iota(outputs_.begin(), outputs_.end(), 0);
}

// Computes a row of taps of 16 channels: gathers their inputs of all images, then adds tap by tap.
void OnePlaceFilter::row(const KernelArgs& args, std::int64_t block, std::int64_t tap_row) const {
  thread_local AlignedFloats operands, sums;
  operands.resize(row_operands(weight_, x_));
  const std::int64_t count = weight_.outputs() * kCube;
  sums.resize(count);
  const auto& [kernel, stride, padding, dilation] = weight_.conv.window;
  const Conv2d& conv = weight_.conv;
  const MetTaps down = met_taps(conv.h, kernel.h, padding.h, dilation.h);
  const MetTaps across = met_taps(conv.w, kernel.w, padding.w, dilation.w);
  const bool meets = tap_row >= down.begin && tap_row < down.end;
  const std::int64_t taps = meets ? across.end - across.begin : 0;
  const std::int64_t first =
      (down.place + (tap_row - down.begin) * dilation.h) * conv.w + across.place;
  for (std::int64_t n = 0; taps > 0 && n < x_.outer; ++n) {
    const void* plane = x_.address(args.inputs[1], n * x_.planes + block);
    load_places(x_.dtype, at(plane, x_.dtype, first * kCube), {dilation.w * kCube, kCube}, taps,
                operands.data() + n * taps * kCube);
  }
  FilterTile tile{};
  tile.images = x_.outer;
  tile.rows = tile.places = tile.x_place = 1;
  tile.x = packed_dy_.data();
  tile.x_image = dy_.planes * kCube;
  tile.dy_image = taps * kCube;
  tile.width = kCube;
  const std::int64_t used = x_.used(block);
  for (std::int64_t tap = 0; tap < kernel.w; ++tap) {
    std::fill_n(sums.data(), count, 0.0f);
    if (meets && tap >= across.begin && tap < across.end) {
      tile.dy = operands.data() + (tap - across.begin) * kCube;
      add_filter_terms(tile, outputs_, sums.data());
    }
    for (std::int64_t i = 0; used < kCube && i < conv.m; ++i) {
      std::fill(sums.data() + i * kCube + used, sums.data() + (i + 1) * kCube, 0.0f);
    }
    std::fill(sums.data() + conv.m * kCube, sums.data() + count, 0.0f);
    store_floats(weight_.dtype, sums.data(), count,
                 at(args.outputs[0], weight_.dtype,
                    weight_.offset(0, tap_row * kernel.w + tap, 0, block * kCube)));
  }
}

void OnePlaceFilter::operator()(const KernelArgs& args) const {
  for (std::int64_t n = 0; n < dy_.outer; ++n) {
    load_places(dy_.dtype, dy_.address(args.inputs[0], n * dy_.planes), {}, dy_.planes,
                packed_dy_.data() + n * dy_.planes * kCube);
  }
  const std::int64_t rows = weight_.conv.window.kernel.h;
  parallel_blocks(weight_.fractal.c1 * rows,
                  [&](std::int64_t i) { row(args, i / rows, i % rows); });
}

std::size_t OnePlaceFilter::temporary_bytes(const Problem& problem) {
  const FractalWeight weight(problem, problem.outputs[0]);
  const ChannelPlanes dy(problem.inputs[0]), x(problem.inputs[1]);
  return sizeof(float) *
         static_cast<std::size_t>(dy.count() * kCube + thread_count() * (row_operands(weight, x) +
                                                                         weight.outputs() * kCube));
}

}  // namespace opbench
