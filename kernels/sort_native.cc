#include <algorithm>
#include <vector>

#include "kernels/sort.h"
#include "ops/order.h"

namespace opbench {
namespace {

// std::stable_sort allocates; ties broken by the place give the same order without.
template <class T>
void sort_indices(const T* x, std::int64_t count, bool descending, std::int64_t* order) {
  thread_local std::vector<Placed<T>> placed;
  placed.resize(static_cast<std::size_t>(count));
  for (std::int64_t i = 0; i < count; ++i) placed.data()[i] = {x[i], i};
  const auto sort = [&](auto before) {
    std::sort(placed.begin(), placed.end(), [&](const Placed<T>& a, const Placed<T>& b) {
      if (before(a.value, b.value)) return true;
      return a.place < b.place && !before(b.value, a.value);
    });
  };
  if (descending)
    sort([](T a, T b) { return is_less(b, a); });
  else
    sort([](T a, T b) { return is_less(a, b); });
  for (std::int64_t i = 0; i < count; ++i) order[i] = placed.data()[i].place;
}

Launch prepare(const Problem& problem) {
  return [plan = SortPlan(problem)](const KernelArgs& args) {
    visit_ordered(plan.dtype, [&](auto tag) {
      using T = decltype(tag);
      sort_lines<T>(plan, args, sort_indices<T>);
    });
  };
}

constexpr std::string_view kSummary =
    "comparison sort of elements and places, on the dtype as it is";
constexpr std::size_t kPlacedBytes = 16;

const RegisteredKernel sort_kernel{{
    .op = "sort",
    .name = "native",
    .provider = Provider::framework,
    .summary = kSummary,
    .prepare = prepare,
    .temporary_bytes = [](const Problem& problem) { return line_bytes(problem, kPlacedBytes); },
}};

const RegisteredKernel argsort_kernel{{
    .op = "argsort",
    .name = "native",
    .provider = Provider::framework,
    .summary = kSummary,
    .prepare = prepare,
    .temporary_bytes = [](const Problem& problem) { return line_bytes(problem, kPlacedBytes); },
}};

}  // namespace
}  // namespace opbench
