// torch.gather: every element of the output has its own index along one axis.
#include <algorithm>
#include <array>
#include <cstdint>

#include "kernels/lanes/elementwise.h"
#include "ops/movement.h"

namespace opbench {
namespace {

struct Axis {
  std::int64_t extent, stride, x_stride;  // of the output; stride in x
};

// Both tensors seen with as few axes as the walk needs, `dim` among them.
struct View {
  std::vector<Axis> axes;
  std::size_t dim = 0;
  std::int64_t elements = 0;
};

View plain_view(const Problem& problem) {
  const Dims &x = problem.inputs[0].shape, &y = problem.outputs[0].shape;
  View view{{}, axis_of("gather_elements", x, problem.attrs.integer("dim")), element_count(y)};
  const Dims strides = row_major_strides(y), x_strides = row_major_strides(x);
  for (std::size_t i = 0; i < y.size(); ++i) view.axes.push_back({y[i], strides[i], x_strides[i]});
  return view;
}

// Neighbours that lie behind one another in both tensors become one axis: rows get longer.
View merged_view(const Problem& problem) {
  const View plain = plain_view(problem);
  View view{{}, 0, plain.elements};
  for (std::size_t i = 0; i < plain.axes.size(); ++i) {
    const Axis& axis = plain.axes[i];
    const bool continues = i > 0 && i != plain.dim && i - 1 != plain.dim &&
                           view.axes.back().x_stride == axis.extent * axis.x_stride;
    if (i == plain.dim) view.dim = view.axes.size();
    if (continues) {
      view.axes.back() = {view.axes.back().extent * axis.extent, axis.stride, axis.x_stride};
    } else {
      view.axes.push_back(axis);
    }
  }
  return view;
}

// Walks the rows of the last axis and knows where each begins in x, but for the gathered axis.
class RowsOf {
 public:
  RowsOf(const View& view, std::int64_t element) : view_(view) {
    for (std::size_t i = 0; i < view.axes.size(); ++i) {
      index_[i] = element / view.axes[i].stride;
      element %= view.axes[i].stride;
      if (i != view.dim) base_ += index_[i] * view.axes[i].x_stride;
    }
  }
  std::int64_t base() const { return base_; }
  /// From somewhere in a row to the beginning of the next.
  void next() {
    for (std::size_t i = view_.axes.size(); i-- > 0;) {
      const Axis& axis = view_.axes[i];
      const std::int64_t step = i == view_.dim ? 0 : axis.x_stride;
      const bool is_last = i + 1 == view_.axes.size();
      if (!is_last && ++index_[i] < axis.extent) {
        base_ += step;
        return;
      }
      base_ -= (is_last ? index_[i] : axis.extent - 1) * step;
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

// `count` elements of a row. kStep: of x from one element to the next, 0 along the gathered axis.
template <std::int64_t kStep, class T, class Index>
void gather_row(std::int64_t count, std::int64_t x_stride, const T* x, const Index* index, T* y) {
  for (std::int64_t i = 0; i < count; ++i) {
    y[i] = x[static_cast<std::int64_t>(index[i]) * x_stride + i * kStep];
  }
}

// Row after row of the last axis, whose index and output are contiguous; coordinates once a row.
template <class T, class Index>
void gather(const View& view, const Part& part) {
  const bool along_row = view.dim + 1 == view.axes.size();
  const std::int64_t length = view.axes.back().extent, x_stride = view.axes[view.dim].x_stride;
  const auto* x = static_cast<const T*>(part.x);
  const auto* index = static_cast<const Index*>(part.index);
  RowsOf rows(view, part.begin);
  std::int64_t left = part.begin == part.end ? 0 : length - part.begin % length;
  for (std::int64_t i = part.begin; i < part.end; left = length, rows.next()) {
    const std::int64_t count = std::min(left, part.end - i);
    const T* from = x + rows.base();
    T* to = static_cast<T*>(part.y) + i;
    if (along_row) {
      gather_row<0>(count, 1, from, index + i, to);
    } else {
      gather_row<1>(count, x_stride, from, index + i, to);
    }
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
    .summary = "GatherElements: rows of neighbouring axes joined, coordinates once a row",
    .prepare = prepare<true>,
}};

}  // namespace
}  // namespace opbench
