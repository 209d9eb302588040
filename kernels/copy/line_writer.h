#pragma once

#include <cstddef>
#include <span>

namespace opbench {

/// Consecutive bytes on their way to an output.
struct Row {
  const std::byte* from;
  std::size_t bytes;
  std::size_t writer = 0;  ///< the writer among several
};

/// Writes consecutive rows. With `stream` it writes past the cache: it first assembles whole lines,
/// so that rows of any length are written as full 64-byte lines and no line is read before it is
/// written. For one thread; call `finish` at the end.
class LineWriter {
 public:
  static constexpr std::size_t kLine = 64;  // bytes of a cache line

  LineWriter() : LineWriter(nullptr, false) {}
  LineWriter(void* out, bool stream);
  void append(std::span<const Row> rows) { append({this, 1}, rows); }
  /// Distributes rows to up to kMostWriters writers of one kind.
  static constexpr std::size_t kMostWriters = 8;
  static void append(std::span<LineWriter> writers, std::span<const Row> rows);
  /// Writes pending bytes and orders the streamed stores before later ones.
  void finish();

  /// The state of the writer, shared with the code of each instruction set.
  struct State {
    std::byte* out;        ///< place of the next line; aligned as soon as `head` is 0
    std::size_t head = 0;  ///< bytes up to the first line boundary, stored plainly
    std::size_t filled = 0;
    alignas(kLine) std::byte pending[kLine];
  };

 private:
  State state_;
  bool stream_;
};

}  // namespace opbench
