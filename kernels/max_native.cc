#include "kernels/registry/kernel.h"
#include "ops/movement.h"
#include "ops/order.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

// One output after the other, along the axis.
template <class T>
void max_elements(const AxisView& view, const KernelArgs& args, std::int64_t begin,
                  std::int64_t end) {
  for (std::int64_t i = begin; i < end; ++i) {
    const T* x = static_cast<const T*>(args.inputs[0]) + i / view.inner * view.extent * view.inner +
                 i % view.inner;
    T best = *x;
    std::int64_t place = 0;
    for (std::int64_t k = 1; k < view.extent; ++k) {
      if (!is_less(best, x[k * view.inner])) continue;
      best = x[k * view.inner];
      place = k;
    }
    static_cast<T*>(args.outputs[0])[i] = best;
    static_cast<std::int64_t*>(args.outputs[1])[i] = place;
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
    .summary = "element by element, on the dtype as it is",
    .prepare = prepare,
}};

}  // namespace
}  // namespace opbench
