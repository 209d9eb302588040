#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <utility>

#include "profiles/ingest.h"
#include "tensor/utf8.h"

namespace opbench {
namespace {

using Group = std::pair<std::string, std::string>;  // type, core

/// Times of a group: `tasks` from the tables of tasks, `printed` from the statistic.
struct GroupTimes {
  DeviceTime tasks, printed;
  std::int64_t rows = 0;
};

// Half a unit of the last digit, in picoseconds.
double half_digit(int digits) { return 0.5 * std::pow(10.0, kMicroToPico - digits); }

std::map<Group, GroupTimes> join(const std::vector<HotType>& types,
                                 const std::vector<StatisticRow>& rows) {
  std::map<Group, GroupTimes> groups;
  for (const HotType& type : types) groups[{type.type, type.core}].tasks = type.time;
  for (const StatisticRow& row : rows) {
    GroupTimes& group = groups[{row.type, row.core}];
    DeviceTime& printed = group.printed;
    const std::int64_t least = row.has_extremes ? row.least.units : group.tasks.least_ps;
    const std::int64_t most = row.has_extremes ? row.most.units : group.tasks.most_ps;
    printed.least_ps = group.rows == 0 ? least : std::min(printed.least_ps, least);
    printed.most_ps = std::max(printed.most_ps, most);
    add_saturated(printed.total_ps, row.total.units);
    add_saturated(printed.count, row.count);
    printed.digits = std::max({printed.digits, row.total.digits, row.most.digits});
    ++group.rows;
  }
  return groups;
}

bool is_equal(const DeviceTime& a, const DeviceTime& b) {
  return a.count == b.count && a.total_ps == b.total_ps && a.least_ps == b.least_ps &&
         a.most_ps == b.most_ps;
}

// The difference is within rounding: each number that either side adds up was rounded once.
bool is_close(const GroupTimes& group) {
  const auto within = [&](std::int64_t a, std::int64_t b, std::int64_t summands,
                          std::int64_t rows) {
    const double room = static_cast<double>(summands) * half_digit(group.tasks.digits) +
                        static_cast<double>(rows) * half_digit(group.printed.digits);
    return std::abs(static_cast<double>(a) - static_cast<double>(b)) <= room;
  };
  const DeviceTime &tasks = group.tasks, &printed = group.printed;
  return tasks.count == printed.count &&
         within(tasks.total_ps, printed.total_ps, tasks.count, group.rows) &&
         within(tasks.least_ps, printed.least_ps, 1, 1) &&
         within(tasks.most_ps, printed.most_ps, 1, 1);
}

std::string side_text(const DeviceTime& time) {
  if (time.count == 0) return "none";
  return fmt::format("{} in {} us ({} to {})", time.count, us_text(time.total_ps),
                     us_text(time.least_ps), us_text(time.most_ps));
}

}  // namespace

StatisticCheck check_statistic(const std::vector<HotType>& types,
                               const std::vector<StatisticRow>& rows) {
  StatisticCheck check;
  for (const auto& [group, times] : join(types, rows)) {
    ++check.groups;
    if (is_equal(times.tasks, times.printed)) {
      ++check.exact;
    } else if (is_close(times)) {
      ++check.within_rounding;
    } else {
      check.differences.push_back(fmt::format("{} on {}: tasks {}, op_statistic {}",
                                              printable(group.first), printable(group.second),
                                              side_text(times.tasks), side_text(times.printed)));
    }
  }
  return check;
}

}  // namespace opbench
