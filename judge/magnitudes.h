#pragma once

#include <cstdint>
#include <vector>

#include "judge/stored_values.h"
#include "text/packed.h"

namespace opbench {

/// Counts magnitudes, to find the scale of a tensor: what three quarters of its finite values other
/// than 0 do not exceed. Unlike a root mean square it does not follow a few overflowed or special
/// values; for normally distributed ones it is 1.15 of it. Values beyond 8192 that are alike to an
/// eighth and 2^10 times as large as all others are a mask and do not count. Up to kMeasureBlock
/// values it is one of them, beyond that it is right within a sixteenth.
class Magnitudes {
 public:
  /// Adds `count` stored values of a kind; `is_all` if no others come before or after.
  void add(const ValueKind& kind, const void* stored, std::int64_t count, bool is_all);
  /// Adds values that are there as fp64 numbers.
  void add(const double* values, std::int64_t count);
  void merge(const Magnitudes& more);
  /// 0 without values.
  double scale() const;
  /// For another process, and back.
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
