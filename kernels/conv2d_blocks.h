#pragma once

#include <cstdint>
#include <string>

#include "kernels/simd/channel_planes.h"
#include "kernels/simd/in_fp32.h"
#include "ops/conv2d.h"

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

}  // namespace opbench
