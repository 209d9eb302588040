#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/simd/elementwise.h"
#include "ops/index.h"
#include "ops/movement.h"
#include "tensor/parallel.h"

namespace opbench {

/// Tensors are seen as [outer, extent, inner].
struct IndexAddCall {
  const void *self, *source;
  void* y;
  const std::int64_t* index;
  std::int64_t extent, added, inner;  // places and source rows along the axis, elements of a row
  float alpha;
  bool stream;
};

/// Elements [first, last) of every row of one outer index.
struct IndexAddColumns {
  std::int64_t outer, first, last;
};

/// The values that the variants of index_add derive from a problem; `inverse` is scratch memory of
/// the owner.
struct IndexAddPlan {
  DType dtype, index_dtype;
  AxisView view;
  std::int64_t added;
  float alpha;
  bool stream, negative_allowed;
  std::vector<std::int64_t> index, inverse;

  explicit IndexAddPlan(const Problem& problem)
      : dtype(problem.inputs[0].dtype),
        index_dtype(problem.inputs[1].dtype),
        view(problem.inputs[0].shape,
             axis_of("index_add", problem.inputs[0].shape, problem.attrs.integer("axis"))),
        added(problem.inputs[1].elements()),
        alpha(static_cast<float>(problem.attrs.number("alpha"))),
        stream(rows_are_aligned() && outgrows_cache(problem)),
        negative_allowed(problem.attrs.flag("negative_index")),
        index(static_cast<std::size_t>(added)),
        inverse(static_cast<std::size_t>(view.extent)) {}

  /// The bytes of both indices.
  static std::size_t bytes(const Problem& problem) {
    const auto extent =
        AxisView(problem.inputs[0].shape,
                 axis_of("index_add", problem.inputs[0].shape, problem.attrs.integer("axis")))
            .extent;
    return static_cast<std::size_t>(problem.inputs[1].elements() + extent) * sizeof(std::int64_t);
  }

  // Streamed stores require aligned rows. Each row ends with a fence, which only long rows
  // amortise.
  bool rows_are_aligned() const {
    const std::size_t bytes = static_cast<std::size_t>(view.inner) * size_of(dtype);
    return bytes % 64 == 0 && bytes >= 1024;
  }

  std::int64_t elements() const { return view.outer * view.extent * view.inner; }

  void read_index(const void* from) {
    if (index_dtype == DType::int64) {
      std::copy_n(static_cast<const std::int64_t*>(from), index.size(), index.begin());
    } else {
      std::copy_n(static_cast<const std::int32_t*>(from), index.size(), index.begin());
    }
    if (!negative_allowed) return;
    for (std::int64_t& value : index) value = from_front(value, view.extent);
  }

  IndexAddCall call(const KernelArgs& args, const std::vector<std::int64_t>& rows) const {
    return {args.inputs[0], args.inputs[2], args.outputs[0], rows.data(), view.extent,
            added,          view.inner,     alpha,           stream};
  }
};

/// Calls `body(outer, first, last)` for this thread's part of the outer x inner columns. A thread
/// adds all rows of its columns, so repeated indices are added in their order.
template <class Body>
void for_each_column_range(const AxisView& view, const Body& body) {
  // Short rows are not divided.
  const std::int64_t grain = view.inner <= kElementwiseGrain ? view.inner : kElementwiseGrain;
  const std::int64_t cuts = (view.inner + grain - 1) / std::max<std::int64_t>(grain, 1);
  parallel_ranges(view.outer * cuts, 1, [&](std::int64_t begin, std::int64_t end) {
    for (std::int64_t at = begin; at < end;) {
      const std::int64_t outer = at / cuts, first = at % cuts;
      const std::int64_t last = std::min(cuts, first + end - at);
      body(outer, first * grain, std::min(last * grain, view.inner));
      at += last - first;
    }
  });
}

}  // namespace opbench
