#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "kernels/simd/channel_planes.h"
#include "kernels/simd/conv2d_plane.h"
#include "kernels/simd/in_fp32.h"
#include "ops/conv2d.h"
#include "tensor/parallel.h"

namespace opbench {

/// A tap of the kernel along one axis: output place q takes element q*in_step + offset of the
/// input. The element exists for places [begin, end).
struct AxisTap {
  std::int64_t tap, offset, begin, end;
};

/// Places with the same taps: elements first, first + out_step, ... of the output.
struct AxisPhase {
  std::int64_t first, count;
  std::vector<AxisTap> taps;
};

/// One axis of a convolution or of its gradient by the input, as sums over the taps that a place
/// meets. Taps without places are omitted, and with them the products with the zeros between
/// strides.
struct ConvAxis {
  std::int64_t kernel, inputs;     ///< taps of the kernel, elements of the input
  std::int64_t in_step, out_step;  ///< from one place to the next
  std::vector<AxisPhase> phases;

  /// y from x: one phase that strides over the input.
  static ConvAxis forward(std::int64_t outputs, std::int64_t inputs, std::int64_t kernel,
                          std::int64_t stride, std::int64_t padding, std::int64_t dilation);
  /// dx (`outputs`) from dy (`inputs`): one phase for each element of a stride.
  static ConvAxis backward(std::int64_t outputs, std::int64_t inputs, std::int64_t kernel,
                           std::int64_t stride, std::int64_t padding, std::int64_t dilation);

  std::int64_t places() const { return phases.front().count; }  ///< of the longest phase
  /// The lowest and the highest offset of all phases; 0 without taps.
  std::int64_t lowest() const;
  std::int64_t highest() const;
};

/// Images [first, first + images) and places [begin, end) of the first axis.
struct ConvBand {
  std::int64_t first, images, begin, end;
};

/// The elements of packed rows that stay in a core's own cache while each band is combined with
/// `others` elements, weights or their sums. It is an eighth of the cache, which is the fastest to
/// write and read. It is half of the cache if the others do not fit as well: fewer bands then fetch
/// them less often.
std::int64_t packed_room(std::int64_t others);

/// The limits of a band.
struct BandLimits {
  std::int64_t room;        ///< elements
  std::int64_t images;      ///< maximum
  std::int64_t beside = 0;  ///< additional elements for each place of the first axis
};

/// The division of images and rows into bands.
struct ConvBands {
  std::int64_t images, places;  ///< totals
  std::int64_t images_each, places_each;

  std::int64_t count() const { return image_parts() * place_parts(); }
  std::int64_t image_parts() const { return (images + images_each - 1) / images_each; }
  std::int64_t place_parts() const { return (places + places_each - 1) / places_each; }
  ConvBand operator[](std::int64_t index) const;
  /// A part of the places of one image.
  ConvBand part(std::int64_t image, std::int64_t part) const;
};

struct PlaceRange {
  std::int64_t begin, end;
};

/// The packing of an axis of the input. Element lowest + phase + k*step is number k of a phase,
/// where place 0 takes the element `lowest`. So the places of a tap are adjacent.
struct PackedAxis {
  std::int64_t inputs, step, lowest, phases, each;  ///< each: elements of a phase

  PackedAxis(const ConvAxis& axis, std::int64_t places);
  std::int64_t count() const { return phases * each; }
  /// The position at which a tap meets place 0.
  std::int64_t position(const AxisTap& tap) const {
    const std::int64_t shift = tap.offset - lowest;
    return shift % step * each + shift / step;
  }
};

/// Lanes of a packed place with at most this many channels; otherwise it has 16.
inline constexpr std::int64_t kFewLanes = 4;
inline std::int64_t lanes_for(std::int64_t channels) {
  return channels <= kFewLanes ? kFewLanes : kCube;
}

/// The input of a convolution, packed one band of rows at a time as cube operands, [image][block of
/// 16 channels][row][column][lanes], with both axes as in PackedAxis. Columns beyond the image are
/// zeros. Rows beyond it do not exist, because their taps are omitted.
class ConvRows {
 public:
  /// For bands of up to `blocks` blocks of channels; one block if places have fewer than 16 lanes.
  ConvRows(const ChannelPlanes& in, const ConvAxis& h, const ConvAxis& w, std::int64_t blocks,
           std::int64_t lanes, const BandLimits& limits);

  const ConvBands& bands() const { return bands_; }
  /// The phases of both axes in the form of the kernels.
  const std::vector<ConvPhase>& row_phases() const { return row_phases_; }
  const std::vector<ConvPhase>& column_phases() const { return column_phases_; }
  std::int64_t lanes() const { return lanes_; }
  std::int64_t row_elements() const { return columns_.count() * lanes_; }
  std::int64_t plane_elements() const { return rows_.count() * row_elements(); }
  std::int64_t band_elements() const { return bands_.images_each * blocks_ * plane_elements(); }

  /// Packs `blocks` blocks of channels from `base` on. The distance of images is that of the
  /// largest band.
  void pack(const void* from, const ConvBand& band, std::int64_t base, std::int64_t blocks,
            float* to) const;

 private:
  // Packs `count` rows of a phase.
  void pack_rows(const void* from, std::int64_t count, float* to) const;

  ChannelPlanes in_;
  std::int64_t blocks_, lanes_;
  PackedAxis columns_;
  ConvBands bands_;
  PackedAxis rows_;
  std::vector<ConvPhase> row_phases_, column_phases_;
  // The places of each phase of a row, and the places common to all phases, which are read in one
  // pass.
  std::vector<PlaceRange> inside_;
  PlaceRange common_;
};

/// The device's packing of a convolution: `together` groups fill a block of the weight, with `c1`
/// blocks of 16 channels and `n1` blocks of 16 outputs (fractal_groups in tensor/format.h).
struct FractalWeight {
  Conv2d conv;
  DType dtype;
  FractalGroups fractal;

  explicit FractalWeight(const Problem& problem, const TensorDesc& weight);

  std::int64_t channels() const { return fractal.c1 * kCube; }  ///< of a block, padded
  std::int64_t outputs() const { return fractal.n1 * kCube; }
  /// The first channel and the first output of a block, each a multiple of 16.
  std::int64_t first_channel(std::int64_t block) const {
    return block * fractal.together * conv.group_c();
  }
  std::int64_t first_output(std::int64_t block) const {
    return block * fractal.together * conv.group_m();
  }
  /// True if output and channel, counted within a block, belong to one group; elsewhere the storage
  /// is padding.
  bool is_element(std::int64_t block, std::int64_t output, std::int64_t channel) const {
    const std::int64_t group = output / conv.group_m();
    return group < fractal.together && block * fractal.together + group < conv.groups &&
           channel / conv.group_c() == group;
  }
  /// The place in storage of the 16 channels from `channel` on of an output, both counted within a
  /// block.
  std::int64_t offset(std::int64_t block, std::int64_t tap, std::int64_t output,
                      std::int64_t channel) const {
    const std::int64_t row = (block * fractal.c1 + channel / kCube) * conv.taps() + tap;
    return (row * outputs() + output) * kCube;
  }
};

/// Empty if the device takes the convolution or its gradient: activations in NC1HWC0, the weight in
/// FRACTAL_Z, fp16 or fp32, within the operator's limits.
std::string conv2d_refusal(const Problem& problem);

inline constexpr std::int64_t kPanelBlocks = 2;  ///< blocks of 16 sums that are computed together

/// The axes of the planes. Rows of pointwise convolutions are joined, because the places of long
/// rows fill the tiles better.
struct ConvAxes {
  ConvAxis h, w;
  std::int64_t out_w;  ///< elements of a row of the output

  /// The computation of a band, without the data.
  ConvImage image(const ConvRows& rows, const ConvBand& band, DType dtype) const;
  static ConvAxes of(const Problem& problem, const Conv2d& conv, bool backward);
  /// The axes of the gradient by the weight: the places of y over x, as in the forward pass.
  static ConvAxes of_weight(const Problem& problem, const Conv2d& conv);
};

/// The operands of the products and their places. A "block" is one of the weight: the groups that
/// FRACTAL_Z packs together.
struct CubePlan {
  FractalWeight weight;
  bool backward;
  ChannelPlanes in, out;
  ConvAxes axes;
  std::int64_t term_blocks, sum_blocks;  ///< of 16 channels or outputs, in one block
  DType bias_dtype;
  bool has_bias;
  ConvRows rows;

  CubePlan(const Problem& problem, bool is_backward)
      : weight(problem, problem.inputs[1]),
        backward(is_backward),
        in(problem.inputs[0]),
        out(problem.outputs[0]),
        axes(ConvAxes::of(problem, weight.conv, backward)),
        term_blocks(backward ? weight.fractal.n1 : weight.fractal.c1),
        sum_blocks(backward ? weight.fractal.c1 : weight.fractal.n1),
        bias_dtype(problem.inputs.back().dtype),
        has_bias(problem.inputs.size() > 2),
        rows(in, axes.h, axes.w, term_blocks, lanes_for(in.channels), band_limits()) {}

  /// If the weight is larger than the other operand, the threads divide the sums instead of the
  /// images.
  bool shares_panels() const {
    return factors() > in.count() * in.elements() &&
           panels() * weight.fractal.blocks >= thread_count();
  }

  BandLimits band_limits() const {
    const std::int64_t threads = shares_panels() ? 1 : thread_count();
    return {packed_room(factors()), (in.outer + threads - 1) / threads};
  }

  /// The index of a block's first 16 inputs (outputs) among all blocks of 16 inputs (outputs).
  std::int64_t first_in(std::int64_t block) const {
    return (backward ? weight.first_output(block) : weight.first_channel(block)) / kCube;
  }
  std::int64_t first_out(std::int64_t block) const {
    return (backward ? weight.first_channel(block) : weight.first_output(block)) / kCube;
  }
  /// Channels that enter the sums of a block; the last block may have fewer.
  std::int64_t terms(std::int64_t block) const {
    return std::min(term_blocks * kCube, in.channels - first_in(block) * kCube);
  }
  std::int64_t panels() const { return (sum_blocks + kPanelBlocks - 1) / kPanelBlocks; }
  /// The existing blocks of 16 sums of a panel.
  std::int64_t panel_blocks(std::int64_t block, std::int64_t panel) const {
    const std::int64_t first = panel * kPanelBlocks;
    return std::min({kPanelBlocks, sum_blocks - first, out.planes - first_out(block) - first});
  }
  std::int64_t panel_factors() const {
    return weight.conv.taps() * term_blocks * kCube * kPanelBlocks * kCube;
  }
  /// Packs the weight of a tap as [terms, sums of a panel].
  void pack_panel(const void* from, std::int64_t block, std::int64_t panel, std::int64_t tap,
                  float* to) const;
  /// Sets the sums of a panel: their number, which are stored, and their bias in `bias`.
  void set_panel(const KernelArgs& args, std::int64_t block, std::int64_t panel, float* bias,
                 ConvImage& image) const;
  std::int64_t factors() const { return weight.fractal.blocks * panels() * panel_factors(); }
};

}  // namespace opbench
