#pragma once

#include <cstddef>
#include <cstdint>

namespace opbench {

/// Lanes [first_lane, first_lane + lanes) of `pixels` consecutive pixels of one (n, c1) slab, or of
/// any storage whose pixels are c0 elements apart and consist of whole ones.
struct SlabPart {
  std::int64_t c0 = 16;
  std::int64_t first_lane = 0;
  int lanes = 0;
  std::int64_t pixels = 0;
  std::int64_t plain_stride = 0;  ///< elements from one channel to the next in the plain layout
};

/// Copies between slab[pixel * c0 + first_lane + lane] and plain[lane * plain_stride + pixel], on
/// one thread; the other lanes stay as they are. `element_bytes` is 1, 2, 4 or 8.
void slab_to_plain(const SlabPart& part, const void* slab, void* plain, std::size_t element_bytes);
void slab_from_plain(const SlabPart& part, const void* plain, void* slab,
                     std::size_t element_bytes);

}  // namespace opbench
