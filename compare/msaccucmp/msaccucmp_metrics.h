#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "judge/measure_pairs.h"
#include "judge/pair_stats.h"
#include "tensor/shape.h"

namespace opbench {

/// msaccucmp's algorithms; values are the indexes that `-alg` takes.
enum class Metric {
  cosine_similarity,
  max_absolute_error,
  accumulated_relative_error,
  relative_euclidean_distance,
  kullback_leibler_divergence,
  standard_deviation,
  mean_absolute_error,
  root_mean_square_error,
  max_relative_error,
  mean_relative_error,
};
inline constexpr int kMetricCount = 10;

/// "CosineSimilarity": the name of the column and of the value for `-alg`.
std::string_view name(Metric metric);

/// Parses "all", or indexes and names mixed, such as "3,0,MeanAbsoluteError": in that order, each
/// once. Errors: throws Error for an unknown name, with the allowed ones.
std::vector<Metric> parse_metrics(std::string_view list);

/// Finds an algorithm by name or index; empty if it is unknown.
std::optional<Metric> find_metric(std::string_view text);

/// A cell of the result, and its text for CompareFailReason; empty if there is no text.
struct MetricCell {
  std::string text;
  std::string reason;
};

/// The inputs for the cells of a compared pair.
struct MetricInput {
  const MsaccucmpMeasures& measures;
  bool are_booleans = false;  ///< both sides are HDF5 booleans
  Dims shape;                 ///< the NPU tensor's
  std::string npu_path, golden_path;
};

/// The value as float32 with six decimals; beyond float32's range, the value itself. "nan" and
/// "inf" if computed; "NaN" if there is nothing to compute.
MetricCell metric_cell(Metric metric, const MetricInput& input);

}  // namespace opbench
