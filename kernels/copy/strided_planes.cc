#include <algorithm>
#include <utility>
#include <vector>

#include "kernels/copy/plane.h"
#include "kernels/copy/strided_ways.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

constexpr std::int64_t kLine = LineWriter::kLine;
constexpr std::int64_t kStageBytes = 16 << 10;  // stays in the first-level cache

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

}  // namespace

std::unique_ptr<StridedCopy::Way> copy_planes(Loops outer, const StridedLoop& a,
                                              const StridedLoop& b, std::int64_t bytes,
                                              bool stream) {
  return std::make_unique<Planes>(std::move(outer), a, b, bytes, stream);
}

}  // namespace opbench
