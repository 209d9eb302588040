#pragma once

#include <vector>

#include "kernels/conv2d_plan.h"
#include "kernels/simd/scratch.h"

namespace opbench {

/// Conv2D and Conv2DBackpropInput with an input of one place, such as the gradient of a kernel as
/// large as the image. Every element of the output meets at most one tap. The images are the places
/// of a row, so that each weight is read and narrowed only once, when it is multiplied.
class OnePlaceConv2d {
 public:
  /// True if the planes of the input have one place.
  static bool takes(const Problem& problem);

  OnePlaceConv2d(const Problem& problem, bool backward);

  void operator()(const KernelArgs& args) const;
  static std::size_t temporary_bytes(const Problem& problem, bool backward);

 private:
  void compute(const KernelArgs& args, std::int64_t block, std::int64_t panel,
               std::int64_t group) const;

  CubePlan plan_;
  std::int64_t tap_factors_;         // the maximum of a tap in a panel
  std::int64_t group_;               // elements with weights that are packed together
  std::vector<std::int64_t> taps_;   // of the elements; -1 for an element without a tap
  std::vector<ConvPhase> elements_;  // one row of one place for each; the weight is the next of the
                                     // group
  std::vector<ConvPhase> images_;    // the columns
  Scratch x_;                        // [block of 16 channels][image][16]
};

/// Conv2DBackpropFilter with an output of one place, such as a kernel as large as the image. Every
/// element of the weight meets one place of x, and its gradient is a sum over the images. The sums
/// of 16 channels are adjacent, as in FRACTAL_Z, and are written once.
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
