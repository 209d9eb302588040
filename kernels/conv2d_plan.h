#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "kernels/conv2d_rows.h"
#include "kernels/simd/channel_planes.h"
#include "kernels/simd/in_fp32.h"
#include "ops/conv2d.h"
#include "tensor/parallel.h"

namespace opbench {

/// How the device packs a convolution: groups in blocks of so many as fill the cube, `c1` blocks of
/// 16 channels and `n1` blocks of 16 outputs each (format.h's fractal_groups).
struct FractalWeight {
  Conv2d conv;
  DType dtype;
  FractalGroups fractal;

  explicit FractalWeight(const Problem& problem, const TensorDesc& weight);

  std::int64_t channels() const { return fractal.c1 * kCube; }  ///< of a block, padded
  std::int64_t outputs() const { return fractal.n1 * kCube; }
  /// Of a block's first channel and output among all, each a multiple of 16.
  std::int64_t first_channel(std::int64_t block) const {
    return block * fractal.together * conv.group_c();
  }
  std::int64_t first_output(std::int64_t block) const {
    return block * fractal.together * conv.group_m();
  }
  /// True where output and channel, counted within a block, belong to one group: elsewhere the
  /// storage is padding.
  bool is_element(std::int64_t block, std::int64_t output, std::int64_t channel) const {
    const std::int64_t group = output / conv.group_m();
    return group < fractal.together && block * fractal.together + group < conv.groups &&
           channel / conv.group_c() == group;
  }
  /// Where the 16 channels from `channel` on of an output lie in the storage; both within a block.
  std::int64_t offset(std::int64_t block, std::int64_t tap, std::int64_t output,
                      std::int64_t channel) const {
    const std::int64_t row = (block * fractal.c1 + channel / kCube) * conv.taps() + tap;
    return (row * outputs() + output) * kCube;
  }
};

/// Empty if a convolution or a gradient of one comes as the device takes it: activations in
/// NC1HWC0, the weight in FRACTAL_Z, fp16 or fp32, within the operator's limits.
std::string conv2d_refusal(const Problem& problem);

inline constexpr std::int64_t kPanelBlocks = 2;  ///< blocks of 16 sums side by side

/// How both axes of the planes are walked. Rows of pointwise convolutions are joined: places of
/// long rows fill the tiles better.
struct ConvAxes {
  ConvAxis h, w;
  std::int64_t out_w;  ///< elements of a row of what is computed

  /// What is to be computed of a band, but for the data.
  ConvImage image(const ConvRows& rows, const ConvBand& band, DType dtype) const;
  static ConvAxes of(const Problem& problem, const Conv2d& conv, bool backward);
  /// Of the gradient by the weight: y's places over x, as in the forward pass.
  static ConvAxes of_weight(const Problem& problem, const Conv2d& conv);
};

/// What is multiplied and where it lies; a "block" is one of the weight, which has the groups that
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

  /// Where the weight is larger than what it multiplies, threads better share the sums than the
  /// images.
  bool shares_panels() const {
    return factors() > in.count() * in.elements() &&
           panels() * weight.fractal.blocks >= thread_count();
  }

  BandLimits band_limits() const {
    const std::int64_t threads = shares_panels() ? 1 : thread_count();
    return {packed_room(factors()), (in.outer + threads - 1) / threads};
  }

  /// The first of a block among all blocks of 16 that go in or come out.
  std::int64_t first_in(std::int64_t block) const {
    return (backward ? weight.first_output(block) : weight.first_channel(block)) / kCube;
  }
  std::int64_t first_out(std::int64_t block) const {
    return (backward ? weight.first_channel(block) : weight.first_output(block)) / kCube;
  }
  /// Channels that go into the sums of a block; the last block may have fewer.
  std::int64_t terms(std::int64_t block) const {
    return std::min(term_blocks * kCube, in.channels - first_in(block) * kCube);
  }
  std::int64_t panels() const { return (sum_blocks + kPanelBlocks - 1) / kPanelBlocks; }
  /// Blocks of 16 sums of a panel that exist.
  std::int64_t panel_blocks(std::int64_t block, std::int64_t panel) const {
    const std::int64_t first = panel * kPanelBlocks;
    return std::min({kPanelBlocks, sum_blocks - first, out.planes - first_out(block) - first});
  }
  std::int64_t panel_factors() const {
    return weight.conv.taps() * term_blocks * kCube * kPanelBlocks * kCube;
  }
  /// The weight of a tap as [terms, sums of a panel].
  void pack_panel(const void* from, std::int64_t block, std::int64_t panel, std::int64_t tap,
                  float* to) const;
  /// The sums of a panel: how many they are, which are stored, and their bias, which `bias` holds.
  void set_panel(const KernelArgs& args, std::int64_t block, std::int64_t panel, float* bias,
                 ConvImage& image) const;
  std::int64_t factors() const { return weight.fractal.blocks * panels() * panel_factors(); }
};

}  // namespace opbench
