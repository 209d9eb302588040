#include "judge/error_map.h"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <nlohmann/json.hpp>
#include <span>

#include "text/cell.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

double error_of(double actual, double expected) {
  if (actual == expected || (std::isnan(actual) && std::isnan(expected))) return 0;
  const double error = std::abs(actual - expected);
  return std::isfinite(error) ? error : std::numeric_limits<double>::infinity();
}

std::size_t parts(std::size_t whole, std::size_t part) { return (whole + part - 1) / part; }

/// The number of rows in a cell: whole inner axes, if more rows are needed than an inner axis has.
std::size_t row_step_of(const Dims& shape) {
  std::size_t left = 1, inner = 1;
  for (std::size_t axis = 0; axis + 1 < shape.size(); ++axis) {
    left *= static_cast<std::size_t>(shape[axis]);
  }
  for (std::size_t axis = shape.size() - 1; axis-- > 0;) {
    const std::size_t step = std::bit_ceil(parts(left, ErrorMap::kMostRows));
    const auto extent = static_cast<std::size_t>(shape[axis]);
    if (step < extent || axis == 0) return inner * step;
    inner *= extent;
    left /= extent;
  }
  return inner;
}

void raise(double& most, double error) { most = std::max(most, error); }

void add_at(std::size_t place, std::size_t extent, double error, AxisErrors& axis) {
  raise(axis.by_remainder[place % AxisErrors::kPlaces], error);
  raise(place + 1 == extent ? axis.last : axis.before_last, error);
}

/// Fills a map row of the tensor by row.
class Filling {
 public:
  Filling(std::span<const double> actual, std::span<const double> expected, ErrorMap& map)
      : actual_(actual),
        expected_(expected),
        map_(map),
        width_(extent(map.shape.size() - 1)),
        column_shift_(std::countr_zero(map.column_step)) {}

  void row(std::size_t row) {
    double* const cells = map_.errors.data() + row / map_.row_step * map_.columns;
    AxisErrors& last_axis = map_.axes.back();
    double most = 0;
    for (std::size_t column = 0; column < width_; ++column) {
      const std::size_t i = row * width_ + column;
      const double error = error_of(actual_[i], expected_[i]);
      if (error == 0) continue;
      raise(most, error);
      raise(cells[column >> column_shift_], error);
      add_at(column, width_, error, last_axis);
    }
    if (most > 0) add_to_outer_axes(row, most);
  }

 private:
  std::size_t extent(std::size_t axis) const { return static_cast<std::size_t>(map_.shape[axis]); }

  void add_to_outer_axes(std::size_t row, double most) {
    for (std::size_t axis = map_.axes.size() - 1; axis-- > 0;) {
      add_at(row % extent(axis), extent(axis), most, map_.axes[axis]);
      row /= extent(axis);
    }
  }

  std::span<const double> actual_, expected_;
  ErrorMap& map_;
  std::size_t width_;
  int column_shift_;  // column_step is a power of two
};

// A picture shows two digits; more would only enlarge the file.
Json error_value(double error) {
  return error == 0 ? Json(0)
                    : finite_or_null(std::strtod(fmt::format("{:.1e}", error).c_str(), nullptr));
}

Json errors_value(std::span<const double> errors) {
  Json list = Json::array();
  for (const double error : errors) list.push_back(error_value(error));
  return list;
}

}  // namespace

ErrorMap error_map(std::span<const double> actual, std::span<const double> expected,
                   const Dims& shape) {
  ErrorMap map;
  map.shape = shape.empty() ? Dims{1} : shape;
  if (actual.empty()) return map;
  const auto width = static_cast<std::size_t>(map.shape.back());
  const std::size_t height = actual.size() / width;
  map.row_step = row_step_of(map.shape);
  map.column_step = std::bit_ceil(parts(width, ErrorMap::kMostColumns));
  map.rows = parts(height, map.row_step);
  map.columns = parts(width, map.column_step);
  map.errors.assign(map.rows * map.columns, 0);
  for (const std::int64_t extent : map.shape) {
    const std::size_t places = std::min(static_cast<std::size_t>(extent), AxisErrors::kPlaces);
    map.axes.emplace_back().by_remainder.assign(places, 0);
  }
  Filling filling(actual, expected, map);
  for (std::size_t row = 0; row < height; ++row) filling.row(row);
  return map;
}

Json error_map_value(const ErrorMap& map) {
  Json rows = Json::array(), axes = Json::array();
  for (std::size_t row = 0; row < map.rows; ++row) {
    rows.push_back(errors_value(std::span(map.errors).subspan(row * map.columns, map.columns)));
  }
  for (const AxisErrors& axis : map.axes) {
    axes.push_back({{"by_remainder", errors_value(axis.by_remainder)},
                    {"last", error_value(axis.last)},
                    {"before_last", error_value(axis.before_last)}});
  }
  return {{"shape", to_string(map.shape)},
          {"row_step", map.row_step},
          {"column_step", map.column_step},
          {"errors", std::move(rows)},
          {"axes", std::move(axes)}};
}

void add_histogram(const ErrorHistogram* histogram, Json& value) {
  value["histogram_exact"] = nullptr;
  value["histogram_first_exponent"] = nullptr;
  value["histogram"] = Json::array();
  if (histogram == nullptr) return;
  value["histogram_exact"] = histogram->exact;
  int first = 0, end = ErrorHistogram::kBuckets;
  const auto count = [&](int i) { return histogram->counts[static_cast<std::size_t>(i)]; };
  while (first < end && count(first) == 0) ++first;
  while (first < end && count(end - 1) == 0) --end;
  if (first == end) return;
  value["histogram_first_exponent"] = ErrorHistogram::kLowest + first - 1;
  for (int i = first; i < end; ++i) value["histogram"].push_back(count(i));
}

}  // namespace opbench
