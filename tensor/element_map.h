#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "tensor/elements.h"
#include "tensor/tensor.h"

namespace opbench {

/// `lanes` x `pixels` elements that are evenly spaced in storage and in the logical order. Lane l,
/// pixel p lies at stored + l * lane_stride + p * pixel_stride, and comes as number
/// logical + l * logical_stride + p of the range that was asked for.
struct ElementRectangle {
  std::int64_t stored = 0;
  std::int64_t logical = 0;
  std::int64_t lanes = 1;
  std::int64_t pixels = 0;
  std::int64_t lane_stride = 0;
  std::int64_t pixel_stride = 0;
  std::int64_t logical_stride = 0;
};

/// Copies the rectangle from `storage` to the range at `to`, or back from the range at `from`; both
/// point to element 0. `element_bytes` is 1, 2, 4 or 8.
void read_rectangle(const ElementRectangle& rectangle, const void* storage, void* to,
                    std::size_t element_bytes);
void write_rectangle(const ElementRectangle& rectangle, const void* from, void* storage,
                     std::size_t element_bytes);

/// What an index of one logical axis adds to the offset in storage, in elements:
///   i = index + phase: (i / block) * outer_stride + (i % block) * inner_stride
/// An axis that is not cut has block = extent (1 if that is 0), outer_stride = 0.
struct MapAxis {
  std::int64_t extent = 1;
  std::int64_t block = 1;
  std::int64_t outer_stride = 0;
  std::int64_t inner_stride = 0;
  std::int64_t phase = 0;  ///< in [0, block) or more; 0 in the map of a whole tensor

  bool operator==(const MapAxis&) const = default;

  std::int64_t offset(std::int64_t index) const {
    index += phase;
    return index / block * outer_stride + index % block * inner_stride;
  }
};

/// Where every logical element of a tensor lies in its storage.
///
/// `axes` are those of the logical shape, outermost first, after the expansion of low ranks: NCHW,
/// NC1HWC0 and FRACTAL_Z have N, C, H, W, FRACTAL_NZ at least two (`expand_to_nchw`,
/// `storage_dims`). The last axis varies fastest in the logical order, as always.
///
/// FRACTAL_Z with groups: axis 0 counts the rows of all groups, axis 1 the channels of one group.
/// Blocks of axis 0 hold `together` groups, and a row's group moves its channels within the block:
/// phase of axis 1 = (index of axis 0 / group_rows) % together * (extent of axis 1).
struct ElementMap {
  std::vector<MapAxis> axes;
  int cut_axis = -1;            ///< the axis cut into blocks of c0, if any: C, or the last of NZ
  std::int64_t group_rows = 1;  ///< rows of one group
  std::int64_t together = 1;    ///< groups that share a block; 1: no phases

  bool operator==(const ElementMap&) const = default;
};

/// The map of any format. Errors: throws Error if the shape does not fit the format.
ElementMap element_map(const TensorDesc& desc);

/// Offset in storage, in elements, of the element at `indices`, one for each axis of the map.
std::int64_t offset(const ElementMap& map, std::span<const std::int64_t> indices);

/// True if the elements are stored in their logical order without gaps because of the format: ND,
/// NCHW, NCDHW and the origin's own format.
bool is_row_major(const TensorDesc& desc);

/// True if the storage holds more than the elements.
bool has_padding(const TensorDesc& desc);

/// Cuts a logical range into few rectangles and visits each; every element once, not in order.
/// Lanes run along the axis that is dense in storage where the last logical one is not, so that a
/// cache line is not fetched once for each of its elements.
void for_each_rectangle(const ElementMap& map, ElementRange range,
                        const std::function<void(const ElementRectangle&)>& visit);

/// Where one logical element lies in storage, in elements.
std::int64_t stored_at(const ElementMap& map, std::int64_t element);

/// Elements in logical order after which a rectangle with as many lanes as a cut block has (16 if
/// nothing is cut) is complete; ranges of multiples of it are walked best. At least 1.
std::int64_t preferred_range(const ElementMap& map);

}  // namespace opbench
