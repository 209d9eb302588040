#pragma once

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/shape.h"

namespace opbench {

/// An input with the output's shape, and its values in logical order.
struct InputValues {
  std::string name;
  std::span<const double> values;
};

/// A tensor that differs from its expected values; values in logical order, of `shape`.
struct DepartedValues {
  std::span<const double> actual, expected;
  Dims shape;
  /// An element is wrong if |actual - expected| > allowed + allowed_share * |expected|.
  double allowed = 0, allowed_share = 0;
  std::span<const InputValues> inputs = {};
  const std::vector<bool>* wrong = nullptr;  ///< which ones are, where that is known otherwise
};

/// Measured properties of a wrong tensor, by name. Properties that could not be measured are
/// absent.
///
/// From elements that are finite on both sides; if the places of wrong elements have a pattern,
/// only from these places: `elements`; `relative_error`, |a-e|/|e| as Euclidean norms; `cosine`;
/// `scale_factor`, the k that brings k*e closest to a, and `scale_left`, the share of the error
/// that is left then; `offset`, the mean of a-e, and `offset_left` likewise; `absolute_spread`, the
/// largest |a-e| over its root mean square; `max_relative`, the largest |a-e|/|e|;
/// `relative_spread`, that over its root mean square; `small_to_large`, the root mean square of
/// |a-e|/|e| of the smaller values over that of the larger ones; `kept_bits`, the significand bits
/// that a rounding to nearest with that error keeps; `towards_zero`, `away_from_zero`, `below` and
/// `above`, shares of the elements that differ; `actual_bits` and `expected_bits`, the most
/// significand bits that a value needs.
///
/// From all elements: `wrong`, their number, and `wrong_zeros`, the share of them that is 0 while
/// another value is expected; `beyond_half`, the number of expected values beyond 65504, the
/// largest number of fp16; of them the shares `saturated`, which are 65504, and `overflowed`, which
/// are infinite; `made_nonfinite`, NaN and Inf in place of finite values, with `made_nan` of them.
/// If an input separates these from the others: `nonfinite_from` and `finite_up_to`, its least
/// value with a NaN or an Inf and its largest value without. `wrong_from` and `wrong_to`, the least
/// and the largest value of an input with wrong elements, if no value in between gives a right
/// element, and at least 8 are wrong and 8 are right.
///
/// From places (see WrongPlaces): `axis`, `place_from`, `place_to` (the last), `places`, `extent`,
/// `period`, `residues`, `is_tail`, `from_multiple` (the largest power of two, up to 64, that
/// divides place_from).
///
/// From orders: `reordered_axis` (see reordered_axis); `same_values`, 1 if both sides have the same
/// values in any order.
struct DepartureEvidence {
  std::map<std::string, double, std::less<>> numbers;
  std::string places;  ///< where wrong elements are, in words; empty without a pattern

  double& operator[](std::string_view name) { return numbers[std::string(name)]; }
};

/// Marks elements that are wrong by `allowed` and `allowed_share`. A NaN is wrong if the other side
/// is not a NaN; an Inf is wrong if the other value differs.
std::vector<bool> wrong_elements(const DepartedValues& values);

/// Measures the properties: some passes over the values, and a sort if both sides have equal sums.
DepartureEvidence find_evidence(const DepartedValues& values);

/// All names of properties.
std::span<const std::string_view> evidence_names();

}  // namespace opbench
