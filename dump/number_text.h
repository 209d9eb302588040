#pragma once

#include <string>
#include <variant>

#include "dump/dump_types.h"

namespace opbench {

/// One element: exact, whatever its type.
using Number = std::variant<double, std::int64_t, std::uint64_t, bool>;

/// The fewest digits that give a number back in the type it is stored in: 0.d1d2d3.. * 10^exponent.
struct ShortestDigits {
  bool is_negative = false;
  std::string digits;  ///< "0" for zero, else without zeros at either end
  int exponent = 0;    ///< of the point before the first digit
};

/// Of a finite value of f16, f32 or f64.
ShortestDigits shortest_digits(double value, StoredType type);

/// "1.5", "-0.", "65500.": shortest, at most `most` digits after the point.
std::string positional_text(double value, StoredType type, int most);

/// "1.5e-07", "1.e+08", the same for the mantissa.
std::string scientific_text(double value, StoredType type, int most);

/// A single value as numpy prints a scalar: "1.5", "1e-07", "nan", "True", "-3".
std::string scalar_text(const Number& value, StoredType type);

/// A value for people, in at most ten columns: "-1.234e+05", "12", "nan".
std::string compact_text(const Number& value);

}  // namespace opbench
