#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "dump/number_text.h"
#include "harness/report/shown_tensor.h"

namespace opbench {
namespace {

// Elements follow the rules of numpy's FloatingFormat, IntegerFormat and BoolFormat
// (numpy/core/arrayprint.py) with precision 8, floatmode "maxprec" and sign "-".

/// Formats the elements of one array like numpy: equal widths, decimal points aligned.
class ElementFormat {
 public:
  /// `shown`: all elements to print, of a tensor that is not a scalar.
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
  // numpy reserves the width of both if either is present.
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
  // numpy requests a minimum of digits; digits beyond the shortest text are exact.
  if (is_scientific_) return fmt::format("{:>{}}", exact_scientific(value, precision_), width);
  std::string text = positional_text(value, type_, precision_);
  if (text.ends_with('.')) text = fmt::format("{:.0f}.", value);
  text.insert(0, left_ - text.find('.'), ' ');
  return fmt::format("{:<{}}", text, width);
}

constexpr std::int64_t kMostElements = 1000, kEdge = 3;
constexpr std::size_t kLineWidth = 75;
constexpr std::string_view kDots = "...";

/// The printed part of a tensor: both ends of each axis, or all of it.
struct Shown {
  Dims extents;           ///< of what is printed
  std::vector<bool> cut;  ///< is something left out in the middle of the axis?
  std::int64_t edge = 0;  ///< of axes that are cut
  std::int64_t elements = 1;
};

Shown shown_of(const Dims& shape, std::int64_t edge) {
  Shown shown{shape, std::vector<bool>(shape.size(), false), edge};
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    if (edge > 0 && shape[axis] > 2 * edge) {
      shown.cut[axis] = true;
      shown.extents[axis] = 2 * edge;
    }
    shown.elements *= shown.extents[axis];  // at most kMostElements * 2 * edge before it stops
    if (edge > 1 && shown.elements > kMostElements) return shown_of(shape, edge - 1);
    if (edge == 1 && shown.elements > kMostElements) break;
  }
  return shown;
}

/// Reads the printed elements, row by row of the last axis.
class ShownReader {
 public:
  ShownReader(const Dims& shape, const Shown& shown, const ReadShownNumbers& read)
      : shape_(shape), shown_(shown), read_(read) {}

  std::vector<Number> all() {
    visit(0, 0);
    return std::move(numbers_);
  }

 private:
  void add(std::int64_t first, std::int64_t count) {
    const std::vector<Number> part = read_({first, count});
    numbers_.insert(numbers_.end(), part.begin(), part.end());
  }

  void visit(std::size_t axis, std::int64_t place) {
    const std::int64_t extent = shape_[axis];
    if (axis + 1 == shape_.size()) {
      if (!shown_.cut[axis]) return add(place * extent, extent);
      add(place * extent, shown_.edge);
      return add((place + 1) * extent - shown_.edge, shown_.edge);
    }
    for (std::int64_t i = 0; i < extent; ++i) {
      if (shown_.cut[axis] && i == shown_.edge) i = extent - shown_.edge;
      visit(axis + 1, place * extent + i);
    }
  }

  const Dims& shape_;
  const Shown& shown_;
  const ReadShownNumbers& read_;
  std::vector<Number> numbers_;
};

/// Corresponds to numpy's _formatArray.
class Printer {
 public:
  Printer(const Shown& shown, const std::vector<Number>& numbers, const ElementFormat& format)
      : shown_(shown), next_(numbers.data()), format_(format) {}

  /// Axis `axis` from this place on, without the indent of its first line.
  std::string text(std::size_t axis, const std::string& indent, std::size_t width) {
    const bool is_row = axis + 1 == shown_.extents.size();
    const std::string inside = is_row ? row(indent, width) : block(axis, indent, width);
    return fmt::format("[{}]", std::string_view(inside).substr(indent.size()));
  }

 private:
  // Prints words in lines of at most `width` columns.
  std::string row(const std::string& indent, std::size_t width) {
    std::string done, line = indent;
    const auto add = [&](std::string_view word) {
      if (line.size() + word.size() > width - 1 && line.size() > indent.size()) {
        done.append(line, 0, line.find_last_not_of(' ') + 1).append(1, '\n');
        line = indent;
      }
      line += word;
    };
    const std::int64_t extent = shown_.extents.back();
    for (std::int64_t i = 0; i < extent; ++i) {
      if (i > 0) line += ' ';
      if (shown_.cut.back() && i == shown_.edge) {
        add(kDots);
        line += ' ';
      }
      add(format_.text(*next_++));
    }
    return done + line;
  }

  std::string block(std::size_t axis, const std::string& indent, std::size_t width) {
    const std::string gap(shown_.extents.size() - axis - 1, '\n');
    std::string done;
    for (std::int64_t i = 0; i < shown_.extents[axis]; ++i) {
      if (i > 0) done += gap;
      if (shown_.cut[axis] && i == shown_.edge) done += fmt::format("{}{}{}", indent, kDots, gap);
      done += fmt::format("{}{}", indent, text(axis + 1, indent + ' ', width - 1));
    }
    return done;
  }

  const Shown& shown_;
  const Number* next_;
  const ElementFormat& format_;
};

}  // namespace

std::string array_text(const Dims& shape, StoredType type, const ReadShownNumbers& read) {
  const std::int64_t elements = element_count(shape);
  if (elements == 0) return "[]";
  if (shape.empty()) return scalar_text(read({0, 1}).at(0), type);
  const Shown shown = shown_of(shape, elements > kMostElements ? kEdge : 0);
  if (shown.elements > kMostElements && elements > kMostElements) {
    // Too many axes even for one element at either end of each: prints the elements as one row.
    return array_text({elements}, type, read);
  }
  const std::vector<Number> numbers = ShownReader(shape, shown, read).all();
  const ElementFormat format(type, numbers);
  return Printer(shown, numbers, format).text(0, " ", kLineWidth);
}

}  // namespace opbench
