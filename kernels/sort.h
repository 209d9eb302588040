#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include "kernels/kernel.h"
#include "ops/movement.h"
#include "tensor/parallel.h"

namespace opbench {

/// The values that sort and argsort derive from a problem.
struct SortPlan {
  DType dtype;
  AxisView view;
  bool descending, has_values;

  explicit SortPlan(const Problem& problem)
      : dtype(problem.inputs[0].dtype),
        view(problem.inputs[0].shape,
             axis_of(problem.op->name, problem.inputs[0].shape, problem.attrs.integer("axis"))),
        descending(problem.attrs.flag("descending")),
        has_values(problem.outputs.size() == 2) {}
};

/// The memory of each thread for a line: its elements, their places, and `more_per_element` for
/// each element.
inline std::size_t line_bytes(const Problem& problem, std::size_t more_per_element) {
  const SortPlan plan(problem);
  const auto [outer_count, extent, inner] = plan.view;
  const std::int64_t lines = std::min<std::int64_t>(outer_count * inner, thread_count());
  return static_cast<std::size_t>(lines * extent) *
         (size_of(plan.dtype) + sizeof(std::int64_t) + more_per_element);
}

/// An element with its place, so that a comparison needs no lookup.
template <class T>
struct Placed {
  T value;
  std::int64_t place;
};

/// Sorts the places of the elements of a line: `x` and `order` have `count` elements.
template <class T>
using SortLine = void (*)(const T* x, std::int64_t count, bool descending, std::int64_t* order);

/// Sorts every line along the axis with `sort_line`; lines are divided among the threads. Each
/// variant instantiates its own code: a shared one would make the speed of a variant depend on the
/// linker.
template <class T>
static void sort_lines(const SortPlan& plan, const KernelArgs& args, SortLine<T> sort_line) {
  // Clang 14 does not allow lambdas to capture structured bindings.
  const std::int64_t extent = plan.view.extent, inner = plan.view.inner;
  if (extent == 0) return;
  const auto* x = static_cast<const T*>(args.inputs[0]);
  auto* values = plan.has_values ? static_cast<T*>(args.outputs[0]) : nullptr;
  auto* indices = static_cast<std::int64_t*>(args.outputs.back());
  parallel_ranges(plan.view.outer * inner, 1, [&](std::int64_t begin, std::int64_t end) {
    // Kept between calls: only the first call allocates.
    thread_local std::vector<T> line;
    thread_local std::vector<std::int64_t> order;
    line.resize(static_cast<std::size_t>(extent));
    order.resize(line.size());
    for (std::int64_t i = begin; i < end; ++i) {
      const std::int64_t first = i / inner * extent * inner + i % inner;
      for (std::int64_t k = 0; k < extent; ++k) line.data()[k] = x[first + k * inner];
      sort_line(line.data(), extent, plan.descending, order.data());
      for (std::int64_t k = 0; k < extent; ++k) {
        const std::int64_t place = order.data()[k];
        indices[first + k * inner] = place;
        if (values != nullptr) values[first + k * inner] = line.data()[place];
      }
    }
  });
}

}  // namespace opbench
