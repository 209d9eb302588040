// The first elements of every line: a partial sort of elements with their places.
#include <algorithm>
#include <vector>

#include "kernels/sort.h"
#include "ops/order.h"

namespace opbench {
namespace {

struct TopK {
  DType dtype;
  AxisView view;
  std::int64_t k;
  bool largest;

  explicit TopK(const Problem& problem)
      : dtype(problem.inputs[0].dtype),
        view(problem.inputs[0].shape,
             axis_of("topk", problem.inputs[0].shape, problem.attrs.integer("axis"))),
        k(problem.attrs.integer("k")),
        largest(problem.attrs.flag("largest")) {}

  template <class T>
  void line(const KernelArgs& args, std::int64_t number) const {
    thread_local std::vector<Placed<T>> placed;
    placed.resize(static_cast<std::size_t>(view.extent));
    const std::int64_t outer = number / view.inner, inside = number % view.inner;
    const T* const x =
        static_cast<const T*>(args.inputs[0]) + outer * view.extent * view.inner + inside;
    for (std::int64_t i = 0; i < view.extent; ++i) placed.data()[i] = {x[i * view.inner], i};
    const auto sort = [&](auto before) {
      std::partial_sort(placed.begin(), placed.begin() + k, placed.end(),
                        [&](const Placed<T>& a, const Placed<T>& b) {
                          if (before(a.value, b.value)) return true;
                          return a.place < b.place && !before(b.value, a.value);
                        });
    };
    if (largest)
      sort([](T a, T b) { return is_less(b, a); });
    else
      sort([](T a, T b) { return is_less(a, b); });
    for (std::int64_t i = 0; i < k; ++i) {
      const std::int64_t to = (outer * k + i) * view.inner + inside;
      static_cast<T*>(args.outputs[0])[to] = placed.data()[i].value;
      static_cast<std::int64_t*>(args.outputs[1])[to] = placed.data()[i].place;
    }
  }

  void operator()(const KernelArgs& args) const {
    parallel_ranges(view.outer * view.inner, 1, [&](std::int64_t begin, std::int64_t end) {
      visit_ordered(dtype, [&](auto tag) {
        for (std::int64_t i = begin; i < end; ++i) line<decltype(tag)>(args, i);
      });
    });
  }
};

const RegisteredKernel native{{
    .op = "topk",
    .name = "native",
    .provider = Provider::framework,
    .summary = "a partial sort of elements and places, on the dtype as it is",
    .prepare = [](const Problem& problem) -> Launch { return TopK(problem); },
}};

}  // namespace
}  // namespace opbench
