#include <algorithm>
#include <numeric>

#include "kernels/sort.h"
#include "ops/order.h"

namespace opbench {
namespace {

// std::stable_sort allocates; ties broken by the place give the same order without.
template <class T>
void sort_indices(const T* x, std::int64_t count, bool descending, std::int64_t* order) {
  std::iota(order, order + count, std::int64_t{0});
  const auto sort = [&](auto before) {
    std::sort(order, order + count, [&](std::int64_t a, std::int64_t b) {
      if (before(x[a], x[b])) return true;
      return a < b && !before(x[b], x[a]);
    });
  };
  if (descending) return sort([](T a, T b) { return is_less(b, a); });
  sort([](T a, T b) { return is_less(a, b); });
}

Launch prepare(const Problem& problem) {
  return [plan = SortPlan(problem)](const KernelArgs& args) {
    visit_ordered(plan.dtype, [&](auto tag) {
      using T = decltype(tag);
      sort_lines<T>(plan, args, sort_indices<T>);
    });
  };
}

constexpr std::string_view kSummary = "comparison sort of the indices, on the dtype as it is";

const RegisteredKernel sort_kernel{{
    .op = "sort",
    .name = "native",
    .provider = Provider::framework,
    .summary = kSummary,
    .prepare = prepare,
    .temporary_bytes = [](const Problem& problem) { return line_bytes(problem, 0); },
}};

const RegisteredKernel argsort_kernel{{
    .op = "argsort",
    .name = "native",
    .provider = Provider::framework,
    .summary = kSummary,
    .prepare = prepare,
    .temporary_bytes = [](const Problem& problem) { return line_bytes(problem, 0); },
}};

}  // namespace
}  // namespace opbench
