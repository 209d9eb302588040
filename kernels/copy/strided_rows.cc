#include <algorithm>

#include "kernels/copy/strided_ways.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kLine = LineWriter::kLine;
constexpr std::int64_t kGrainBytes = 64 << 10;  // less does not repay waking a thread

/// Neighbours stay neighbours: copies whole rows.
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
  // Rows of at most this length are written directly, one after the other, instead of assembled to
  // lines.
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
  StridedLoop last_;  ///< the innermost loop around short rows
};

/// Short rows with different neighbours in input and output: blocks of both.
class Blocks final : public StridedCopy::Way {
 public:
  Blocks(Loops outer, const StridedLoop& p, const StridedLoop& q, std::int64_t run_bytes,
         std::int64_t bytes, bool stream)
      : outer_(std::move(outer)),
        p_(p),
        q_(q),
        run_bytes_(run_bytes),
        bytes_(bytes),
        part_(p.extent <= 2 * kPart
                  ? p.extent
                  : std::max(kPart, kPartBytes / (q.extent * run_bytes) / kPart * kPart)) {
    // Along p, blocks form lines. Elsewhere a half line that is streamed costs more than a whole
    // line that is read first.
    stream_ = stream && run_bytes % 16 == 0 && p.to_stride * bytes % 16 == 0 &&
              q.to_stride * bytes % kLine == 0 &&
              std::all_of(outer_.begin(), outer_.end(),
                          [&](const StridedLoop& l) { return l.to_stride * bytes % kLine == 0; });
  }

  void run(const std::byte* from, std::byte* to) const override {
    const std::int64_t p_parts = (p_.extent + part_ - 1) / part_;
    const std::int64_t q_parts = std::clamp<std::int64_t>(kFewUnits / (count_of(outer_) * p_parts),
                                                          1, (q_.extent + kPart - 1) / kPart);
    const bool aligned = reinterpret_cast<std::uintptr_t>(to) % kLine == 0;
    const std::int64_t units = count_of(outer_) * p_parts * q_parts;
    parallel_ranges(units, 1, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) {
        const Odometer at(outer_, i / q_parts / p_parts);
        const std::int64_t p = i / q_parts % p_parts * part_, part = i % q_parts;
        const std::int64_t q = part * q_.extent / q_parts;
        const BlockGrid grid{run_bytes_,
                             std::min(part_, p_.extent - p),
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
  // Blocks along p that a thread moves at a time: a multiple of kPart, and of enough bytes to repay
  // the division of a number into indices.
  static constexpr std::int64_t kPart = 8, kPartBytes = 16 << 10;
  static constexpr std::int64_t kFewUnits = 16;  // with fewer, q is also divided among the threads

  Loops outer_;
  StridedLoop p_, q_;
  std::int64_t run_bytes_, bytes_, part_;
  bool stream_;
};

// The loop with the smallest stride in the input.
std::size_t nearest_in_input(const Loops& loops) {
  const auto found = std::min_element(
      loops.begin(), loops.end(),
      [](const StridedLoop& x, const StridedLoop& y) { return x.from_stride < y.from_stride; });
  return static_cast<std::size_t>(found - loops.begin());
}

}  // namespace

std::unique_ptr<StridedCopy::Way> copy_rows(Loops outer, const StridedLoop& run, std::int64_t bytes,
                                            bool stream) {
  constexpr std::int64_t kShort = 256;  // bytes
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

}  // namespace opbench
