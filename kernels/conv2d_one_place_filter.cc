#include "kernels/conv2d_one_place_filter.h"

#include <algorithm>
#include <numeric>

#include "kernels/simd/conv2d_filter.h"
#include "kernels/simd/conv2d_pack.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

/// The taps [begin, end) of an axis whose one window meets places from `place` on, a dilation
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

// A row of taps of 16 channels: what they meet of all images, and its sums, tap after tap.
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
