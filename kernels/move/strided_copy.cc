#include "kernels/move/strided_copy.h"

#include <algorithm>
#include <array>
#include <cstring>

#include "kernels/move/block_grid.h"
#include "kernels/move/plane.h"
#include "kernels/move/short_rows.h"
#include "kernels/move/strided_walk.h"
#include "tensor/cache_sizes.h"
#include "tensor/parallel.h"
#include "tensor/width.h"

namespace opbench {

/// How a copy is carried out.
class StridedCopy::Way {
 public:
  virtual ~Way() = default;
  virtual void run(const std::byte* from, std::byte* to) const = 0;
};

namespace {

constexpr std::int64_t kLine = LineWriter::kLine;
constexpr std::int64_t kGrainBytes = 64 << 10;  // worth waking a thread for
constexpr std::int64_t kStageBytes = 16 << 10;  // stays in the first-level cache

/// Neighbours stay neighbours: whole rows are copied.
class Rows final : public StridedCopy::Way {
 public:
  Rows(Loops outer, StridedLoop run, std::int64_t bytes, bool stream)
      : outer_(std::move(outer)), run_(run), bytes_(bytes), stream_(stream) {
    const bool is_joined = outer_.empty() || outer_.back().to_stride == run_.extent;
    const std::int64_t valid = run_.valid * bytes_;
    const std::int64_t longest =
        is_joined && run_.valid == run_.extent ? kLongestJoined : kLongestShortRow;
    is_short_ = !outer_.empty() && valid > 0 && valid <= longest && outer_.back().from_stride > 0;
    if (!is_short_) return;
    last_ = outer_.back();
    outer_.pop_back();
  }

  void run(const std::byte* from, std::byte* to) const override {
    const std::int64_t row_bytes = run_.extent * bytes_;
    const std::int64_t grain = std::max<std::int64_t>(1, kGrainBytes / row_bytes);
    parallel_ranges(count_of(outer_) * last_.extent, grain,
                    [&](std::int64_t begin, std::int64_t end) {
                      is_short_ ? copy_short(from, to, begin, end) : join(from, to, begin, end);
                    });
  }

 private:
  // Rows of no more bytes are put side by side as they are rather than collected to lines.
  static constexpr std::int64_t kLongestJoined = 16;

  void copy_short(const std::byte* from, std::byte* to, std::int64_t begin,
                  std::int64_t end) const {
    ShortRows rows{0, run_.valid * bytes_, run_.extent * bytes_, last_.from_stride * bytes_,
                   last_.to_stride * bytes_};
    Odometer at(outer_, begin / last_.extent);
    for (std::int64_t row = begin; row < end; row += rows.count, at.next()) {
      const std::int64_t first = row % last_.extent;
      rows.count = std::min(last_.extent - first, end - row);
      std::byte* const out = to + at.to() * bytes_ + first * rows.to_step;
      const std::int64_t places = rows.padded | rows.to_step | reinterpret_cast<std::intptr_t>(out);
      copy_short_rows(rows, from + at.from() * bytes_ + first * rows.from_step, out,
                      stream_ && places % 16 == 0);
    }
  }

  void join(const std::byte* from, std::byte* to, std::int64_t begin, std::int64_t end) const {
    const std::int64_t row_bytes = run_.extent * bytes_, valid = run_.valid * bytes_;
    Odometer at(outer_, begin);
    Joiner joiner(stream_);
    for (std::int64_t row = begin; row < end; ++row, at.next()) {
      std::byte* const out = to + at.to() * bytes_;
      if (valid > 0) joiner.add(from + at.from() * bytes_, valid, out);
      if (valid < row_bytes) joiner.add_zeros(row_bytes - valid, out + valid);
    }
    joiner.flush();
  }

  Loops outer_;
  StridedLoop run_;
  std::int64_t bytes_;
  bool stream_;
  bool is_short_ = false;
  StridedLoop last_;  ///< of short rows the innermost loop around them
};

/// Short rows whose neighbours in the input are not their neighbours in the output: blocks of both.
class Blocks final : public StridedCopy::Way {
 public:
  Blocks(Loops outer, const StridedLoop& p, const StridedLoop& q, std::int64_t run_bytes,
         std::int64_t bytes, bool stream)
      : outer_(std::move(outer)), p_(p), q_(q), run_bytes_(run_bytes), bytes_(bytes) {
    // Along p blocks make up lines; elsewhere half a line that is streamed costs more than a whole
    // one that is read first.
    stream_ = stream && run_bytes % 16 == 0 && p.to_stride * bytes % 16 == 0 &&
              q.to_stride * bytes % kLine == 0 &&
              std::all_of(outer_.begin(), outer_.end(),
                          [&](const StridedLoop& l) { return l.to_stride * bytes % kLine == 0; });
  }

  void run(const std::byte* from, std::byte* to) const override {
    const std::int64_t p_parts = (p_.extent + kPart - 1) / kPart;
    const std::int64_t q_parts = std::clamp<std::int64_t>(kFewUnits / (count_of(outer_) * p_parts),
                                                          1, (q_.extent + kPart - 1) / kPart);
    const bool aligned = reinterpret_cast<std::uintptr_t>(to) % kLine == 0;
    const std::int64_t units = count_of(outer_) * p_parts * q_parts;
    parallel_ranges(units, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const Odometer at(outer_, i / q_parts / p_parts);
        const std::int64_t p = i / q_parts % p_parts * kPart, part = i % q_parts;
        const std::int64_t q = part * q_.extent / q_parts;
        const BlockGrid grid{run_bytes_,
                             std::min(kPart, p_.extent - p),
                             (part + 1) * q_.extent / q_parts - q,
                             p_.from_stride * bytes_,
                             q_.from_stride * bytes_,
                             p_.to_stride * bytes_,
                             q_.to_stride * bytes_};
        move_blocks(grid, from + (at.from() + p * p_.from_stride + q * q_.from_stride) * bytes_,
                    to + (at.to() + p * p_.to_stride + q * q_.to_stride) * bytes_,
                    stream_ && aligned);
      }
    });
  }

 private:
  static constexpr std::int64_t kPart = 8;       // as many as are moved together
  static constexpr std::int64_t kFewUnits = 16;  // fewer are cut along q, too, for more threads

  Loops outer_;
  StridedLoop p_, q_;
  std::int64_t run_bytes_, bytes_;
  bool stream_;
};

/// Neighbours of the input lie along `a`, those of the output along `b`.
class Planes final : public StridedCopy::Way {
 public:
  Planes(Loops outer, const StridedLoop& a, const StridedLoop& b, std::int64_t bytes, bool stream)
      : outer_(std::move(outer)), a_(a), b_(b), bytes_(bytes) {
    const std::int64_t row = b.extent * bytes;
    // What the last-level cache holds comes soon enough by itself, and so do lines in their order.
    const bool is_sequential = b.from_stride * bytes <= kLine;
    fetches_ = stream && !is_sequential;
    const bool is_joined = a.to_stride == b.extent;
    const bool is_lined = is_multiple(kLine) || (is_joined && kLine % row == 0 && row % 16 == 0 &&
                                                 a.extent * row % kLine == 0);
    direct_ = stream && is_lined;
    staged_ = stream && !direct_ && is_joined && kMinPart * row <= 32 * kStageBytes;
    part_ = staged_ ? std::max(kMinPart, kStagedPart / row / kMinPart * kMinPart)
                    : std::max(kMinPart, 16 * kStageBytes / row / kMinPart * kMinPart);
  }

  void run(const std::byte* from, std::byte* to) const override {
    const std::int64_t parts = (a_.extent + part_ - 1) / part_;
    const bool aligned = reinterpret_cast<std::uintptr_t>(to) % kLine == 0;
    parallel_ranges(count_of(outer_) * parts, 1, [&](std::int64_t begin, std::int64_t end) {
      thread_local std::vector<std::byte> stage;
      if (staged_) stage.resize(static_cast<std::size_t>(part_ * b_.extent * bytes_) + kLine);
      Joiner joiner(true);
      Odometer at(outer_, begin / parts);
      for (std::int64_t i = begin; i < end; ++i) {
        const std::int64_t a = i % parts * part_;
        Plane plane = part_of(a);
        const bool last = a + part_ >= a_.extent;
        const std::byte* const source = from + (at.from() + a) * bytes_;
        std::byte* const target = to + (at.to() + a * a_.to_stride) * bytes_;
        if (last) at.next();
        if (fetches_ && i + 1 < end)
          plane.next = from + (at.from() + (last ? 0 : a + part_)) * bytes_;
        if (staged_) {
          plane.to_stride = b_.extent;
          transpose_plane(plane, source, stage.data(), false);
          joiner.add(stage.data(), plane.na * b_.extent * bytes_, target);
          joiner.flush();
        } else {
          transpose_plane(plane, source, target, direct_ && aligned);
        }
      }
    });
  }

 private:
  static constexpr std::int64_t kMinPart = 16;
  // Bytes that are staged and then streamed: no more than the stores that wait in the core, so that
  // it loads the next part while they leave.
  static constexpr std::int64_t kStagedPart = 4 << 10;

  // True if all rows of all planes begin at multiples of `unit` bytes.
  bool is_multiple(std::int64_t unit) const {
    return a_.to_stride * bytes_ % unit == 0 &&
           std::all_of(outer_.begin(), outer_.end(), [&](const StridedLoop& loop) {
             return loop.to_stride * bytes_ % unit == 0;
           });
  }

  Plane part_of(std::int64_t a) const {
    Plane plane;
    plane.element_bytes = static_cast<int>(bytes_);
    plane.na = std::min(part_, a_.extent - a);
    plane.nb = b_.extent;
    plane.from_stride = b_.from_stride;
    plane.to_stride = a_.to_stride;
    plane.readable = a_.readable - a;
    plane.valid = b_.valid;
    return plane;
  }

  Loops outer_;
  StridedLoop a_, b_;
  std::int64_t bytes_;
  bool direct_ = false, staged_ = false;
  bool fetches_ = false;
  std::int64_t part_ = 0;
};

// Every kStride-th element, or every `stride`-th where kStride is 0: compilers make shuffles of
// small ones that they know.
template <std::int64_t kStride, class T>
void copy_every(std::int64_t stride, std::int64_t count, const T* __restrict from,
                T* __restrict to) {
  if constexpr (kStride != 0) stride = kStride;
  for (std::int64_t i = 0; i < count; ++i) to[i] = from[i * stride];
}

template <class T>
void copy_strided(const StridedLoop& run, const T* from, T* to) {
  if (run.from_stride == 0) {
    std::fill_n(to, run.valid, *from);
  } else if (run.from_stride == 2) {
    copy_every<2>(2, run.valid, from, to);
  } else {
    copy_every<0>(run.from_stride, run.valid, from, to);
  }
  std::fill_n(to + run.valid, run.extent - run.valid, T{0});
}

/// No neighbours in the input: one element after the other, gathered in a stage.
class Elements final : public StridedCopy::Way {
 public:
  Elements(Loops outer, StridedLoop run, std::int64_t bytes, bool stream)
      : outer_(std::move(outer)), run_(run), bytes_(bytes), stream_(stream) {}

  void run(const std::byte* from, std::byte* to) const override {
    const std::int64_t row_bytes = run_.extent * bytes_;
    const bool is_staged = stream_ && row_bytes <= kStageBytes;
    const std::int64_t grain = std::max<std::int64_t>(1, kGrainBytes / row_bytes);
    parallel_ranges(count_of(outer_), grain, [&](std::int64_t begin, std::int64_t end) {
      thread_local std::vector<std::byte> stage;
      if (is_staged) stage.resize(static_cast<std::size_t>(row_bytes));
      Odometer at(outer_, begin);
      Joiner joiner(true);
      for (std::int64_t row = begin; row < end; ++row, at.next()) {
        std::byte* const out = to + at.to() * bytes_;
        copy(from + at.from() * bytes_, is_staged ? stage.data() : out);
        if (!is_staged) continue;
        joiner.add(stage.data(), row_bytes, out);
        joiner.flush();
      }
    });
  }

 private:
  void copy(const std::byte* from, std::byte* to) const {
    visit_width(static_cast<std::size_t>(bytes_), [&]<class T>(T) {
      copy_strided(run_, reinterpret_cast<const T*>(from), reinterpret_cast<T*>(to));
    });
  }

  Loops outer_;
  StridedLoop run_;
  std::int64_t bytes_;
  bool stream_;
};

// The loop with the smallest stride in the input.
std::size_t nearest_in_input(const Loops& loops) {
  const auto found = std::min_element(
      loops.begin(), loops.end(),
      [](const StridedLoop& x, const StridedLoop& y) { return x.from_stride < y.from_stride; });
  return static_cast<std::size_t>(found - loops.begin());
}

std::unique_ptr<StridedCopy::Way> rows_or_blocks(Loops outer, const StridedLoop& run,
                                                 std::int64_t bytes, bool stream) {
  constexpr std::int64_t kShort = 256;
  const std::size_t p = outer.size() - 1, q = outer.empty() ? 0 : nearest_in_input(outer);
  const bool is_short = run.valid == run.extent && run.extent * bytes <= kShort;
  if (outer.size() < 2 || q == p || !is_short) {
    return std::make_unique<Rows>(std::move(outer), run, bytes, stream);
  }
  const StridedLoop p_loop = outer[p], q_loop = outer[q];
  outer.erase(outer.begin() + static_cast<std::ptrdiff_t>(p));
  outer.erase(outer.begin() + static_cast<std::ptrdiff_t>(q));
  return std::make_unique<Blocks>(std::move(outer), p_loop, q_loop, run.extent * bytes, bytes,
                                  stream);
}

std::unique_ptr<StridedCopy::Way> choose(StridedNest nest, bool stream) {
  const std::int64_t bytes = nest.element_bytes;
  Loops outer = ordered(std::move(nest.loops));
  const StridedLoop run = outer.back();
  outer.pop_back();
  if (run.from_stride == 1 || run.extent == 1) {
    return rows_or_blocks(std::move(outer), run, bytes, stream);
  }
  const auto a = std::find_if(outer.begin(), outer.end(),
                              [](const StridedLoop& loop) { return loop.from_stride == 1; });
  if (a == outer.end()) return std::make_unique<Elements>(std::move(outer), run, bytes, stream);
  const StridedLoop a_loop = *a;
  outer.erase(a);
  return std::make_unique<Planes>(std::move(outer), a_loop, run, bytes, stream);
}

}  // namespace

StridedCopy::StridedCopy(StridedNest nest, bool stream)
    : from_offset_(nest.from_offset * nest.element_bytes),
      to_offset_(nest.to_offset * nest.element_bytes) {
  const bool is_empty = std::any_of(nest.loops.begin(), nest.loops.end(),
                                    [](const StridedLoop& loop) { return loop.extent == 0; });
  if (!is_empty) way_ = choose(std::move(nest), stream);
}

StridedCopy::StridedCopy(StridedCopy&&) noexcept = default;
StridedCopy::~StridedCopy() = default;

void StridedCopy::run(const void* from, void* to) const {
  if (way_ == nullptr) return;
  way_->run(static_cast<const std::byte*>(from) + from_offset_,
            static_cast<std::byte*>(to) + to_offset_);
}

}  // namespace opbench
