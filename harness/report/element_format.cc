// The rules of numpy's FloatingFormat, IntegerFormat and BoolFormat (numpy/core/arrayprint.py) with
// precision 8, floatmode "maxprec" and sign "-".
#include "harness/report/element_format.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

namespace opbench {
namespace {

bool is_floating(StoredType type) {
  return type == StoredType::f16 || type == StoredType::f32 || type == StoredType::f64;
}

bool wants_exponents(std::span<const double> finite) {
  double least = std::numeric_limits<double>::infinity(), most = 0;
  for (const double value : finite) {
    if (value == 0) continue;
    least = std::min(least, std::fabs(value));
    most = std::max(most, std::fabs(value));
  }
  return most != 0 && (most >= 1e8 || least < 1e-4 || most / least > 1000);
}

// "1.50e-07"; "1.e-07" without digits after the point.
std::string exact_scientific(double value, int digits) {
  std::string text = fmt::format("{:.{}e}", value, digits);
  if (digits == 0) text.insert(text.find('e'), 1, '.');
  return text;
}

}  // namespace

ElementFormat::ElementFormat(StoredType type, std::span<const Number> shown) : type_(type) {
  if (is_floating(type)) {
    fit_floats(shown);
    return;
  }
  for (const Number& number : shown) {
    const bool is_flag = std::holds_alternative<bool>(number);
    width_ = std::max(width_, is_flag ? 5 : scalar_text(number, type).size());
  }
}

void ElementFormat::fit_floats(std::span<const Number> shown) {
  std::vector<double> finite;
  bool has_nan = false, has_inf = false, has_negative_inf = false;
  for (const Number& number : shown) {
    const double value = std::get<double>(number);
    if (std::isfinite(value)) finite.push_back(value);
    has_nan |= std::isnan(value);
    has_inf |= std::isinf(value);
    has_negative_inf |= std::isinf(value) && value < 0;
  }
  is_scientific_ = wants_exponents(finite);
  if (is_scientific_) {
    fit_exponents(finite);
  } else {
    fit_points(finite);
  }
  if (!has_nan && !has_inf) return;
  // numpy makes room for both, whichever there is.
  const std::size_t longest = has_negative_inf ? 4 : 3;
  left_ = std::max(left_, longest - std::min(longest, right_ + 1));
}

void ElementFormat::fit_exponents(std::span<const double> finite) {
  std::size_t exponent = 0, after = 0;
  for (const double value : finite) {
    const std::string text = scientific_text(value, type_, precision_);
    const std::size_t point = text.find('.'), e = text.find('e');
    left_ = std::max(left_, point);
    after = std::max(after, e - point - 1);
    exponent = std::max(exponent, text.size() - e);
  }
  precision_ = static_cast<int>(after);
  right_ = after + exponent;
}

void ElementFormat::fit_points(std::span<const double> finite) {
  for (const double value : finite) {
    const std::string text = positional_text(value, type_, precision_);
    const std::size_t point = text.find('.');
    left_ = std::max(left_, point);
    right_ = std::max(right_, text.size() - point - 1);
  }
}

std::string ElementFormat::text(const Number& element) const {
  if (const auto* value = std::get_if<double>(&element)) return float_text(*value);
  return fmt::format("{:>{}}", scalar_text(element, type_), width_);
}

std::string ElementFormat::float_text(double value) const {
  const std::size_t width = left_ + right_ + 1;
  if (!std::isfinite(value)) return fmt::format("{:>{}}", scalar_text(value, type_), width);
  // numpy asks for so many digits at least, and what stands beyond the shortest are exact ones.
  if (is_scientific_) return fmt::format("{:>{}}", exact_scientific(value, precision_), width);
  std::string text = positional_text(value, type_, precision_);
  if (text.ends_with('.')) text = fmt::format("{:.0f}.", value);
  text.insert(0, left_ - text.find('.'), ' ');
  return fmt::format("{:<{}}", text, width);
}

}  // namespace opbench
