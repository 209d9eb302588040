#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "kernels/kernel.h"
#include "ops/broadcast.h"
#include "ops/rope.h"
#include "tensor/dtype.h"
#include "tensor/parallel.h"

namespace opbench {

/// A line whose first `extent` elements are rotated; everything in `dtype`.
struct RotaryLine {
  RotaryMode mode;
  DType dtype;
  std::int64_t extent;
  const void *x, *cos, *sin;
  void* y;
};

/// y = p(x)*cos + r(x)*sin in fp32, rounded once.
void rotate_line(const RotaryLine& line);

/// Like rotate_line as a composition of small operators, with roundings of both products and of
/// their sum. `places`: those of the line's mode and extent.
void rotate_line_in_steps(const RotaryLine& line, std::span<const RotaryPlace> places);

/// The lines of x (or dy), cos and sin, the first three inputs of a problem. cos and sin are
/// broadcast to the lines; their last extent is the number of rotated elements.
struct RotaryLines {
  RotaryMode mode;
  DType dtype;
  std::int64_t extent, count, angles;
  BroadcastView view;

  explicit RotaryLines(const Problem& problem);

  /// The first element of the angles of line `i`.
  std::int64_t angle_of(std::int64_t i) const { return view.run_at(i * extent).first; }
  /// Line `i` of a call.
  RotaryLine line(const KernelArgs& args, std::int64_t i) const;

  /// Calls body(begin, end) for ranges of lines.
  template <class Body>
  void for_each_range(Body body) const {
    constexpr std::int64_t kGrainElements = 16 * 1024;  // fewer do not repay waking a thread
    parallel_ranges(count, kGrainElements / (extent + 1) + 1, body);
  }
  /// Calls body(i) for every line.
  template <class Body>
  void for_each(Body body) const {
    for_each_range([&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t i = begin; i < end; ++i) body(i);
    });
  }
};

/// The lines that share each angle.
class SharedAngles {
 public:
  explicit SharedAngles(const RotaryLines& lines);
  std::span<const std::int64_t> of(std::int64_t angle) const {
    const auto a = static_cast<std::size_t>(angle);
    return std::span(lines_).subspan(first_[a], first_[a + 1] - first_[a]);
  }

 private:
  std::vector<std::int64_t> lines_;
  std::vector<std::size_t> first_;  // of each angle, then the end
};

}  // namespace opbench
