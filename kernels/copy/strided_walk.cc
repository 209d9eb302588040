#include "kernels/copy/strided_walk.h"

#include <algorithm>

namespace opbench {
namespace {

bool is_whole(const StridedLoop& loop) {
  return loop.valid == loop.extent && loop.readable == loop.extent;
}

}  // namespace

std::int64_t count_of(const Loops& loops) {
  std::int64_t count = 1;
  for (const StridedLoop& loop : loops) count *= loop.extent;
  return count;
}

Loops ordered(Loops loops) {
  std::erase_if(loops, [](const StridedLoop& l) { return l.extent == 1 && is_whole(l); });
  std::stable_sort(loops.begin(), loops.end(), [](const StridedLoop& a, const StridedLoop& b) {
    return a.to_stride > b.to_stride;
  });
  Loops joined;
  for (const StridedLoop& inner : loops) {
    StridedLoop* outer = joined.empty() ? nullptr : &joined.back();
    if (outer != nullptr && is_whole(*outer) && is_whole(inner) &&
        outer->to_stride == inner.to_stride * inner.extent &&
        outer->from_stride == inner.from_stride * inner.extent) {
      const std::int64_t extent = outer->extent * inner.extent;
      *outer = {extent, inner.from_stride, inner.to_stride, extent, extent};
    } else {
      joined.push_back(inner);
    }
  }
  if (joined.empty() || joined.back().to_stride != 1) joined.push_back({1, 1, 1});
  return joined;
}

}  // namespace opbench
