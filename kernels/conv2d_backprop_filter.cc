// Conv2DBackpropFilter: for every tap a product of dy with the places of x that the tap meets, in
// FRACTAL_Z. Bands of x and dy are packed and added to sums that stay in registers for some hundred
// places. Each group of images has its own sums, which are added in the order of the groups.
#include <algorithm>
#include <memory>
#include <vector>

#include "kernels/conv2d_one_place.h"
#include "kernels/conv2d_plan.h"
#include "kernels/simd/conv2d_plane.h"
#include "kernels/simd/scratch.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

// The places of 32 outputs in 16 KiB: half of a small first-level cache.
constexpr std::int64_t kTilePlaces = 128;

// The limit of image groups that threads share, for any number of threads.
constexpr std::int64_t kMostGroups = 8;

struct FilterPlan {
  FractalWeight weight;
  ChannelPlanes dy, x;
  ConvAxes axes;
  std::int64_t groups;  // groups of images
  ConvRows rows;

  explicit FilterPlan(const Problem& problem)
      : weight(problem, problem.outputs[0]),
        dy(problem.inputs[0]),
        x(problem.inputs[1]),
        axes(ConvAxes::of_weight(problem, weight.conv)),
        groups(groups_of_images()),
        rows(x, axes.h, axes.w, x.planes, lanes_for(x.channels),
             {packed_room(all_sums()), (x.outer + groups - 1) / groups, dy.planes * line()}) {}

  // One group per image, unless the sums become larger than their operands.
  std::int64_t groups_of_images() const {
    const std::int64_t inputs = x.count() * x.elements() + dy.count() * dy.elements();
    const std::int64_t fitting = inputs / 2 / std::max<std::int64_t>(1, all_sums());
    return std::max<std::int64_t>(1, std::min({fitting, x.outer, kMostGroups}));
  }
  std::int64_t first_image(std::int64_t group) const { return x.outer * group / groups; }

  std::int64_t line() const { return axes.out_w * kCube; }  ///< elements of a row of dy
  std::int64_t dy_plane() const { return rows.bands().places_each * line(); }
  std::int64_t dy_elements() const { return rows.bands().images_each * dy.planes * dy_plane(); }

  // Blocks of 16 outputs form panels, as in the forward pass.
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

// The sums of a panel for one row of the kernel's taps.
struct FilterUnit {
  std::int64_t block, panel, tap_row;
};

// A band of x and dy as cube operands, [image][block of 16][row][column][16].
struct PackedBand {
  ConvBand band;
  AlignedFloats x, dy;
};

struct BackpropFilter {
  FilterPlan plan;
  Scratch sums;         // [group][block][panel][row of taps][column that meets][channel][output]
  std::int64_t shares;  // threads that share the units of a group
  // For each block of the weight: the places of the channels of every column of taps in a packed
  // band.
  std::vector<std::vector<std::int64_t>> offsets;

  explicit BackpropFilter(const Problem& problem)
      : plan(problem), sums(plan.groups * plan.all_sums()) {
    const std::int64_t wanted = (thread_count() + plan.groups - 1) / plan.groups;
    shares = std::max<std::int64_t>(1, std::min(wanted, units()));
    for (std::int64_t block = 0; block < plan.weight.fractal.blocks; ++block) {
      std::vector<std::int64_t>& of_block = offsets.emplace_back();
      for (const ConvTap& along : tap_columns()) {
        for (std::int64_t c = 0; c < plan.channels(block); ++c) {
          of_block.push_back(along.x + c / kCube * plan.rows.plane_elements() + c % kCube);
        }
      }
    }
  }

  const std::vector<ConvTap>& tap_columns() const { return plan.rows.column_phases().front().taps; }
  std::int64_t tap_rows() const { return plan.weight.conv.window.kernel.h; }
  std::int64_t units() const { return plan.weight.fractal.blocks * plan.panels() * tap_rows(); }
  FilterUnit unit(std::int64_t index) const {
    const std::int64_t panel = index / tap_rows();
    return {panel / plan.panels(), panel % plan.panels(), index % tap_rows()};
  }
  std::int64_t unit_sums(const FilterUnit& unit) const {
    return static_cast<std::int64_t>(tap_columns().size()) * plan.channels(unit.block) *
           plan.panel_blocks(unit.block, unit.panel) * kCube;
  }
  float* sums_of(std::int64_t group, const FilterUnit& unit) const {
    return sums.data() + group * plan.all_sums() +
           (unit.block * plan.panels() + unit.panel) * plan.panel_sums() +
           unit.tap_row * unit_sums(unit);
  }

  // Packs the operands of the units from `first` to `last`.
  void pack(const KernelArgs& args, const FilterUnit& first, const FilterUnit& last,
            PackedBand& packed) const {
    const ConvBand& band = packed.band;
    packed.x.resize(plan.rows.band_elements());
    packed.dy.resize(plan.dy_elements());
    const std::int64_t x_begin = plan.weight.first_channel(first.block) / kCube;
    const std::int64_t x_end = std::min(
        plan.x.planes, plan.weight.first_channel(last.block) / kCube + plan.weight.fractal.c1);
    plan.rows.pack(args.inputs[1], band, x_begin, x_end - x_begin,
                   packed.x.data() + x_begin * plan.rows.plane_elements());
    const std::int64_t dy_begin = plan.first_output(first.block, first.panel);
    const std::int64_t dy_end =
        plan.first_output(last.block, last.panel) + plan.panel_blocks(last.block, last.panel);
    for (std::int64_t n = 0; n < band.images; ++n) {
      for (std::int64_t m = dy_begin; m < dy_end; ++m) {
        const void* plane = plan.dy.address(args.inputs[0], (band.first + n) * plan.dy.planes + m);
        load_places(plan.dy.dtype, at(plane, plan.dy.dtype, band.begin * plan.line()), {},
                    (band.end - band.begin) * plan.axes.out_w,
                    packed.dy.data() + (n * plan.dy.planes + m) * plan.dy_plane());
      }
    }
  }

  // Adds the products of images and rows of a band to a unit's sums.
  void add_tile(const PackedBand& packed, const FilterUnit& unit, const ConvTap& down,
                const ConvBand& part, float* to) const {
    const std::int64_t begin = std::max(part.begin, down.begin), end = std::min(part.end, down.end);
    if (begin >= end) return;
    FilterTile tile{};
    tile.images = part.images;
    tile.rows = end - begin;
    tile.places = plan.axes.out_w;
    tile.x_place = plan.rows.lanes();
    tile.x_row = plan.rows.row_elements();
    tile.x_image = plan.x.planes * plan.rows.plane_elements();
    tile.x = packed.x.data() + part.first * tile.x_image +
             plan.weight.first_channel(unit.block) / kCube * plan.rows.plane_elements() +
             (begin - packed.band.begin) * tile.x_row + down.x;
    tile.dy_row = plan.line();
    tile.dy_block = plan.dy_plane();
    tile.dy_image = plan.dy.planes * tile.dy_block;
    tile.dy = packed.dy.data() + part.first * tile.dy_image +
              plan.first_output(unit.block, unit.panel) * tile.dy_block +
              (begin - packed.band.begin) * tile.dy_row;
    tile.width = plan.panel_blocks(unit.block, unit.panel) * kCube;
    add_filter_terms(tile, offsets[static_cast<std::size_t>(unit.block)], to);
  }

  // Adds a band, some places at a time.
  void add_band(const PackedBand& packed, const FilterUnit& unit, float* to) const {
    const ConvTap* down = tap_row(unit);
    if (down == nullptr || plan.panel_blocks(unit.block, unit.panel) == 0) return;
    const ConvBand& band = packed.band;
    const std::int64_t width = plan.axes.out_w;
    const std::int64_t rows =
        std::clamp<std::int64_t>(kTilePlaces / width, 1, band.end - band.begin);
    const std::int64_t images =
        std::clamp<std::int64_t>(kTilePlaces / (rows * width), 1, band.images);
    for (std::int64_t n = 0; n < band.images; n += images) {
      for (std::int64_t q = band.begin; q < band.end; q += rows) {
        add_tile(packed, unit, *down,
                 {n, std::min(images, band.images - n), q, std::min(q + rows, band.end)}, to);
      }
    }
  }

  // Adds a group of images to a share of the units.
  void add_group(const KernelArgs& args, std::int64_t group, std::int64_t share) const {
    thread_local PackedBand packed;
    const std::int64_t begin = units() * share / shares, end = units() * (share + 1) / shares;
    const ConvBands& bands = plan.rows.bands();
    const std::int64_t last = plan.first_image(group + 1);
    const std::int64_t first = plan.first_image(group);
    for (std::int64_t n = first; n < last; n += bands.images_each) {
      for (std::int64_t part = 0; part < bands.place_parts(); ++part) {
        packed.band = bands.part(n, part);
        packed.band.images = std::min(bands.images_each, last - n);
        pack(args, unit(begin), unit(end - 1), packed);
        const bool is_first = n == first && part == 0;
        const bool is_last = n + bands.images_each >= last && part + 1 == bands.place_parts();
        for (std::int64_t i = begin; i < end; ++i) {
          float* to = sums_of(group, unit(i));
          if (is_first) std::fill_n(to, unit_sums(unit(i)), 0.0f);
          add_band(packed, unit(i), to);
          if (is_last && plan.groups == 1) store_unit(args.outputs[0], unit(i));
        }
      }
    }
  }

  // The taps of a row of the kernel; null if no place meets it.
  const ConvTap* tap_row(const FilterUnit& unit) const {
    for (const ConvTap& down : plan.rows.row_phases().front().taps) {
      if (down.w == unit.tap_row * plan.weight.conv.window.kernel.w) return &down;
    }
    return nullptr;
  }
  // The position of a column of the kernel among those with sums; -1 for a column without.
  std::int64_t position(std::int64_t column) const {
    const auto found = std::find_if(tap_columns().begin(), tap_columns().end(),
                                    [&](const ConvTap& tap) { return tap.w == column; });
    return found == tap_columns().end() ? -1 : found - tap_columns().begin();
  }

  // Adds the groups' sums of 16 outputs, from `output` of the unit on, by 16 channels.
  void add_groups(const FilterUnit& unit, std::int64_t column, std::int64_t output,
                  std::int64_t channel, float* by_channel) const {
    const std::int64_t width = plan.panel_blocks(unit.block, unit.panel) * kCube;
    const std::int64_t channels = plan.channels(unit.block), at_tap = position(column);
    const bool has_sums = at_tap >= 0 && output < width && plan.x.outer > 0;
    const std::int64_t count = has_sums ? std::min(kCube, channels - channel) : 0;
    for (std::int64_t group = 0; group < plan.groups; ++group) {
      const float* from = sums_of(group, unit) + (at_tap * channels + channel) * width + output;
      for (std::int64_t c = 0; c < count; ++c) {
        float* to = by_channel + c * kCube;
        for (std::int64_t i = 0; i < kCube; ++i) to[i] += from[c * width + i];
      }
    }
  }

  void store_unit(void* dw, const FilterUnit& unit) const {
    const FractalWeight& weight = plan.weight;
    const std::int64_t first = unit.panel * kPanelBlocks * kCube;
    const std::int64_t outputs = std::min(kPanelBlocks * kCube, weight.outputs() - first);
    const std::int64_t kernel_w = weight.conv.window.kernel.w;
    const std::int64_t blocks = kernel_w * weight.fractal.c1 * outputs / kCube;
    for (std::int64_t i = 0; i < blocks; ++i) {
      const std::int64_t output = i % (outputs / kCube) * kCube,
                         column = i / (outputs / kCube) % kernel_w;
      const std::int64_t channel = i / (outputs / kCube) / kernel_w * kCube;
      alignas(64) float by_channel[kCube * kCube] = {}, stored[kCube * kCube];
      add_groups(unit, column, output, channel, by_channel);
      transpose_block(by_channel, kCube, kCube, stored);
      const bool is_full = weight.conv.groups == 1 && first + output + kCube <= weight.conv.m;
      for (std::int64_t k = 0; !is_full && k < kCube * kCube; ++k) {
        if (!weight.is_element(unit.block, first + output + k / kCube, channel + k % kCube))
          stored[k] = 0;
      }
      const std::int64_t tap = unit.tap_row * kernel_w + column;
      store_floats(weight.dtype, stored, kCube * kCube,
                   at(dw, weight.dtype, weight.offset(unit.block, tap, first + output, channel)));
    }
  }

  void operator()(const KernelArgs& args) const {
    parallel_blocks(plan.groups * shares,
                    [&](std::int64_t i) { add_group(args, i / shares, i % shares); });
    if (plan.groups == 1 && plan.x.outer > 0) return;
    parallel_blocks(units(), [&](std::int64_t i) { store_unit(args.outputs[0], unit(i)); });
  }
};

Launch prepare(const Problem& problem) {
  if (OnePlaceFilter::takes(problem)) {
    return [plan = std::make_shared<OnePlaceFilter>(problem)](const KernelArgs& args) {
      (*plan)(args);
    };
  }
  return
      [plan = std::make_shared<BackpropFilter>(problem)](const KernelArgs& args) { (*plan)(args); };
}

std::size_t temporaries(const Problem& problem) {
  if (OnePlaceFilter::takes(problem)) return OnePlaceFilter::temporary_bytes(problem);
  const FilterPlan plan(problem);
  return sizeof(float) * static_cast<std::size_t>(
                             thread_count() * (plan.rows.band_elements() + plan.dy_elements()) +
                             plan.groups * plan.all_sums());
}

const RegisteredKernel registered{{
    .op = "conv2d_grad_weight",
    .name = "conv2d_backprop_filter",
    .family = "conv2d",
    .provider = Provider::npu,
    .summary = "Conv2DBackpropFilter: fp16 operands, fp32 sums, to FRACTAL_Z",
    .refusal = conv2d_refusal,
    .prepare = prepare,
    .judged_as = DType::fp16,
    .temporary_bytes = temporaries,
}};

}  // namespace
}  // namespace opbench
