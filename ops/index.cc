#include "ops/index.h"

#include <fmt/format.h>

#include "tensor/error.h"
#include "text/fitted.h"

namespace opbench {

void check_index(const IndexRule& rule, std::span<const std::int64_t> values) {
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t value = values[i];
    const std::int64_t least = rule.negative_allowed ? -rule.extent : 0;
    if (value >= least && value < rule.extent) continue;
    throw Error(fmt::format(
        "{}: {}[{}] is {}; allowed: {} to {}{}", rule.op, rule.input, i, value, least,
        rule.extent - 1, value < 0 && !rule.negative_allowed ? " (negative indices are off)" : ""));
  }
}

Distribution index_data(std::int64_t extent) {
  return {DistributionKind::integers, 0,
          static_cast<double>(std::max<std::int64_t>(extent - 1, 0))};
}

Distribution index_data_around(std::int64_t extent) {
  Distribution data = index_data(extent);
  data.a = -static_cast<double>(extent);
  return data;
}

AttrSpec negative_index_attr() {
  return {"negative_index", false, "negative indices count from the back"};
}

void require_rank_at_most(std::string_view op, std::string_view input, const Dims& shape,
                          std::size_t most) {
  if (shape.size() <= most) return;
  throw Error(fmt::format("{}: input '{}' has shape {}; allowed: at most {}", op, input,
                          to_string(shape), counted(most, "dimension")));
}

}  // namespace opbench
