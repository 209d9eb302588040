#pragma once

#include <Eigen/Core>
#include <cmath>
#include <type_traits>
#include <utility>
#include <vector>

namespace opbench {

/// A number with its error in units of a roundoff: the roundings on the way to it, each in
/// proportion to its result, which is at least `least`, and `weight`. Roundings of one chain of
/// operations are independent; those of the terms of a sum may have one sign.
struct Running {
  double value, error, weight, least;
};

/// A result of x after one more rounding.
inline Running rounded(double value, double error, Running x) {
  const double rounding = x.weight * std::fmax(std::fabs(value), x.least);
  return {value, std::hypot(error, rounding), x.weight, x.least};
}

inline Running operator+(Running a, Running b) {
  return rounded(a.value + b.value, a.error + b.error, a);
}
inline Running operator-(Running a, Running b) {
  return a + Running{-b.value, b.error, b.weight, b.least};
}
inline Running operator*(Running a, Running b) {
  return rounded(a.value * b.value, std::hypot(a.error * b.value, a.value * b.error), a);
}
/// The part of a state that is kept from step to step. Its errors of many steps may have one sign.
inline double kept(double share, double state) { return share * state; }
inline Running kept(Running share, Running state) {
  Running result = share * Running{state.value, 0, state.weight, state.least};
  result.error += std::fabs(share.value) * state.error;
  return result;
}
/// The number 1 - x.
inline double rest_of(double x) { return 1 - x; }
inline Running rest_of(Running x) { return rounded(1 - x.value, x.error, x); }

/// A function of x with a slope there.
inline Running with_slope(Running x, double value, double slope) {
  return rounded(value, slope == 0 ? 0 : slope * x.error, x);
}
inline double sigmoid_of(double x) { return 1 / (1 + std::exp(-x)); }
inline Running sigmoid_of(Running x) {
  const double s = sigmoid_of(x.value);
  return with_slope(x, s, s * (1 - s));
}
inline double tanh_of(double x) { return std::tanh(x); }
inline Running tanh_of(Running x) {
  const double y = std::tanh(x.value);
  return with_slope(x, y, 1 - y * y);
}

/// The roundings of running errors.
struct Roundings {
  double weight = 1, least = 0;
};

/// A matrix of numbers of either kind. Those without errors are exact.
template <class Number>
struct NumberMatrix {
  using Values = Eigen::Matrix<double, Eigen::Dynamic, Eigen::Dynamic, Eigen::RowMajor>;
  static constexpr bool kAreRunning = std::is_same_v<Number, Running>;

  Values value, error = {};
  Roundings roundings = {};

  static NumberMatrix zeros(std::int64_t rows, std::int64_t columns, Roundings roundings) {
    NumberMatrix result{Values::Zero(rows, columns), {}, roundings};
    if (kAreRunning) result.error = result.value;
    return result;
  }
  static NumberMatrix exact(std::int64_t rows, std::int64_t columns,
                            const std::vector<double>& values, Roundings roundings) {
    return {Eigen::Map<const Values>(values.data(), rows, columns), {}, roundings};
  }

  Number get(std::int64_t row, std::int64_t column) const {
    if constexpr (kAreRunning) {
      return {value(row, column), error.size() == 0 ? 0 : error(row, column), roundings.weight,
              roundings.least};
    } else {
      return value(row, column);
    }
  }
  void set(std::int64_t row, std::int64_t column, Number number) {
    if constexpr (kAreRunning) {
      value(row, column) = number.value;
      error(row, column) = number.error;
    } else {
      value(row, column) = number;
    }
  }
  NumberMatrix rows(std::int64_t first, std::int64_t count) const {
    NumberMatrix result{value.middleRows(first, count), {}, roundings};
    if (error.size() > 0) result.error = error.middleRows(first, count);
    return result;
  }
  NumberMatrix transposed() const { return {value.transpose(), error.transpose(), roundings}; }

  /// A factor of products, with what their errors need.
  struct Factor {
    Values value, magnitudes = {}, squares = {};

    explicit Factor(Values values = {}) : value(std::move(values)) {
      if (!kAreRunning) return;
      magnitudes = value.cwiseAbs();
      squares = value.cwiseAbs2();
    }
  };

  /// A product of matrices: the magnitudes of the terms of its sums, and the errors of factors and
  /// results. Errors of the terms of a sum are independent, or all of one sign.
  NumberMatrix times(const Factor& b, const Values& error_of_b = {}) const {
    NumberMatrix c{value * b.value, {}, roundings};
    if (!kAreRunning) return c;
    const double weight = roundings.weight - 1;
    Values squares = (weight * c.value.cwiseAbs().cwiseMax(roundings.least)).cwiseAbs2();
    if (error.size() > 0) {
      squares += (error.cwiseAbs2() * b.squares).cwiseMax((error * b.value).cwiseAbs2());
    }
    if (error_of_b.size() > 0) {
      squares +=
          (value.cwiseAbs2() * error_of_b.cwiseAbs2()).cwiseMax((value * error_of_b).cwiseAbs2());
    }
    c.error = value.cwiseAbs() * b.magnitudes + squares.cwiseSqrt();
    return c;
  }
  NumberMatrix operator*(const NumberMatrix& b) const { return times(Factor(b.value), b.error); }
};

}  // namespace opbench
