#pragma once

#include <vector>

#include "kernels/conv2d_blocks.h"
#include "kernels/simd/scratch.h"

namespace opbench {

/// Conv2DBackpropFilter where y has one place, as under a kernel as large as the image: every
/// element of the weight meets one place of x, and its gradient is a sum over the images. The sums
/// of 16 channels lie side by side as FRACTAL_Z has them, and are written once.
class OnePlaceFilter {
 public:
  /// True if there is one group and the planes of dy have one place.
  static bool takes(const Problem& problem);

  explicit OnePlaceFilter(const Problem& problem);

  void operator()(const KernelArgs& args) const;
  static std::size_t temporary_bytes(const Problem& problem);

 private:
  void row(const KernelArgs& args, std::int64_t block, std::int64_t tap_row) const;

  FractalWeight weight_;
  ChannelPlanes dy_, x_;
  std::vector<std::int64_t> outputs_;  // their places in an image of `packed_dy_`
  Scratch packed_dy_;                  // cube operands, [image][output]
};

}  // namespace opbench
