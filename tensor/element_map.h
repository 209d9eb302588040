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
/// pixel p is at stored + l * lane_stride + p * pixel_stride in storage. Its number within the
/// requested range is logical + l * logical_stride + p.
struct ElementRectangle {
  std::int64_t stored = 0;
  std::int64_t logical = 0;
  std::int64_t lanes = 1;
  std::int64_t pixels = 0;
  std::int64_t lane_stride = 0;
  std::int64_t pixel_stride = 0;
  std::int64_t logical_stride = 0;
};

/// Copies the rectangle from `storage` to the range at `to`, or from the range at `from` to
/// storage; both pointers are those of element 0. `element_bytes` is 1, 2, 4 or 8.
void read_rectangle(const ElementRectangle& rectangle, const void* storage, void* to,
                    std::size_t element_bytes);
void write_rectangle(const ElementRectangle& rectangle, const void* from, void* storage,
                     std::size_t element_bytes);

/// The storage offset that an index of one logical axis adds, in elements:
///   i = index + phase: (i / block) * outer_stride + (i % block) * inner_stride
/// An axis without a cut has block = extent (1 if that is 0) and outer_stride = 0.
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

/// The place of every logical element of a tensor in its storage.
///
/// `axes` are those of the logical shape, outermost first, after the expansion of low ranks: NCHW,
/// NC1HWC0 and FRACTAL_Z have N, C, H, W, FRACTAL_NZ at least two (`expand_to_nchw`,
/// `storage_dims`). The last axis varies fastest in the logical order.
///
/// FRACTAL_Z with groups: axis 0 counts the rows of all groups, axis 1 the channels of one group.
/// Blocks of axis 0 hold `together` groups. The group of a row moves its channels within the block:
/// phase of axis 1 = (index of axis 0 / group_rows) % together * (extent of axis 1).
struct ElementMap {
  std::vector<MapAxis> axes;
  int cut_axis = -1;            ///< the axis cut into blocks of c0: C, or the last of FRACTAL_NZ;
                                ///< -1: no axis is cut
  std::int64_t group_rows = 1;  ///< rows of one group
  std::int64_t together = 1;    ///< groups that share a block; 1: no phases

  bool operator==(const ElementMap&) const = default;
};

/// The map of any format. Errors: throws Error if the shape does not fit the format.
ElementMap element_map(const TensorDesc& desc);

/// Offset in storage, in elements, of the element at `indices`, one for each axis of the map.
std::int64_t offset(const ElementMap& map, std::span<const std::int64_t> indices);

/// True if the format stores the elements in their logical order without gaps: ND, NCHW, NCDHW and
/// the format of the origin.
bool is_row_major(const TensorDesc& desc);

/// True if the storage is larger than the elements.
bool has_padding(const TensorDesc& desc);

/// Cuts a logical range into few rectangles and visits each. Every element is visited once, not in
/// order. If the last logical axis is not dense in storage, lanes run along the axis that is; so a
/// cache line is not fetched once for each of its elements.
void for_each_rectangle(const ElementMap& map, ElementRange range,
                        const std::function<void(const ElementRectangle&)>& visit);

/// The place of one logical element in storage, in elements.
std::int64_t stored_at(const ElementMap& map, std::int64_t element);

/// The number of consecutive logical elements that form a rectangle with as many lanes as a cut
/// block has (16 without a cut); at least 1. Ranges of multiples of this number are fastest.
std::int64_t preferred_range(const ElementMap& map);

}  // namespace opbench
