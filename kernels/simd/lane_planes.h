#pragma once

#include <cstdint>

#include "tensor/dtype.h"

namespace opbench {

/// Consecutive planes of `places` places with 16 channels side by side, stored in fp32, fp16 or
/// bf16 and computed in fp32. Products are not fused and all sums have a fixed order, so that every
/// instruction set gives the same bits: place i is added to chain i % 4, then (0 + 2) + (1 + 3).
struct LanePlanes {
  DType dtype;
  std::int64_t places;
  std::int64_t first, last;  ///< the planes of a call
  std::int64_t blocks;       ///< plane i belongs to channel block i % blocks
  bool ahead = false;        ///< the data of the sums is not in a cache: it is prefetched
};

/// Two numbers of every channel of a block.
struct LanePair {
  alignas(64) float first[16], second[16];
};

/// sums[plane].first[lane] = the sum of x[i][lane], .second[lane] = the sum of x[i][lane]^2.
void sum_and_squares(const LanePlanes& planes, const void* x, LanePair* sums);

/// sums[plane].first[lane] = the sum of dy[i][lane], .second[lane] = the sum of
/// dy[i][lane]*(x[i][lane] - mean[block*16 + lane]).
void sum_and_products(const LanePlanes& planes, const void* dy, const void* x, const float* mean,
                      LanePair* sums);

/// sums[(plane - first)*16 + lane] = the sum of scale*x[i][lane].
void sum_of_lanes(const LanePlanes& planes, float scale, const void* x, float* sums);

/// The scales of scale_lanes for each channel of a block.
struct LaneScales {
  alignas(64) float a[16], b[16], c[16];
};

/// y[i][lane] = a*x + (b*z + c) with the scales of the plane's block; without z, a*x + c. y may be
/// x. `stream`: past the cache; y is then aligned to 16 elements.
void scale_lanes(const LanePlanes& planes, bool stream, const LaneScales* of, const void* x,
                 const void* z, void* y);

/// Stores `count` numbers rounded to `dtype` (fp32, fp16 or bf16) and sets `from` to zeros.
/// `stream`: past the cache.
void drain_floats(DType dtype, bool stream, float* from, std::int64_t count, void* to);

}  // namespace opbench
