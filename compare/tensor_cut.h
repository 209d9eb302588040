#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tensor/tensor.h"

namespace opbench {

/// Places along an axis, in the order of the result. kFilled is a place that did not exist.
using Places = std::vector<std::int64_t>;
inline constexpr std::int64_t kFilled = -1;

/// Index numbers of an axis that is cut to `kept`.
struct Renumbering {
  Places kept;              ///< ascending
  std::int64_t extent = 0;  ///< of the axis before; negative numbers count from there
};

/// The kept part of a tensor.
struct TensorCut {
  Dims view;                                ///< extents that it is looked at with
  std::vector<std::optional<Places>> axes;  ///< by axis of `view`; none: all places
  Dims shape;                               ///< what the rest is called
  double fill = 0;                          ///< the value at kFilled
  std::optional<Renumbering> renumbering;   ///< of an index

  /// Keeps all of a tensor of that shape.
  static TensorCut all_of(const Dims& shape);
  /// Keeps only `places` of `axis`. For cuts whose view is the tensor's own shape.
  void keep(std::size_t axis, Places places);
};

/// The part of `from` that a cut keeps, stored as in `to`, which has the shape of the cut. Empty if
/// a number in the tensor refers to a removed place.
std::optional<Tensor> cut_tensor(const Tensor& from, const TensorCut& cut, const TensorDesc& to);

/// `first`, `first` + 1, ...
Places places_from(std::int64_t first, std::int64_t count);

}  // namespace opbench
