#include <algorithm>
#include <map>

#include "harness/check/profile_watch.h"
#include "ops/op_table.h"

namespace opbench::check {
namespace {

using Changes = std::map<std::string, HostChange, std::less<>>;

// A profile of a CPU has no device times.
bool has_device_times(const TraceProfile& trace) {
  return std::any_of(
      trace.operators().begin(), trace.operators().end(),
      [](const TraceOperator& one) { return one.kernels.count + one.copies.count > 0; });
}

double time_us(const TraceOperator& one, bool is_of_device) {
  return is_of_device ? in_us(one.kernels.total_ps) + in_us(one.copies.total_ps)
                      : static_cast<double>(one.host_self_ns) / 1e3;
}

void add_side(const TraceProfile& trace, bool is_after, Changes& changes) {
  const bool is_of_device = has_device_times(trace);
  for (const TraceOperator& one : trace.operators()) {
    HostChange& change = changes[one.name];
    add_saturated(is_after ? change.calls_after : change.calls_before, one.calls);
    (is_after ? change.after_us : change.before_us) += time_us(one, is_of_device);
  }
}

// Devices name one operator differently: aten::cudnn_convolution, npu_convolution. Joins operators
// that have a time in one profile only, if the operator table has them in one row.
void join_names(Changes& changes) {
  std::map<const OpRow*, HostChange*> gone;
  const auto row_of = [](const std::string& name) -> const OpRow* {
    const std::vector<const OpRow*> rows = OpTable::builtin().find(name);
    return rows.empty() ? nullptr : rows.front();
  };
  for (auto& [name, change] : changes) {
    change.name = name;
    if (change.before_us <= 0 || change.after_us > 0) continue;
    if (const OpRow* row = row_of(name)) gone.try_emplace(row, &change);
  }
  for (auto& [name, change] : changes) {
    if (change.after_us <= 0 || change.before_us > 0) continue;
    const auto old = gone.find(row_of(name));
    if (old == gone.end()) continue;
    change.name_before = old->second->name;
    change.calls_before = old->second->calls_before;
    change.before_us = old->second->before_us;
    *old->second = {};
    gone.erase(old);
  }
}

}  // namespace

HostComparison compare_hosts(const TraceProfile& before, const TraceProfile& after) {
  HostComparison comparison{{}, has_device_times(before), has_device_times(after)};
  if (before.operators().empty() || after.operators().empty()) return comparison;
  Changes changes;
  add_side(before, false, changes);
  add_side(after, true, changes);
  join_names(changes);
  for (auto& [name, change] : changes) {
    if (change.before_us + change.after_us > 0) comparison.changes.push_back(std::move(change));
  }
  std::stable_sort(comparison.changes.begin(), comparison.changes.end(),
                   [](const HostChange& a, const HostChange& b) {
                     return std::max(a.before_us, a.after_us) > std::max(b.before_us, b.after_us);
                   });
  return comparison;
}

}  // namespace opbench::check
