#include "kernels/copy/strided_ways.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/copy/plane.h"
#include "tensor/dtype.h"
#include "tensor/parallel.h"
#include "tensor/processor.h"

namespace opbench {
namespace {

bool is_whole(const StridedLoop& loop) {
  return loop.valid == loop.extent && loop.readable == loop.extent;
}

constexpr std::int64_t kGrainBytes = 64 << 10;  // less does not repay waking a thread
constexpr std::int64_t kStageBytes = 16 << 10;  // stays in the first-level cache

// Every kStride-th element, or every `stride`-th if kStride is 0. Compilers make shuffles of small
// constant strides.
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

/// Neighbours of the output are not neighbours in the input: elements are gathered in a stage, one
/// by one.
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

constexpr std::int64_t kLine = LineWriter::kLine;

/// Neighbours of the input are along `a`, those of the output along `b`.
class Planes final : public StridedCopy::Way {
 public:
  Planes(Loops outer, const StridedLoop& a, const StridedLoop& b, std::int64_t bytes, bool stream)
      : outer_(std::move(outer)), a_(a), b_(b), bytes_(bytes) {
    const std::int64_t row = b.extent * bytes;
    // Data in the last-level cache and consecutive lines are fast without a prefetch.
    const bool is_sequential = b.from_stride * bytes <= kLine;
    fetches_ = stream && !is_sequential;
    is_cached_ = 2 * count_of(outer_) * a.extent * row <= std::int64_t(own_cache_bytes());
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
  // Bytes that are staged and then streamed: at most the stores that wait in a core, so that it
  // loads the next part meanwhile.
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
    plane.is_cached = is_cached_;
    return plane;
  }

  Loops outer_;
  StridedLoop a_, b_;
  std::int64_t bytes_;
  bool direct_ = false, staged_ = false;
  bool fetches_ = false, is_cached_ = false;
  std::int64_t part_ = 0;
};

}  // namespace

std::int64_t count_of(const Loops& loops) {
  std::int64_t count = 1;
  for (const StridedLoop& loop : loops) count *= loop.extent;
  return count;
}

Loops ordered(Loops loops) {
  std::erase_if(loops, [](const StridedLoop& l) { return l.extent == 1 && is_whole(l); });
  std::stable_sort(loops.begin(), loops.end(), [](const StridedLoop& a, const StridedLoop& b) {
    return a.to_stride > b.to_stride;
  });
  Loops joined;
  for (const StridedLoop& inner : loops) {
    StridedLoop* outer = joined.empty() ? nullptr : &joined.back();
    if (outer != nullptr && is_whole(*outer) && is_whole(inner) &&
        outer->to_stride == inner.to_stride * inner.extent &&
        outer->from_stride == inner.from_stride * inner.extent) {
      const std::int64_t extent = outer->extent * inner.extent;
      *outer = {extent, inner.from_stride, inner.to_stride, extent, extent};
    } else {
      joined.push_back(inner);
    }
  }
  if (joined.empty() || joined.back().to_stride != 1) joined.push_back({1, 1, 1});
  return joined;
}

std::unique_ptr<StridedCopy::Way> copy_elements(Loops outer, const StridedLoop& run,
                                                std::int64_t bytes, bool stream) {
  return std::make_unique<Elements>(std::move(outer), run, bytes, stream);
}

std::unique_ptr<StridedCopy::Way> copy_planes(Loops outer, const StridedLoop& a,
                                              const StridedLoop& b, std::int64_t bytes,
                                              bool stream) {
  return std::make_unique<Planes>(std::move(outer), a, b, bytes, stream);
}

}  // namespace opbench
