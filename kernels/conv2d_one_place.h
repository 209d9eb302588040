#pragma once

#include <vector>

#include "kernels/conv2d_plan.h"
#include "kernels/simd/scratch.h"

namespace opbench {

/// Conv2D and Conv2DBackpropInput of an input of one place, as that by a kernel as large as the
/// image is: every element of the output meets one tap at most. Images lie side by side as the
/// places of a row, so that each weight is read and narrowed once, when it is multiplied.
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
  std::int64_t tap_factors_;        // the most that a tap has in a panel
  std::int64_t group_;              // elements whose weights are packed together
  std::vector<std::int64_t> taps_;  // that elements meet; -1 for one that meets none
  std::vector<ConvPhase>
      elements_;                   // a row of one place for each, whose weight is the group's next
  std::vector<ConvPhase> images_;  // the columns
  Scratch x_;                      // [block of 16 channels][image][16]
};

}  // namespace opbench
