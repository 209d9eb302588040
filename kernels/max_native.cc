#include <algorithm>

#include "kernels/kernel.h"
#include "ops/movement.h"
#include "ops/order.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

// is_less(best, x) without a branch.
template <class T>
bool is_greater(T x, T best) {
  return !(x <= best) & (best == best);
}

template <class T>
void max_of_row(const T* x, std::int64_t extent, T* best, std::int64_t* place) {
  *best = *x;
  *place = 0;
  T greatest = *x;
  for (std::int64_t k = 1; k < extent; ++k) {
    if (x[k] <= greatest || !is_greater(x[k], greatest)) continue;
    greatest = x[k];
    *place = k;
  }
  *best = greatest;
}

// Neighbouring lines side by side, one index of the axis after the other.
template <class T>
void max_of_neighbours(const T* x, const AxisView& view, std::int64_t count, T* best,
                       std::int64_t* place) {
  std::copy_n(x, count, best);
  std::fill_n(place, count, 0);
  for (std::int64_t k = 1; k < view.extent; ++k) {
    const T* const row = x + k * view.inner;
    for (std::int64_t i = 0; i < count; ++i) {
      const bool is_new = is_greater(row[i], best[i]);
      best[i] = is_new ? row[i] : best[i];
      place[i] = is_new ? k : place[i];
    }
  }
}

template <class T>
void max_elements(const AxisView& view, const KernelArgs& args, std::int64_t begin,
                  std::int64_t end) {
  constexpr std::int64_t kNeighbours = 512;  // values and places stay in the L1 cache
  const T* const x = static_cast<const T*>(args.inputs[0]);
  T* const best = static_cast<T*>(args.outputs[0]);
  auto* const place = static_cast<std::int64_t*>(args.outputs[1]);
  for (std::int64_t i = begin, count = 1; i < end; i += count) {
    const std::int64_t inside = i % view.inner;
    const T* const first = x + i / view.inner * view.extent * view.inner + inside;
    count = std::min({kNeighbours, view.inner - inside, end - i});
    if (view.inner == 1)
      max_of_row(first, view.extent, best + i, place + i);
    else
      max_of_neighbours(first, view, count, best + i, place + i);
  }
}

Launch prepare(const Problem& problem) {
  const Dims& shape = problem.inputs[0].shape;
  return [dtype = problem.inputs[0].dtype,
          view = AxisView(shape, axis_of("max", shape, problem.attrs.integer("axis")))](
             const KernelArgs& args) {
    parallel_ranges(view.outer * view.inner, 16, [&](std::int64_t begin, std::int64_t end) {
      visit_ordered(dtype, [&](auto tag) { max_elements<decltype(tag)>(view, args, begin, end); });
    });
  };
}

const RegisteredKernel native{{
    .op = "max",
    .name = "native",
    .provider = Provider::framework,
    .summary = "compared directly, neighbouring lines side by side",
    .prepare = prepare,
}};

}  // namespace
}  // namespace opbench
