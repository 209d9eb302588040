#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace opbench {

/// A way to move bytes through memory. The fastest way depends on the machine. memcpy streams above
/// a size that it derives from the last-level cache. Streaming is slow for data in caches. A
/// machine that reads faster than it writes favours ways with more reads.
enum class MovingWay {
  memcpy,        ///< the C library's
  stores,        ///< vectors, through the caches
  streams,       ///< vectors, results past the caches
  mixed,         ///< the requested bytes read and written, through the caches
  mixed_stream,  ///< like `mixed`, with results past the caches
};
inline constexpr std::array kMovingWays = {MovingWay::memcpy, MovingWay::stores, MovingWay::streams,
                                           MovingWay::mixed, MovingWay::mixed_stream};
/// "memcpy", "vector copy", "streamed copy", "mixed", "mixed, streamed".
std::string_view name(MovingWay way);

/// Memory for the transfer: the first part of `read` bytes is read, the second of `written` bytes
/// is written.
struct MovedBytes {
  std::byte* memory;
  std::size_t read, written;
};

/// Reads and writes `read + written` bytes once on the threads of `with_threads`; every thread has
/// a contiguous part. The copies read one half and write the other. The mixed ways read `read` and
/// write `written` bytes: two or three inputs side by side if the sizes allow it, else alternating
/// by page. memory: aligned to 64 bytes; its contents afterwards are unspecified. Returns the bytes
/// read plus written, at most a few percent below the total.
std::size_t move_bytes(MovingWay way, const MovedBytes& bytes);

}  // namespace opbench
