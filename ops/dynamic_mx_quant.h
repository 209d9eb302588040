#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "ops/attrs.h"
#include "ops/quantise.h"
#include "tensor/byte_float.h"
#include "tensor/shape.h"

namespace opbench {

/// Elements [first, first + count*inner) in steps of `inner`, and the place of their scale.
struct MxBlock {
  std::int64_t first, count, inner, scale;

  template <class Body>
  void for_each(Body body) const {
    for (std::int64_t i = 0; i < count; ++i) body(first + i * inner);
  }
};

/// The blocks of `dynamic_mx_quant`. Scales lie in pairs along the axis; the last pair may have a
/// block without elements.
struct MxBlocks {
  std::size_t axis;
  std::int64_t size, outer = 1, extent = 1, inner = 1;

  MxBlocks(const Dims& shape, const Attrs& attrs);
  std::int64_t pairs() const { return (quotient_up(extent, size) + 1) / 2; }

  /// The blocks of a pair of scales: pairs() of them for each `o` below `outer`.
  template <class Body>
  void for_each_of(std::int64_t o, std::int64_t pair, Body body) const {
    for (std::int64_t i = 0; i < inner; ++i) {
      for (std::int64_t half = 0; half < 2; ++half) {
        const std::int64_t begin = std::min((2 * pair + half) * size, extent);
        body(MxBlock{(o * extent + begin) * inner + i, std::min(size, extent - begin), inner,
                     ((o * pairs() + pair) * inner + i) * 2 + half});
      }
    }
  }
  template <class Body>
  void for_each(Body body) const {
    for (std::int64_t p = 0; p < outer * pairs(); ++p) for_each_of(p / pairs(), p % pairs(), body);
  }
};

/// The scale of a block and the steps under it.
class MxRule {
 public:
  explicit MxRule(const Attrs& attrs);
  /// The e8m0 code for the largest magnitude of a block: 2^-127 for 0, NaN for Inf and NaN.
  std::uint8_t scale_code(float most) const;
  /// x/scale, rounded and clipped.
  std::uint8_t step(float x, std::uint8_t scale) const;
  /// The steps of `count` numbers, stored `apart` bytes apart.
  void steps(const float* x, std::int64_t count, std::uint8_t scale, std::uint8_t* to,
             std::int64_t apart) const;

 private:
  const ByteFloat* format_;
  bool is_rounded_up_;
};

}  // namespace opbench
