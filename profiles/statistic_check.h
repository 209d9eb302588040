#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "profiles/hot_spots.h"
#include "profiles/task_table.h"

namespace opbench {

/// Tasks against the profiler's own op_statistic: the same counts and times by type and core, or
/// the profiles are not of one run, or one of them was read wrongly.
struct StatisticCheck {
  std::int64_t groups = 0;           ///< types and cores in either
  std::int64_t exact = 0;            ///< equal to the last digit
  std::int64_t within_rounding = 0;  ///< others that differ by less than the digits printed can say
  std::vector<std::string> differences;  ///< a sentence for each other

  bool agrees() const { return differences.empty(); }
};

/// `types`: of the tasks. Rows of several tables are added up.
StatisticCheck check_statistic(const std::vector<HotType>& types,
                               const std::vector<StatisticRow>& rows);

}  // namespace opbench
