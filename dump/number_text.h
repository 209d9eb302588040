#pragma once

#include <string>
#include <variant>

#include "dump/dump_types.h"

namespace opbench {

/// The exact value of an element of any type.
using Number = std::variant<double, std::int64_t, std::uint64_t, bool>;

/// The fewest digits that identify a number in its stored type: 0.d1d2d3.. * 10^exponent.
struct ShortestDigits {
  bool is_negative = false;
  std::string digits;  ///< "0" for zero; else without zeros at both ends
  int exponent = 0;    ///< exponent of the number 0.d1d2d3..
};

/// Digits of a finite value of f16, f32 or f64.
ShortestDigits shortest_digits(double value, StoredType type);

/// Formats "1.5", "-0.", "65500.": fewest digits, at most `most` after the point.
std::string positional_text(double value, StoredType type, int most);

/// Formats "1.5e-07", "1.e+08": fewest digits, at most `most` after the point.
std::string scientific_text(double value, StoredType type, int most);

/// Formats a value like a numpy scalar: "1.5", "1e-07", "nan", "True", "-3".
std::string scalar_text(const Number& value, StoredType type);

/// Formats a value for display in at most ten columns: "-1.234e+05", "12", "nan".
std::string compact_text(const Number& value);

}  // namespace opbench
