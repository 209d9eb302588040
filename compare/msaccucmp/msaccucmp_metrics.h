#pragma once

#include <array>
#include <string>
#include <string_view>
#include <vector>

#include "judge/measure_pairs.h"
#include "judge/pair_stats.h"
#include "tensor/shape.h"

namespace opbench {

/// msaccucmp's algorithms; the value is the index that `-alg` takes.
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

/// "CosineSimilarity": the column's name and the one that `-alg` takes.
std::string_view name(Metric metric);

/// "all", indexes and names mixed, "3,0,MeanAbsoluteError": in that order, each once.
/// Errors: throws Error for anything unknown, and lists what is allowed.
std::vector<Metric> parse_metrics(std::string_view list);

/// One by its name or its index; none: there is no such.
std::optional<Metric> find_metric(std::string_view text);

/// One cell of the result, and what goes to CompareFailReason with it; empty if nothing.
struct MetricCell {
  std::string text;
  std::string reason;
};

/// What the cells of a compared pair are made from.
struct MetricInput {
  const MsaccucmpMeasures& measures;
  bool are_booleans = false;  ///< both sides are HDF5 booleans
  Dims shape;                 ///< the NPU tensor's
  std::string npu_path, golden_path;
};

/// Six decimals of the value as float32; beyond float32's range, of the value itself. "nan", "inf"
/// as computed, "NaN" where there is nothing to compute.
MetricCell metric_cell(Metric metric, const MetricInput& input);

}  // namespace opbench
