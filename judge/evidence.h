#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/shape.h"

namespace opbench {

/// An input that has the output's shape, and its values in logical order.
struct InputValues {
  std::string name;
  std::span<const double> values;
};

/// A tensor that departed from what was expected; values in logical order, of `shape`.
struct DepartedValues {
  std::span<const double> actual, expected;
  Dims shape;
  /// An element is wrong if |actual - expected| > allowed + allowed_share * |expected|.
  double allowed = 0, allowed_share = 0;
  std::span<const InputValues> inputs = {};
  const std::vector<bool>* wrong = nullptr;  ///< which ones are, where that is known otherwise
};

/// What was measured of a departed tensor, by name; what could not be measured is absent.
///
/// Of the elements that are finite on both sides, those at wrong places alone where these have a
/// pattern: `elements`; `relative_error` |a-e|/|e| as Euclidean norms; `cosine`; `scale_factor`,
/// the k that brings k*e closest to a, and `scale_left`, the share of the error that is left then;
/// `offset`, the mean of a-e, and `offset_left` likewise; `absolute_spread`, the largest |a-e| over
/// the root mean square of it; `max_relative`, the largest |a-e|/|e|;
/// `relative_spread`, that over the root mean square of it; `small_to_large`, the root mean square
/// of |a-e|/|e| of the smaller values over that of the larger ones; `kept_bits`, the significand
/// bits that a rounding to nearest with that error keeps; `towards_zero`, `away_from_zero`, `below`
/// and `above`, shares of the elements that differ; `actual_bits` and `expected_bits`, significand
/// bits that the values need at most.
///
/// Of all elements: `wrong`, how many are, and `wrong_zeros`, the share of them that is 0 where
/// something else is expected; `beyond_half`, those expected beyond 65504, the largest number of
/// fp16; of them the shares `saturated`, that stand at 65504, and `overflowed`, that are infinite;
/// `made_nonfinite`, NaN and Inf where finite values are expected, with `made_nan` of them; where
/// an input tells these from the others, `nonfinite_from` and `finite_up_to`, the least value of it
/// that gives one and the largest that gives none. Likewise `wrong_from` and `wrong_to`, the least
/// and the largest value of an input that give wrong elements, where none in between gives a right
/// one, 8 or more are wrong and as many are right.
///
/// Of places (see WrongPlaces): `axis`, `place_from`, `place_to` (the last), `places`, `extent`,
/// `period`, `residues`, `is_tail`, `from_multiple` (the largest power of two, up to 64, that
/// divides place_from).
///
/// Of orders: `reordered_axis` (see reordered_axis); `same_values`, 1 where both sides hold the
/// same values in whatever order.
struct DepartureEvidence {
  std::map<std::string, double, std::less<>> numbers;
  std::string places;  ///< where wrong elements are, in words; empty without a pattern

  double& operator[](std::string_view name) { return numbers[std::string(name)]; }
};

/// Which elements are wrong, as `allowed` and `allowed_share` say; NaN and Inf are where the other
/// side has no NaN, or another value.
std::vector<bool> wrong_elements(const DepartedValues& values);

/// Measures it: some passes over the values, and a sort where both sides have the same sums.
DepartureEvidence find_evidence(const DepartedValues& values);

/// All names that there are.
std::span<const std::string_view> evidence_names();

}  // namespace opbench
