#pragma once

#include <cstdint>
#include <vector>

#include "judge/stored_values.h"
#include "text/packed.h"

namespace opbench {

/// Counts magnitudes to find the scale of a tensor: the upper quartile of its finite values other
/// than 0. Unlike a root mean square, it does not depend on a few overflowed or special values. For
/// normally distributed values it is 1.15 times the root mean square. Values beyond 8192 that are
/// equal within an eighth and at least 2^10 times as large as all others are a mask, which does not
/// count. For up to kMeasureBlock values, the scale is one of the values; for more, it is exact
/// within a sixteenth.
class Magnitudes {
 public:
  /// Adds `count` stored values of a kind. `is_all`: these are all values.
  void add(const ValueKind& kind, const void* stored, std::int64_t count, bool is_all);
  /// Adds values in fp64.
  void add(const double* values, std::int64_t count);
  void merge(const Magnitudes& more);
  /// 0 without values.
  double scale() const;
  /// For another process; `unpack` reads it.
  void pack(Packer& packer) const;
  void unpack(Unpacker& packed);
  template <class V>
  friend void each_field(V& v, FieldsOf<Magnitudes> auto& magnitudes) {
    if constexpr (V::kReads) {
      magnitudes.unpack(v);
    } else {
      magnitudes.pack(v);
    }
  }

 private:
  void add_floats(const float* values, std::int64_t count);

  double only_ = -1;                  ///< the scale, where all values came at once and were few
  std::vector<std::int64_t> counts_;  ///< by exponent and three bits of mantissa
};

}  // namespace opbench
