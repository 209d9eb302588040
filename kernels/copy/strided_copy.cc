#include "kernels/copy/strided_copy.h"

#include <algorithm>
#include <utility>

#include "kernels/copy/strided_ways.h"

namespace opbench {
namespace {

std::unique_ptr<StridedCopy::Way> choose(StridedNest nest, bool stream) {
  const std::int64_t bytes = nest.element_bytes;
  Loops outer = ordered(std::move(nest.loops));
  const StridedLoop run = outer.back();
  outer.pop_back();
  if (run.from_stride == 1 || run.extent == 1) {
    return copy_rows(std::move(outer), run, bytes, stream);
  }
  const auto a = std::find_if(outer.begin(), outer.end(),
                              [](const StridedLoop& loop) { return loop.from_stride == 1; });
  if (a == outer.end()) return copy_elements(std::move(outer), run, bytes, stream);
  const StridedLoop a_loop = *a;
  outer.erase(a);
  return copy_planes(std::move(outer), a_loop, run, bytes, stream);
}

}  // namespace

StridedCopy::StridedCopy(StridedNest nest, bool stream)
    : from_offset_(nest.from_offset * nest.element_bytes),
      to_offset_(nest.to_offset * nest.element_bytes) {
  const bool is_empty = std::any_of(nest.loops.begin(), nest.loops.end(),
                                    [](const StridedLoop& loop) { return loop.extent == 0; });
  if (!is_empty) way_ = choose(std::move(nest), stream);
}

StridedCopy::StridedCopy(StridedCopy&&) noexcept = default;
StridedCopy::~StridedCopy() = default;

void StridedCopy::run(const void* from, void* to) const {
  if (way_ == nullptr) return;
  way_->run(static_cast<const std::byte*>(from) + from_offset_,
            static_cast<std::byte*>(to) + to_offset_);
}

}  // namespace opbench
