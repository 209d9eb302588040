#include "judge/error_json.h"

#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <span>

#include "text/cell.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

// Two digits are what a picture can tell, and keep the file small.
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
