#pragma once

#include <cstddef>

namespace opbench {

/// The source of the size.
enum class StreamingSource {
  measured,
  caches,  ///< their sizes: other programs took cores during the measurement
  told,    ///< OPBENCH_STREAM_FROM, or a test
};

struct StreamingSize {
  std::size_t bytes;
  StreamingSource source;
};

/// The bytes read plus written from which on a copy past the caches is faster than one through them
/// on this machine. With a fast last-level cache this is a large part of it. With a slow or shared
/// one it is not more than the other caches. It is for the threads of `with_threads`: several
/// threads use more of a shared cache, but hardly more memory bandwidth. Measured at the first
/// call, in about 10 ms. If other programs take cores meanwhile, it is the threads' share of the
/// last-level cache. OPBENCH_STREAM_FROM (bytes) in the environment replaces the measurement, so
/// that compared processes use the same size.
StreamingSize streaming_size();
inline std::size_t streams_from_bytes() { return streaming_size().bytes; }

/// Passes `streams_from_bytes` to child processes that are started from now on, so that they do not
/// measure.
void tell_children_streams_from();

/// Sets the size for tests, during its life.
class ScopedStreamsFrom {
 public:
  explicit ScopedStreamsFrom(std::size_t bytes);
  ~ScopedStreamsFrom();
  ScopedStreamsFrom(const ScopedStreamsFrom&) = delete;
  ScopedStreamsFrom& operator=(const ScopedStreamsFrom&) = delete;

 private:
  std::size_t before_;
};

}  // namespace opbench
