#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "kernels/copy/line_writer.h"
#include "kernels/copy/strided_copy.h"

namespace opbench {

/// `count` rows of `bytes` (at most kLongestShortRow), each followed by zeros up to `padded` bytes.
/// Row i goes from from + i*from_step to to + i*to_step, in bytes. Rows do not overlap, and their
/// steps are positive.
struct ShortRows {
  std::int64_t count = 0, bytes = 0, padded = 0;
  std::int64_t from_step = 0, to_step = 0;
};

inline constexpr std::int64_t kLongestShortRow = 256;  // bytes

/// Copies on one thread in vectors up to 64 bytes. The last vector of a row may include the
/// following bytes of the input, and of the output if the next row begins there. Nothing outside
/// the rows is accessed at the ends of both. `stream`: past the cache; `to`, its steps and the
/// padded rows are then multiples of 16 bytes.
void copy_short_rows(const ShortRows& rows, const void* from, void* to, bool stream);

/// Blocks of `bytes` that change their order: block (p, q) moves from from + p * from_p + q *
/// from_q to to + p * to_p + q * to_q, in bytes.
struct BlockGrid {
  std::int64_t bytes = 0;
  std::int64_t np = 0, nq = 0;
  std::int64_t from_p = 0, from_q = 0;
  std::int64_t to_p = 0, to_q = 0;
};

/// Moves on one thread. `stream`: past the cache; `bytes`, `to` and its strides are then multiples
/// of 16.
void move_blocks(const BlockGrid& grid, const void* from, void* to, bool stream);

using Loops = std::vector<StridedLoop>;

/// The number of iterations of the innermost of `loops`.
std::int64_t count_of(const Loops& loops);

/// Loops in the order of the output. A loop that continues where the inner one ends is joined with
/// it. The last loop has to_stride 1.
Loops ordered(Loops loops);

/// Iterates over loops in their order and tracks both offsets, in elements.
class Odometer {
 public:
  Odometer(const Loops& loops, std::int64_t first) : loops_(loops) {
    for (std::size_t i = loops.size(); i-- > 0;) {
      index_[i] = first % loops[i].extent;
      first /= loops[i].extent;
      from_ += index_[i] * loops[i].from_stride;
      to_ += index_[i] * loops[i].to_stride;
    }
  }
  std::int64_t from() const { return from_; }
  std::int64_t to() const { return to_; }

  void next() {
    for (std::size_t i = loops_.size(); i-- > 0;) {
      from_ += loops_[i].from_stride;
      to_ += loops_[i].to_stride;
      if (++index_[i] < loops_[i].extent) return;
      from_ -= loops_[i].from_stride * loops_[i].extent;
      to_ -= loops_[i].to_stride * loops_[i].extent;
      index_[i] = 0;
    }
  }

 private:
  const Loops& loops_;
  std::array<std::int64_t, 32> index_{};
  std::int64_t from_ = 0, to_ = 0;
};

/// Joins pieces that are adjacent in the output to lines; starts a new line at a gap.
class Joiner {
 public:
  explicit Joiner(bool stream) : writer_(nullptr, false), stream_(stream) {}
  ~Joiner() { writer_.finish(); }
  Joiner(const Joiner&) = delete;

  void add(const std::byte* from, std::int64_t bytes, std::byte* to) {
    if (to != next_) {
      flush();
      writer_.finish();
      writer_ = LineWriter(to, stream_);
    }
    rows_[count_++] = {from, static_cast<std::size_t>(bytes)};
    next_ = to + bytes;
    if (count_ == rows_.size()) flush();
  }
  void add_zeros(std::int64_t bytes, std::byte* to) {
    static const std::array<std::byte, 256> zeros{};
    for (std::int64_t done = 0; done < bytes; done += std::ssize(zeros)) {
      add(zeros.data(), std::min<std::int64_t>(std::ssize(zeros), bytes - done), to + done);
    }
  }
  /// Reads everything that was added; call it before that memory is used again.
  void flush() {
    writer_.append({rows_.data(), count_});
    count_ = 0;
  }

 private:
  LineWriter writer_;
  bool stream_;
  std::byte* next_ = nullptr;
  std::array<Row, 64> rows_;
  std::size_t count_ = 0;
};

/// One way to run a strided copy.
class StridedCopy::Way {
 public:
  virtual ~Way() = default;
  virtual void run(const std::byte* from, std::byte* to) const = 0;
};

// Each function takes the loops around the moved data, and the size of an element in bytes.

/// Neighbours stay neighbours: rows of `run` with strides 1, or blocks of short rows.
std::unique_ptr<StridedCopy::Way> copy_rows(Loops outer, const StridedLoop& run, std::int64_t bytes,
                                            bool stream);

/// Neighbours of the input are along `a`, those of the output along `b`.
std::unique_ptr<StridedCopy::Way> copy_planes(Loops outer, const StridedLoop& a,
                                              const StridedLoop& b, std::int64_t bytes,
                                              bool stream);

/// Neighbours of the output are not neighbours in the input: one element at a time.
std::unique_ptr<StridedCopy::Way> copy_elements(Loops outer, const StridedLoop& run,
                                                std::int64_t bytes, bool stream);

}  // namespace opbench
