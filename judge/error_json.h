#pragma once

#include <nlohmann/json_fwd.hpp>

#include "judge/error_map.h"
#include "judge/pair_stats.h"

namespace opbench {

/// Adds "histogram_exact", "histogram_first_exponent" and "histogram": counts from the first to the
/// last bucket that holds any, the first one's exponent before them. Null: it was not measured.
void add_histogram(const ErrorHistogram* histogram, nlohmann::ordered_json& value);

/// {"shape", "row_step", "column_step", "errors": [[..]], "axes": [{"by_remainder", "last",
/// "before_last"}]}; null where NaN or Inf stands on one side alone.
nlohmann::ordered_json error_map_value(const ErrorMap& map);

}  // namespace opbench
