// Conv2DBackpropFilter: for every tap a product of dy with the places of x that the tap meets, in
// FRACTAL_Z. Bands of x and dy are packed by all threads together, which then share the sums; each
// sum takes the places in their order.
#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/conv2d_plan.h"
#include "kernels/lanes/conv2d_filter.h"
#include "kernels/lanes/conv2d_pack.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

// Places of 32 outputs in 16 KiB: half of a small first-level cache.
constexpr std::int64_t kTilePlaces = 128;

struct FilterPlan {
  FractalWeight weight;
  ChannelPlanes dy, x;
  ConvAxes axes;
  ConvRows rows;

  explicit FilterPlan(const Problem& problem)
      : weight(problem, problem.outputs[0]),
        dy(problem.inputs[0]),
        x(problem.inputs[1]),
        axes(ConvAxes::of_weight(problem, weight.conv)),
        rows(x, axes.h, axes.w, x.planes,
             {packed_room() * thread_count(), x.outer, dy.planes * line()}) {}

  std::int64_t line() const { return axes.out_w * kCube; }  ///< elements of a row of dy
  std::int64_t dy_plane() const { return rows.bands().places_each * line(); }
  std::int64_t dy_elements() const { return rows.bands().images_each * dy.planes * dy_plane(); }

  // Blocks of 16 outputs come in panels, as in the forward pass.
  std::int64_t panels() const { return (weight.fractal.n1 + kPanelBlocks - 1) / kPanelBlocks; }
  std::int64_t first_output(std::int64_t block, std::int64_t panel) const {
    return weight.first_output(block) / kCube + panel * kPanelBlocks;
  }
  std::int64_t panel_blocks(std::int64_t block, std::int64_t panel) const {
    return std::max<std::int64_t>(0,
                                  std::min({kPanelBlocks, weight.fractal.n1 - panel * kPanelBlocks,
                                            dy.planes - first_output(block, panel)}));
  }
  std::int64_t channels(std::int64_t block) const {
    return std::min(weight.channels(), x.channels - weight.first_channel(block));
  }
  std::int64_t panel_sums() const {
    return weight.conv.taps() * weight.channels() * kPanelBlocks * kCube;
  }
  std::int64_t all_sums() const { return weight.fractal.blocks * panels() * panel_sums(); }
};

struct BackpropFilter {
  FilterPlan plan;
  Scratch operands, gradients;  // of a band, [image][block of 16][row][column][16]
  Scratch sums;         // [block][panel][tap of a row that meets][of a column][channel][output]
  std::int64_t shares;  // threads that share the terms of a panel and a row of taps

  explicit BackpropFilter(const Problem& problem)
      : plan(problem),
        operands(plan.rows.band_elements()),
        gradients(plan.dy_elements()),
        sums(plan.all_sums()) {
    const std::int64_t tasks = plan.weight.fractal.blocks * plan.panels() * rows_of_taps();
    shares =
        thread_count() == 1 ? 1 : (4 * thread_count() + tasks) / std::max<std::int64_t>(1, tasks);
  }

  std::int64_t rows_of_taps() const {
    return static_cast<std::int64_t>(plan.rows.row_phases().front().taps.size());
  }

  // Block `b` of the channels of an image of the band, then of its outputs.
  void pack(const KernelArgs& args, const ConvBand& band, std::int64_t n, std::int64_t b) const {
    if (b < plan.x.planes) {
      plan.rows.pack(args.inputs[1], {band.first + n, 1, band.begin, band.end}, b, 1,
                     operands.data() + (n * plan.x.planes + b) * plan.rows.plane_elements());
      return;
    }
    const std::int64_t m = b - plan.x.planes;
    const void* plane = plan.dy.address(args.inputs[0], (band.first + n) * plan.dy.planes + m);
    load_places(plan.dy.dtype, at(plane, plan.dy.dtype, band.begin * plan.line()), kCube,
                (band.end - band.begin) * plan.axes.out_w,
                gradients.data() + (n * plan.dy.planes + m) * plan.dy_plane());
  }

  // Adds images [n, n + images) and rows [begin, end) of a band to a share of a panel's sums.
  void add_tile(const ConvBand& band, std::int64_t block, std::int64_t panel, const ConvTap& down,
                std::span<const std::int64_t> offsets, float* to, const ConvBand& part) const {
    const std::int64_t begin = std::max(part.begin, down.begin), end = std::min(part.end, down.end);
    if (begin >= end) return;
    FilterTile tile{};
    tile.images = part.images;
    tile.rows = end - begin;
    tile.places = plan.axes.out_w;
    tile.x_row = plan.rows.row_elements();
    tile.x_image = plan.x.planes * plan.rows.plane_elements();
    tile.x = operands.data() + part.first * tile.x_image +
             plan.weight.first_channel(block) / kCube * plan.rows.plane_elements() +
             (begin - band.begin) * tile.x_row + down.x;
    tile.dy_row = plan.line();
    tile.dy_block = plan.dy_plane();
    tile.dy_image = plan.dy.planes * tile.dy_block;
    tile.dy = gradients.data() + part.first * tile.dy_image +
              plan.first_output(block, panel) * tile.dy_block + (begin - band.begin) * tile.dy_row;
    tile.width = plan.panel_blocks(block, panel) * kCube;
    add_filter_terms(tile, offsets, to);
  }

  // A share of the sums of a panel over what a row of taps meets of a band, some places at a time.
  void add(const ConvBand& band, std::int64_t block, std::int64_t panel, std::int64_t tap_row,
           std::int64_t share) const {
    const std::int64_t width = plan.panel_blocks(block, panel) * kCube;
    if (width == 0) return;
    const ConvTap& down = plan.rows.row_phases().front().taps[static_cast<std::size_t>(tap_row)];
    const std::vector<ConvTap>& columns = plan.rows.column_phases().front().taps;
    const std::int64_t channels = plan.channels(block);
    thread_local std::vector<std::int64_t> offsets;
    offsets.clear();
    for (const ConvTap& along : columns) {
      for (std::int64_t c = 0; c < channels; ++c) {
        offsets.push_back(along.x + c / kCube * plan.rows.plane_elements() + c % kCube);
      }
    }
    if (offsets.empty()) return;
    const auto count = static_cast<std::int64_t>(offsets.size());
    const std::int64_t first = count * share / shares, last = count * (share + 1) / shares;
    const std::span<const std::int64_t> mine(offsets.data() + first,
                                             static_cast<std::size_t>(last - first));
    float* to = sums.data() + (block * plan.panels() + panel) * plan.panel_sums() +
                (tap_row * static_cast<std::int64_t>(columns.size()) * channels + first) * width;
    const std::int64_t rows =
        std::clamp<std::int64_t>(kTilePlaces / plan.axes.out_w, 1, band.end - band.begin);
    const std::int64_t images =
        std::clamp<std::int64_t>(kTilePlaces / (rows * plan.axes.out_w), 1, band.images);
    for (std::int64_t n = 0; n < band.images; n += images) {
      for (std::int64_t q = band.begin; q < band.end; q += rows) {
        add_tile(band, block, panel, down, mine, to,
                 {n, std::min(images, band.images - n), q, std::min(q + rows, band.end)});
      }
    }
  }

  // 16 outputs by 16 channels of a tap, from `output` and `channel` of the block on.
  void store_block(void* dw, std::int64_t block, std::int64_t tap, std::int64_t output,
                   std::int64_t channel) const {
    const FractalWeight& weight = plan.weight;
    const std::int64_t panel = output / kCube / kPanelBlocks, channels = plan.channels(block);
    const std::int64_t width = plan.panel_blocks(block, panel) * kCube;
    const std::int64_t at_tap = position(tap), lane = output - panel * kPanelBlocks * kCube;
    alignas(64) float by_channel[kCube * kCube] = {}, stored[kCube * kCube];
    for (std::int64_t c = channel;
         at_tap >= 0 && lane < width && c < std::min(channel + kCube, channels); ++c) {
      std::copy_n(sums.data() + (block * plan.panels() + panel) * plan.panel_sums() +
                      (at_tap * channels + c) * width + lane,
                  kCube, by_channel + (c - channel) * kCube);
    }
    transpose_block(by_channel, kCube, kCube, stored);
    const bool is_full = weight.conv.groups == 1 && output + kCube <= weight.conv.m;
    for (std::int64_t i = 0; !is_full && i < kCube * kCube; ++i) {
      if (!weight.is_element(block, output + i / kCube, channel + i % kCube)) stored[i] = 0;
    }
    store_floats(weight.dtype, stored, kCube * kCube,
                 at(dw, weight.dtype, weight.offset(block, tap, output, channel)));
  }

  // Of a tap among those that have sums, -1 for one that no place meets.
  std::int64_t position(std::int64_t tap) const {
    const std::vector<ConvTap>& rows = plan.rows.row_phases().front().taps;
    const std::vector<ConvTap>& columns = plan.rows.column_phases().front().taps;
    const std::int64_t kernel_w = plan.weight.conv.window.kernel.w;
    const auto find = [](const std::vector<ConvTap>& taps, std::int64_t w) {
      return std::find_if(taps.begin(), taps.end(), [&](const ConvTap& t) { return t.w == w; });
    };
    const auto row = find(rows, tap / kernel_w * kernel_w), column = find(columns, tap % kernel_w);
    if (row == rows.end() || column == columns.end()) return -1;
    return (row - rows.begin()) * static_cast<std::int64_t>(columns.size()) +
           (column - columns.begin());
  }

  void add_band(const KernelArgs& args, const ConvBand& band) const {
    const std::int64_t planes = plan.x.planes + plan.dy.planes;
    parallel_blocks(band.images * planes,
                    [&](std::int64_t i) { pack(args, band, i / planes, i % planes); });
    const std::int64_t rows = rows_of_taps(), panels = plan.panels();
    parallel_blocks(plan.weight.fractal.blocks * panels * rows * shares, [&](std::int64_t i) {
      const std::int64_t panel = i / shares / rows;
      add(band, panel / panels, panel % panels, i / shares % rows, i % shares);
    });
  }

  void operator()(const KernelArgs& args) const {
    parallel_ranges(plan.all_sums(), 1024, [&](std::int64_t begin, std::int64_t end) {
      std::fill(sums.data() + begin, sums.data() + end, 0.0f);
    });
    const ConvBands& bands = plan.rows.bands();
    for (std::int64_t i = 0; i < bands.count(); ++i) add_band(args, bands[i]);
    const FractalWeight& weight = plan.weight;
    const std::int64_t taps = weight.conv.taps(), c1 = weight.fractal.c1, n1 = weight.fractal.n1;
    parallel_blocks(weight.fractal.blocks * c1 * taps, [&](std::int64_t i) {
      for (std::int64_t output = 0; output < n1 * kCube; output += kCube) {
        store_block(args.outputs[0], i / taps / c1, i % taps, output, i / taps % c1 * kCube);
      }
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
          const FilterPlan plan(problem);
          return sizeof(float) * static_cast<std::size_t>(plan.rows.band_elements() +
                                                          plan.dy_elements() + plan.all_sums());
        },
}};

}  // namespace
}  // namespace opbench
