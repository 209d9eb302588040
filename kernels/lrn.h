#pragma once

#include "kernels/simd/elementwise.h"

namespace opbench {

/// Places of the planes of one image, in all channels.
struct LrnBlock {
  DType dtype;
  std::int64_t first, inner, count;  ///< the first element of channel 0; from channel to channel
  const void* const* inputs;
  void* output;
  float* memory;  ///< of the rows of windows

  template <class Memory>
  Memory* row(Memory* of, std::int64_t channel) const {
    return at(of, dtype, first + channel * inner);
  }
};

}  // namespace opbench
