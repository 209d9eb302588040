#include <algorithm>

#include "kernels/kernel.h"
#include "tensor/parallel.h"

namespace opbench {
namespace {

template <class T>
void mark(const T* x, std::int64_t classes, std::int64_t begin, std::int64_t end, T* y) {
  std::fill_n(y + begin * classes, (end - begin) * classes, T{0});
  for (std::int64_t i = begin; i < end; ++i) y[i * classes + x[i]] = 1;
}

Launch prepare(const Problem& problem) {
  return [elements = problem.inputs[0].elements(), classes = problem.attrs.integer("num_classes"),
          is_int64 = problem.inputs[0].dtype == DType::int64](const KernelArgs& args) {
    const auto mark_as = [&](auto tag) {
      using T = decltype(tag);
      parallel_ranges(elements, 64, [&](std::int64_t begin, std::int64_t end) {
        mark(static_cast<const T*>(args.inputs[0]), classes, begin, end,
             static_cast<T*>(args.outputs[0]));
      });
    };
    if (is_int64) return mark_as(std::int64_t{});
    mark_as(std::int32_t{});
  };
}

const RegisteredKernel native{{
    .op = "one_hot",
    .name = "native",
    .provider = Provider::framework,
    .summary = "zeros, then a one in each row",
    .prepare = prepare,
}};

}  // namespace
}  // namespace opbench
