#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "judge/pair_stats.h"
#include "tensor/shape.h"

namespace opbench {

/// The largest errors along one axis: what tiles and tails leave behind.
struct AxisErrors {
  static constexpr std::size_t kPlaces = 32;

  /// At the places whose remainder by `kPlaces` is the index; as many as the axis has places, and
  /// `kPlaces` at most.
  std::vector<double> by_remainder;
  double last = 0;         ///< at the last place
  double before_last = 0;  ///< at all others
};

/// Where a tensor is off, as a picture of few cells: columns are the last axis, rows all others.
/// A cell holds up to `row_step` rows and `column_step` columns. These are powers of two, those of
/// rows times whole inner axes where there are many rows, so that tiles of 16 or 32 stay visible.
///
/// Errors are |actual - expected|, and infinite where NaN or Inf stands on one side alone, or one
/// that differs.
struct ErrorMap {
  static constexpr std::size_t kMostRows = 32, kMostColumns = 64;

  Dims shape;  ///< of the tensor; a scalar has one axis of one place
  std::size_t rows = 0, columns = 0;
  std::size_t row_step = 1, column_step = 1;
  std::vector<double> errors;    ///< the largest of each cell, row by row
  std::vector<AxisErrors> axes;  ///< one for each of `shape`
};

/// Values in logical order, as many as `shape` has elements; without any there is no cell.
ErrorMap error_map(std::span<const double> actual, std::span<const double> expected,
                   const Dims& shape);

/// Adds "histogram_exact", "histogram_first_exponent" and "histogram": counts from the first to the
/// last bucket that holds any, the first one's exponent before them. Null: it was not measured.
void add_histogram(const ErrorHistogram* histogram, nlohmann::ordered_json& value);

/// {"shape", "row_step", "column_step", "errors": [[..]], "axes": [{"by_remainder", "last",
/// "before_last"}]}; null where NaN or Inf stands on one side alone.
nlohmann::ordered_json error_map_value(const ErrorMap& map);

}  // namespace opbench
