// torch.gather: every element of the output has its own index along one axis.
#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/simd/elementwise.h"
#include "ops/movement.h"

namespace opbench {
namespace {

struct Axis {
  std::int64_t extent, stride;  // of the output
  std::int64_t step;            // in x; 0 along the gathered axis
};

// The view of both tensors with as few axes as the iteration needs.
struct View {
  std::vector<Axis> axes;
  std::int64_t elements = 0;
  std::int64_t index_step = 1;  // in x, from one index to the next
};

View plain_view(const Problem& problem) {
  const Dims &x = problem.inputs[0].shape, &y = problem.outputs[0].shape;
  const std::size_t dim = axis_of("gather_elements", x, problem.attrs.integer("dim"));
  const Dims strides = row_major_strides(y), x_strides = row_major_strides(x);
  View view{{}, element_count(y)};
  for (std::size_t i = 0; i < y.size(); ++i) {
    if (i == dim) view.index_step = x_strides[i];
    if (y[i] != 1) view.axes.push_back({y[i], strides[i], i == dim ? 0 : x_strides[i]});
  }
  if (view.axes.empty()) view.axes.push_back({1, 1, 0});
  return view;
}

// Joins neighbouring axes that are contiguous in both tensors, so that rows become longer.
View merged_view(const Problem& problem) {
  View view = plain_view(problem);
  std::vector<Axis> merged;
  for (const Axis& axis : view.axes) {
    if (!merged.empty() && axis.step > 0 && merged.back().step == axis.extent * axis.step) {
      merged.back() = {merged.back().extent * axis.extent, axis.stride, axis.step};
    } else {
      merged.push_back(axis);
    }
  }
  view.axes = std::move(merged);
  return view;
}

// Iterates over the rows of the last axis and tracks where each begins in x.
class RowsOf {
 public:
  RowsOf(const View& view, std::int64_t element) : view_(view) {
    for (std::size_t i = 0; i + 1 < view.axes.size(); ++i) {
      index_[i] = element / view.axes[i].stride;
      element %= view.axes[i].stride;
      base_ += index_[i] * view.axes[i].step;
    }
  }
  std::int64_t base() const { return base_; }
  void next() {
    for (std::size_t i = view_.axes.size() - 1; i-- > 0;) {
      const Axis& axis = view_.axes[i];
      base_ += axis.step;
      if (++index_[i] < axis.extent) return;
      base_ -= axis.extent * axis.step;
      index_[i] = 0;
    }
  }

 private:
  const View& view_;
  std::array<std::int64_t, kLargestRank> index_{};
  std::int64_t base_ = 0;
};

struct Part {
  std::int64_t begin, end;
  const void *x, *index;
  void* y;
};

// Gathers along the last axis itself. Reads four elements before it writes one, because the
// compiler cannot exclude that the output overlaps the index.
template <class T, class Index>
void gather_along(std::int64_t count, const T* x, const Index* index, T* y) {
  std::int64_t i = 0;
  for (; i + 4 <= count; i += 4) {
    const T first = x[index[i]], second = x[index[i + 1]], third = x[index[i + 2]],
            fourth = x[index[i + 3]];
    y[i] = first;
    y[i + 1] = second;
    y[i + 2] = third;
    y[i + 3] = fourth;
  }
  for (; i < count; ++i) y[i] = x[index[i]];
}

// Copies `count` elements of a row, which are `step` elements apart in x.
template <class T, class Index>
void gather_row(std::int64_t count, std::int64_t step, std::int64_t index_step, const T* x,
                const Index* index, T* y) {
  if (step == 0 && index_step == 1) return gather_along(count, x, index, y);
  for (std::int64_t i = 0; i < count; ++i) {
    y[i] = x[static_cast<std::int64_t>(index[i]) * index_step + i * step];
  }
}

// Processes rows of the last axis with a contiguous index and output; coordinates are computed once
// per row.
template <class T, class Index>
void gather(const View& view, const Part& part) {
  const std::int64_t length = view.axes.back().extent, step = view.axes.back().step;
  const auto* x = static_cast<const T*>(part.x);
  const auto* index = static_cast<const Index*>(part.index);
  RowsOf rows(view, part.begin);
  std::int64_t first = part.begin % length;
  for (std::int64_t i = part.begin; i < part.end; first = 0, rows.next()) {
    const std::int64_t count = std::min(length - first, part.end - i);
    gather_row(count, step, view.index_step, x + rows.base() + first * step, index + i,
               static_cast<T*>(part.y) + i);
    i += count;
  }
}

template <class T>
struct Tag {
  using type = T;
};

// Only the size of an element matters.
template <class Body>
auto visit_size(std::size_t bytes, Body&& body) {
  if (bytes == 1) return body(Tag<std::uint8_t>());
  if (bytes == 2) return body(Tag<std::uint16_t>());
  if (bytes == 4) return body(Tag<std::uint32_t>());
  return body(Tag<std::uint64_t>());
}

using Walk = void (*)(const View& view, const Part& part);

Walk walk_of(const Problem& problem) {
  return visit_size(size_of(problem.inputs[0].dtype), [&](auto tag) -> Walk {
    using T = typename decltype(tag)::type;
    if (problem.inputs[1].dtype == DType::int32) return gather<T, std::int32_t>;
    return gather<T, std::int64_t>;
  });
}

template <bool kMerged>
Launch prepare(const Problem& problem) {
  return [view = kMerged ? merged_view(problem) : plain_view(problem),
          walk = walk_of(problem)](const KernelArgs& args) {
    for_each_range(view.elements, [&](std::int64_t begin, std::int64_t end) {
      walk(view, {begin, end, args.inputs[0], args.inputs[1], args.outputs[0]});
    });
  };
}

const RegisteredKernel native{{
    .op = "gather_elements",
    .name = "native",
    .provider = Provider::framework,
    .summary = "row by row of the last axis as it is, coordinates once a row",
    .prepare = prepare<false>,
}};

const RegisteredKernel gather_elements{{
    .op = "gather_elements",
    .name = "gather_elements",
    .provider = Provider::npu,
    .summary = "GatherElements: rows of neighbouring axes joined, coordinates once a row",
    .prepare = prepare<true>,
}};

}  // namespace
}  // namespace opbench
