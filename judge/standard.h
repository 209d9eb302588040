#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "tensor/dtype.h"

namespace opbench {

/// The elements that count as equal: those with the same value (NaN and NaN, +0 and -0), the same
/// bits, or the same bits except for the payload of a NaN. Bits can be compared only if both sides
/// have the same stored type.
enum class Equality { value, bits, bits_but_nan };

/// The numbers of the `mixed` standard for one dtype. At least `inside_share` of the elements
/// satisfy |actual - expected| <= atol*scale + rtol*|expected|. No error exceeds `limit`*scale,
/// unless it is within `limit_ulp` units in the last place or, for a scale below 1, within 8 rtol
/// of an element up to 1. All zero: every element must be equal.
struct Tolerance {
  double rtol = 0;
  double atol = 0;
  double limit = 0;
  double limit_ulp = 0;
  double inside_share = 1;
  /// Least divisor of relative errors, if it is above the smallest normal number.
  double relative_floor = 0;
  /// atol and limit are parts of the tensor's scale (see Magnitudes) instead of numbers.
  bool follows_scale = false;
  Equality equality = Equality::value;
  /// The allowed error of an element up to 1, as a share of the element; set with the scale.
  double limit_share = 0;

  bool operator==(const Tolerance&) const = default;
};

/// The allowed error of an element with this expected value, except for the units in the last
/// place.
inline double limit_at(const Tolerance& tolerance, double expected) {
  return std::max(tolerance.limit, tolerance.limit_share * std::min(1.0, std::fabs(expected)));
}

/// The kinds of `--standard`.
enum class StandardKind { mixed, exact, statistical, cosine, absolute, cross_check, control };

/// The value of `--standard`: "mixed", "exact", "statistical", "cosine", "prec=1e-3",
/// "cross-check", "cross-check=L2", "control".
struct StandardChoice {
  StandardKind kind = StandardKind::mixed;
  double absolute = 0;  ///< X of prec=X
  int level = 1;        ///< of the cross-check: 0, 1 or 2

  bool operator==(const StandardChoice&) const = default;
};

/// True if the standard compares a tensor with a third, more precise tensor.
inline bool needs_golden(StandardKind kind) {
  return kind == StandardKind::cross_check || kind == StandardKind::control;
}

/// Errors: throws Error that lists the allowed values.
StandardChoice parse_standard(std::string_view text);
/// The value in the spelling of the command line.
std::string to_string(const StandardChoice& choice);

/// The rule for a rounded output: its error bound, unless the user names a standard instead.
struct OutputRule {
  enum class Kind { bound, standard, control } kind = Kind::bound;
  StandardChoice standard = {};
};

/// "bound", "control" (see judge_by_control), or a standard of one tensor: "mixed", "prec=1e-3".
/// Errors: throws Error that lists the allowed values.
OutputRule parse_output_rule(std::string_view text);

/// Limits on the ratio of the NPU's errors to the GPU's.
struct RatioLimits {
  double mare = 0;  ///< of the maximum relative errors
  double mere = 0;  ///< of the mean relative errors
  double rmse = 0;  ///< of the roots of the mean square errors

  bool operator==(const RatioLimits&) const = default;
};

/// The numbers of every standard for one dtype; judge/standards.yaml explains them.
struct StandardNumbers {
  Tolerance mixed;
  double statistical_mean = 0, statistical_max = 0, statistical_floor = 0;
  double cosine = 0;
  std::array<RatioLimits, 3> cross_check;
  double cross_check_floor = 0, cross_check_rounding = 0;
};

/// Sets one number for some dtypes.
struct StandardChange {
  std::vector<DType> dtypes;
  std::function<double&(StandardNumbers&)> number;
  double value = 0;
};

/// Changes for some operators.
struct StandardRule {
  std::function<bool(std::string_view op)> applies;
  std::optional<StandardChoice> standard;  ///< in place of `--standard`
  std::vector<StandardChange> changes;
};

/// All standards: numbers by dtype, and rules in the order in which they apply.
struct Standards {
  std::array<StandardNumbers, kAllDTypes.size()> numbers;
  std::vector<StandardRule> rules;
};

/// The standard for one pair of tensors.
struct Standard {
  StandardKind kind = StandardKind::mixed;
  /// The tolerance for counting elements inside, for any kind.
  Tolerance tolerance = {};
  double mean_relative = 0, max_relative = 0;  ///< statistical
  double least_cosine = 0;                     ///< cosine
  RatioLimits ratios = {};                     ///< cross_check
  /// cross_check: least relative error of the GPU; 0 if results must equal the golden values.
  double rounding = 0;

  bool operator==(const Standard&) const = default;
};

/// A standard that many tensors share. There are few different ones; each is stored once, to the
/// end of the process. Several threads may create them at once.
class SharedStandard {
 public:
  SharedStandard() : SharedStandard(Standard{}) {}
  SharedStandard(const Standard& standard);  // implicit: a Standard is accepted in its place

  operator const Standard&() const { return *kept_; }
  const Standard* operator->() const { return kept_; }

 private:
  const Standard* kept_;
};

/// The standard for a tensor of `dtype` of operator `op`. For integers and bool, `mixed` and
/// `statistical` mean `exact`, unless a file sets their numbers.
Standard standard_for(const Standards& standards, const StandardChoice& choice, std::string_view op,
                      DType dtype);

/// "mixed", ..., "prec", "cross-check".
std::string_view name(StandardKind kind);

}  // namespace opbench
