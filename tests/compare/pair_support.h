#pragma once

#include <cstring>
#include <limits>
#include <utility>
#include <vector>

#include "judge/measure_pairs.h"
#include "judge/standards.h"
#include "tensor/half.h"
#include "tensor/parallel.h"

namespace opbench {

/// One side of a pair, with elements in memory.
template <class T>
PairSide side_of(StoredType stored, DType dtype, const std::vector<T>& values) {
  return {stored, dtype, [values](ElementRange range, void* to) {
            if (range.count == 0) return;
            std::memcpy(to, values.data() + range.first,
                        static_cast<std::size_t>(range.count) * sizeof(T));
          }};
}

inline TensorPair pair_of(PairSide actual, PairSide expected, std::size_t count,
                          const Tolerance& tolerance = mixed_tolerance(DType::fp32)) {
  return {std::move(actual), std::move(expected), static_cast<std::int64_t>(count), tolerance};
}

/// A pair of two float32 tensors.
inline TensorPair float_pair(const std::vector<float>& actual, const std::vector<float>& expected,
                             const Tolerance& tolerance = mixed_tolerance(DType::fp32)) {
  return pair_of(side_of(StoredType::f32, DType::fp32, actual),
                 side_of(StoredType::f32, DType::fp32, expected), actual.size(), tolerance);
}

inline std::vector<PairMeasures> measure_all(const std::vector<TensorPair>& pairs,
                                             const MeasureOptions& options = {},
                                             const MeasureHooks& hooks = {}) {
  std::vector<PairMeasures> all(pairs.size());
  measure_pairs(
      pairs.size(), [&](std::size_t i) { return pairs[i]; }, options, hooks,
      [&](std::size_t i, PairMeasures&& found) { all[i] = std::move(found); });
  return all;
}

inline PairMeasures measure_one(const TensorPair& pair) { return measure_all({pair}).front(); }

}  // namespace opbench
