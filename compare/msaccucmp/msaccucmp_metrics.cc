#include "compare/msaccucmp/msaccucmp_metrics.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <limits>
#include <numeric>

#include "compare/matching.h"
#include "tensor/error.h"
#include "tensor/utf8.h"

namespace opbench {
namespace {

constexpr double kEps = std::numeric_limits<double>::epsilon();
constexpr std::array<std::string_view, kMetricCount> kMetricNames = {
    "CosineSimilarity",          "MaxAbsoluteError",          "AccumulatedRelativeError",
    "RelativeEuclideanDistance", "KullbackLeiblerDivergence", "StandardDeviation",
    "MeanAbsoluteError",         "RootMeanSquareError",       "MaxRelativeError",
    "MeanRelativeError"};

// The sign of a NaN has no meaning, but printf prints it.
std::string decimals(double value, int digits) {
  return std::isnan(value) ? "nan" : fmt::format("{:.{}f}", value, digits);
}

std::string as_float(double value) {
  const auto narrow = static_cast<float>(value);
  const bool overflows = std::isinf(narrow) && std::isfinite(value);
  return decimals(overflows ? value : double(narrow), 6);
}

MetricCell plain(double value) { return {as_float(value), ""}; }

MetricCell no_elements(Metric metric) {
  return {kMsaccucmpNone,
          fmt::format("Failed to execute 'compare' in '{}'. zero-size array to reduction "
                      "operation maximum which has no identity",
                      name(metric))};
}

// True for shapes of ones, for empty shapes, and for shapes such as (0,2): msaccucmp compares the
// sum of extents with their number.
bool is_called_scalar(const Dims& shape) {
  const auto sum = std::accumulate(shape.begin(), shape.end(), std::int64_t{0});
  return sum == static_cast<std::int64_t>(shape.size());
}

MetricCell cosine_of(double xx, double yy, double xy, const MetricInput& input) {
  if (is_called_scalar(input.shape)) return {"1.000000", "This tensor is scalar."};
  const double x = std::sqrt(xx), y = std::sqrt(yy);
  const auto all_zero = [](const std::string& path) {
    return MetricCell{
        kMsaccucmpNone,
        fmt::format("Cannot compare by Cosine Similarity. All the data is zero in {}.", path)};
  };
  if (x <= kEps && y < kEps) return {"1.0", ""};
  if (x <= kEps * kEps) return all_zero(input.npu_path);
  if (y <= kEps * kEps) return all_zero(input.golden_path);
  const double cosine = xy / x / y;
  return plain(cosine > 1 ? 1 : cosine);
}

MetricCell euclidean_of(const MsaccucmpSums& sums) {
  if (std::sqrt(sums.yy) <= kEps) return {"0.000000", ""};
  return {decimals(std::sqrt(sums.diff_sq / sums.yy), 6), ""};
}

double kl_of(const MsaccucmpSums& sums) {
  const double value = kl_divergence(sums);
  return std::fabs(value) < kEps ? 0 : value;
}

std::string deviation_text(std::int64_t count, double mean, double spread) {
  const auto text = [](double value) { return decimals(std::fabs(value) < 0.001 ? 0 : value, 3); };
  return fmt::format("({};{})", text(mean), text(std::sqrt(spread / double(count))));
}

MetricCell deviations_of(const MsaccucmpSums& sums) {
  if (sums.count == 0) return {"(nan;nan),(nan;nan)", ""};
  return {deviation_text(sums.count, sums.x_mean, sums.x_spread) + fmt::format(",") +
              deviation_text(sums.count, sums.y_mean, sums.y_spread),
          ""};
}

MetricCell of_numbers(Metric metric, const MetricInput& input) {
  const MsaccucmpSums& sums = input.measures.sums;
  const double count = double(sums.count);
  const bool is_empty = sums.count == 0;
  switch (metric) {
    case Metric::cosine_similarity:
      return cosine_of(sums.xx, sums.yy, sums.xy, input);
    case Metric::max_absolute_error:
      return is_empty ? no_elements(metric) : plain(sums.max_diff);
    case Metric::accumulated_relative_error:
      return plain(sums.rel);
    case Metric::relative_euclidean_distance:
      return euclidean_of(sums);
    case Metric::kullback_leibler_divergence:
      return is_empty ? no_elements(metric) : plain(kl_of(sums));
    case Metric::standard_deviation:
      return deviations_of(sums);
    case Metric::mean_absolute_error:
      return plain(sums.diff_abs / count);
    case Metric::root_mean_square_error:
      return plain(std::sqrt(sums.diff_sq / count));
    case Metric::max_relative_error:
      return is_empty ? no_elements(metric) : plain(sums.max_rel);
    case Metric::mean_relative_error:
      break;
  }
  return plain(sums.rel / count);
}

// Two algorithms take booleans; relative Euclidean distance only if there is nothing to subtract.
MetricCell of_booleans(Metric metric, const MetricInput& input) {
  const BooleanCounts& counts = input.measures.booleans;
  if (metric == Metric::cosine_similarity) {
    return cosine_of(double(counts.x_true), double(counts.y_true), double(counts.both_true), input);
  }
  if (metric != Metric::relative_euclidean_distance) {
    return {kMsaccucmpNone,
            fmt::format("Algorithm {} does not support Boolean types.", name(metric))};
  }
  if (counts.y_true == 0) return {"0.000000", ""};
  return {kMsaccucmpNone,
          fmt::format("Failed to execute 'compare' in '{}'. numpy boolean subtract, the `-` "
                      "operator, is not supported, use the bitwise_xor, the `^` operator, or the "
                      "logical_xor function instead.",
                      name(metric))};
}

Metric parse_metric(std::string_view text) {
  if (const std::optional<Metric> metric = find_metric(text)) return *metric;
  throw Error(fmt::format("unknown algorithm '{}'; allowed are all, 0 to {} and {}",
                          printable(text), kMetricCount - 1, fmt::join(kMetricNames, ", ")));
}

bool is_all(std::string_view text) {
  constexpr std::string_view kAll = "all";
  return std::equal(text.begin(), text.end(), kAll.begin(), kAll.end(),
                    [](char a, char b) { return (a | 0x20) == b; });
}

}  // namespace

std::string_view name(Metric metric) { return kMetricNames[static_cast<std::size_t>(metric)]; }

std::optional<Metric> find_metric(std::string_view text) {
  const auto named = std::find(kMetricNames.begin(), kMetricNames.end(), text);
  if (named != kMetricNames.end()) return static_cast<Metric>(named - kMetricNames.begin());
  int index = -1;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), index);
  const bool is_whole = error == std::errc() && end == text.data() + text.size();
  if (!is_whole || index < 0 || index >= kMetricCount) return std::nullopt;
  return static_cast<Metric>(index);
}

std::vector<Metric> parse_metrics(std::string_view list) {
  std::vector<Metric> metrics;
  if (is_all(list)) {
    for (int i = 0; i < kMetricCount; ++i) metrics.push_back(static_cast<Metric>(i));
    return metrics;
  }
  for (std::size_t begin = 0; begin <= list.size();) {
    const std::size_t end = std::min(list.find(',', begin), list.size());
    const Metric metric = parse_metric(list.substr(begin, end - begin));
    if (std::find(metrics.begin(), metrics.end(), metric) == metrics.end()) {
      metrics.push_back(metric);
    }
    begin = end + 1;
  }
  return metrics;
}

MetricCell metric_cell(Metric metric, const MetricInput& input) {
  return input.are_booleans ? of_booleans(metric, input) : of_numbers(metric, input);
}

}  // namespace opbench
