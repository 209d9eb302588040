#include <algorithm>

#include "kernels/lanes/dtypes.h"
#include "kernels/lanes/elementwise.h"
#include "kernels/lanes/reduce_view.h"
#include "kernels/move/repeat.h"

namespace opbench {
namespace {

struct Share {
  Dims strides, from;  // of the output, and in the gradient
  double n;
};

// Elements [begin, end), one row of the last axis after the other.
template <class T>
void share(const Share& plan, std::int64_t begin, std::int64_t end, const T* dy, T* dx) {
  const std::size_t rank = plan.strides.size();
  const std::int64_t length = rank < 2 ? end : plan.strides[rank - 2];
  const std::int64_t step = rank == 0 ? 0 : plan.from[rank - 1];
  for (std::int64_t i = begin; i < end;) {
    std::int64_t rest = i, source = 0;
    for (std::size_t axis = 0; axis < rank; ++axis) {
      source += rest / plan.strides[axis] * plan.from[axis];
      rest %= plan.strides[axis];
    }
    const std::int64_t count = std::min(length - i % length, end - i);
    if (step == 0) {
      const auto part = T(float(double(float(dy[source])) / plan.n));
      repeat_element(&part, sizeof(part), count, dx + i);
    } else {
      for (std::int64_t k = 0; k < count; ++k) {
        dx[i + k] = T(float(double(float(dy[source + k * step])) / plan.n));
      }
    }
    i += count;
  }
}

Launch prepare(const Problem& problem) {
  const Dims& shape = problem.outputs[0].shape;
  const std::vector<bool> reduced = reduced_axes("reduce_mean_grad", shape, problem.attrs);
  return [dtype = problem.outputs[0].dtype, elements = stored_elements(problem),
          plan = Share{row_major_strides(shape), strides_in_result(shape, reduced),
                       reduced_count("reduce_mean_grad", shape, problem.attrs)}](
             const KernelArgs& args) {
    for_each_range(elements, [&](std::int64_t begin, std::int64_t end) {
      visit_arithmetic(dtype, [&](auto tag) {
        using T = decltype(tag);
        share(plan, begin, end, static_cast<const T*>(args.inputs[0]),
              static_cast<T*>(args.outputs[0]));
      });
    });
  };
}

const RegisteredKernel native{{
    .op = "reduce_mean_grad",
    .name = "native",
    .provider = Provider::framework,
    .summary = "dy/n expanded and made contiguous",
    .prepare = prepare,
}};

}  // namespace
}  // namespace opbench
