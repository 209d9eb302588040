#pragma once

#include <cstdint>

namespace opbench {

/// `count` rows of `bytes` (at most kLongestShortRow), each followed by zeros up to `padded` bytes:
/// row i goes from from + i*from_step to to + i*to_step, all in bytes. Rows do not overlap and
/// their steps are positive.
struct ShortRows {
  std::int64_t count = 0, bytes = 0, padded = 0;
  std::int64_t from_step = 0, to_step = 0;
};

inline constexpr std::int64_t kLongestShortRow = 256;

/// On one thread; in vectors up to 64 bytes. A row ends with a vector that may hold what follows it
/// in the input, and in the output where the next row begins there; at the end of both nothing
/// outside rows is touched. `stream`: past the cache, where `to` and its steps are multiples of 16
/// and rows are padded to such.
void copy_short_rows(const ShortRows& rows, const void* from, void* to, bool stream);

}  // namespace opbench
