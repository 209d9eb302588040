#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "tensor/tensor.h"

namespace opbench {

/// Places along an axis, in the order in which they stay; kFilled is one that was not there.
using Places = std::vector<std::int64_t>;
inline constexpr std::int64_t kFilled = -1;

/// Numbers that count along an axis which is cut to `kept`.
struct Renumbering {
  Places kept;              ///< ascending
  std::int64_t extent = 0;  ///< of the axis before; negative numbers count from there
};

/// What stays of a tensor.
struct TensorCut {
  Dims view;                                ///< extents that it is looked at with
  std::vector<std::optional<Places>> axes;  ///< by axis of `view`; none: all places
  Dims shape;                               ///< what the rest is called
  double fill = 0;                          ///< the value at kFilled
  std::optional<Renumbering> renumbering;   ///< of an index

  /// All of a tensor of that shape.
  static TensorCut all_of(const Dims& shape);
  /// Leaves only `places` of `axis`. For cuts of tensors by their own shape.
  void keep(std::size_t axis, Places places);
};

/// What a cut leaves of `from`, stored as `to` says, whose shape is that of the cut. None if a
/// number is in the tensor that counts to a place which is gone.
std::optional<Tensor> cut_tensor(const Tensor& from, const TensorCut& cut, const TensorDesc& to);

/// `first`, `first` + 1, ...
Places places_from(std::int64_t first, std::int64_t count);

}  // namespace opbench
