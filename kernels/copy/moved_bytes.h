#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace opbench {

/// A way of moving bytes through memory. Which is the fastest depends on the machine: memcpy
/// streams from a size on that it takes from the last-level cache, streaming costs what is in
/// caches, and a machine that reads faster than it writes favours what reads more.
enum class MovingWay {
  memcpy,        ///< the C library's
  stores,        ///< vectors, through the caches
  streams,       ///< vectors, results past the caches
  mixed,         ///< as many bytes read and written as are asked for, through the caches
  mixed_stream,  ///< the same, results past the caches
};
inline constexpr std::array kMovingWays = {MovingWay::memcpy, MovingWay::stores, MovingWay::streams,
                                           MovingWay::mixed, MovingWay::mixed_stream};
/// "memcpy", "vector copy", "streamed copy", "mixed", "mixed, streamed".
std::string_view name(MovingWay way);

/// Memory to move bytes in: `read` bytes are its first part, `written` its second.
struct MovedBytes {
  std::byte* memory;
  std::size_t read, written;
};

/// Reads and writes `read + written` bytes once each on the threads of `with_threads`, every thread
/// one contiguous part. The copies read one half and write the other; the mixed ways read `read`
/// and write `written` bytes, two or three inputs side by side where these make up what is read,
/// else in turns of a page. memory: aligned to 64 bytes. What it holds after is
/// unspecified. Returns the bytes read plus written: all of them but a rest of a few percent at
/// most.
std::size_t move_bytes(MovingWay way, const MovedBytes& bytes);

}  // namespace opbench
