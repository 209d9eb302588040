#pragma once

#include <cstddef>
#include <nlohmann/json_fwd.hpp>
#include <span>
#include <vector>

#include "judge/pair_stats.h"
#include "tensor/shape.h"

namespace opbench {

/// The largest errors along one axis. They show the effects of tiles and tails.
struct AxisErrors {
  static constexpr std::size_t kPlaces = 32;

  /// At the places whose remainder modulo `kPlaces` is the index. There are as many entries as the
  /// axis has places, at most `kPlaces`.
  std::vector<double> by_remainder;
  double last = 0;         ///< at the last place
  double before_last = 0;  ///< at all others
};

/// The places of errors in a tensor, as a picture of few cells: columns are the last axis, rows all
/// others. A cell includes up to `row_step` rows and `column_step` columns. Steps are powers of
/// two; if there are many rows, their step is a power of two times whole inner axes. So tiles of 16
/// or 32 stay visible.
///
/// Errors are |actual - expected|. They are infinite if a NaN or an Inf is on one side only, or if
/// infinities differ.
struct ErrorMap {
  static constexpr std::size_t kMostRows = 32, kMostColumns = 64;

  Dims shape;  ///< of the tensor; a scalar has one axis of one place
  std::size_t rows = 0, columns = 0;
  std::size_t row_step = 1, column_step = 1;
  std::vector<double> errors;    ///< the largest of each cell, row by row
  std::vector<AxisErrors> axes;  ///< one for each of `shape`
};

/// Values in logical order, as many as `shape` has elements. Without elements there is no cell.
ErrorMap error_map(std::span<const double> actual, std::span<const double> expected,
                   const Dims& shape);

/// Adds "histogram_exact", "histogram_first_exponent" and "histogram": the counts from the first to
/// the last non-empty bucket, and the exponent of the first one. Null: the tensor was not measured.
void add_histogram(const ErrorHistogram* histogram, nlohmann::ordered_json& value);

/// {"shape", "row_step", "column_step", "errors": [[..]], "axes": [{"by_remainder", "last",
/// "before_last"}]}; null in place of infinite errors.
nlohmann::ordered_json error_map_value(const ErrorMap& map);

}  // namespace opbench
