#pragma once

#include <cstdint>

namespace opbench {

/// A transposition: to[a * to_stride + b] = from[b * from_stride + a] for a < na, b < nb. Strides
/// count elements of `element_bytes` (1, 2, 4, 8).
struct Plane {
  int element_bytes = 4;
  std::int64_t na = 0, nb = 0;
  std::int64_t from_stride = 0, to_stride = 0;
  std::int64_t readable = 0;  ///< elements of a source row that may be loaded; at least na
  std::int64_t valid = 0;     ///< existing source rows, at most nb; beyond them zeros are written
  /// The input of the next plane, which is prefetched: its rows are too many and too short for the
  /// hardware prefetcher. Null: no prefetch.
  const void* next = nullptr;
  bool is_cached = false;  ///< the caches of a core hold all planes
};

/// Transposes on one thread. `stream`: past the cache, which pays if whole lines of the output are
/// written. `to` is then aligned to 64 bytes; its rows are a multiple of 64 bytes apart, or are 16
/// or 32 bytes long without gaps.
void transpose_plane(const Plane& plane, const void* from, void* to, bool stream);

/// True for a plane with 2 to 4 elements on one side, such as the colours of pixels, that is dense
/// along this side: rows of the output, or of the input, are adjacent. Squares do not fit such
/// planes.
bool is_thin(const Plane& plane);

/// Like transpose_plane, for a thin plane: distributes elements to the rows or interleaves the
/// rows, vector by vector.
void transpose_thin_plane(const Plane& plane, const void* from, void* to, bool stream);

}  // namespace opbench
