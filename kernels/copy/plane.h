#pragma once

#include <cstdint>

namespace opbench {

/// A transposition: to[a * to_stride + b] = from[b * from_stride + a] for a < na, b < nb. Strides
/// count elements of `element_bytes` (1, 2, 4, 8).
struct Plane {
  int element_bytes = 4;
  std::int64_t na = 0, nb = 0;
  std::int64_t from_stride = 0, to_stride = 0;
  std::int64_t readable = 0;  ///< elements of a source row that may be loaded, at least na
  std::int64_t valid = 0;     ///< source rows that exist, at most nb: beyond, zeros are written
  /// Where the next plane's input begins, fetched meanwhile: its rows are too many and too short
  /// for the hardware to foresee. Null: nowhere.
  const void* next = nullptr;
};

/// On one thread. `stream`: past the cache, which pays where whole lines of the output are written;
/// `to` is then aligned to 64 bytes, and its rows lie 64 bytes or a multiple apart, or are 16 or 32
/// bytes long without gaps.
void transpose_plane(const Plane& plane, const void* from, void* to, bool stream);

/// True if a plane is as thin as pixels of 2 to 4 colours on one side and dense there: rows of the
/// output that lie side by side, or of the input. Squares do not fit such planes.
bool is_thin(const Plane& plane);

/// `transpose_plane` of a thin one: dealt to the rows, or woven from them, vector by vector.
void transpose_thin_plane(const Plane& plane, const void* from, void* to, bool stream);

}  // namespace opbench
