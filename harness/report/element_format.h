#pragma once

#include <span>
#include <string>

#include "dump/number_text.h"

namespace opbench {

/// How numpy prints the elements of one array: all equally wide, their points below each other.
class ElementFormat {
 public:
  /// `shown` are all elements that will be printed, of a tensor that is no scalar.
  ElementFormat(StoredType type, std::span<const Number> shown);
  std::string text(const Number& element) const;

 private:
  void fit_floats(std::span<const Number> shown);
  void fit_exponents(std::span<const double> finite);
  void fit_points(std::span<const double> finite);
  std::string float_text(double value) const;

  StoredType type_;
  std::size_t width_ = 0;  // of whole numbers
  bool is_scientific_ = false;
  int precision_ = 8;
  std::size_t left_ = 0, right_ = 0;  // columns before the point and after it
};

}  // namespace opbench
