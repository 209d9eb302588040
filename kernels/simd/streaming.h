#pragma once

#include <cstddef>

namespace opbench {

/// Where the size comes from.
enum class StreamingSource {
  measured,
  caches,  ///< their sizes: other programs took cores away while it was measured
  told,    ///< OPBENCH_STREAM_FROM, or a test
};

struct StreamingSize {
  std::size_t bytes;
  StreamingSource source;
};

/// Bytes read plus written from which on a copy past the caches beats one through them on this
/// machine: where the last-level cache is fast that is a good part of it, where it is slow or
/// shared by many not more than the caches before it. Of the threads of `with_threads`: several
/// reach more of a shared cache, but hardly more of the memory. Measured at the first call, in some
/// 10 ms; where other programs take cores away meanwhile it is the threads' share of the last-level
/// cache. The environment's OPBENCH_STREAM_FROM (bytes) says it instead, so that processes that are
/// held against each other decide alike.
StreamingSize streaming_size();
inline std::size_t streams_from_bytes() { return streaming_size().bytes; }

/// Tells `streams_from_bytes` to the child processes that are started from now on, so that they do
/// not measure by themselves.
void tell_children_streams_from();

/// The same for tests, while it lives.
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
