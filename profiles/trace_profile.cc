#include "profiles/trace_profile.h"

#include <algorithm>

#include "profiles/trace_inputs.h"

namespace opbench {
namespace {

// Of names and shapes that no network has; the last place is for the rest.
constexpr std::size_t kMostOperators = 100'000;
constexpr char kBetween = '\x1f';

}  // namespace

void TraceProfile::count_other(std::string_view name, const DeviceTask& task) {
  constexpr std::size_t kMostNames = 1000;
  std::string key(name);
  if (others.size() >= kMostNames && !others.contains(key)) key = "others";
  others[key].add(task);
}

std::uint32_t TraceProfile::operator_of(const TraceEvent& event, const std::string& file,
                                        std::int64_t line) {
  key_.assign(event.name).append(1, kBetween);
  const std::size_t shapes = key_.size();
  append_input_shapes(event.input_dims, key_);
  key_.append(1, kBetween);
  const std::size_t dtypes = key_.size();
  append_input_dtypes(event.input_types, key_);
  const std::size_t end = key_.size();
  append_steady_values(event.concrete_inputs, key_.append(1, kBetween));
  const auto found = by_key_.find(key_);
  if (found != by_key_.end()) return found->second;
  const auto place = static_cast<std::uint32_t>(operators_.size());
  if (place >= kMostOperators) {
    if (place == kMostOperators) operators_.emplace_back().name = "others";
    return kMostOperators;
  }
  by_key_.emplace(key_, place);
  TraceOperator& one = operators_.emplace_back();
  one.name = event.name;
  one.input_shapes = key_.substr(shapes, dtypes - 1 - shapes);
  one.input_dtypes = key_.substr(dtypes, end - dtypes);
  append_input_values(event.concrete_inputs, one.input_values);
  one.has_shapes = !event.input_dims.empty();
  one.first = {file, line};
  return place;
}

std::vector<const TraceOperator*> TraceProfile::by_time() const {
  std::vector<const TraceOperator*> order;
  for (const TraceOperator& one : operators_) order.push_back(&one);
  std::stable_sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    const auto times = [](const TraceOperator& one) {
      return std::pair(one.kernels.total_ps + one.copies.total_ps, one.host_self_ns);
    };
    return times(*a) > times(*b);
  });
  return order;
}

std::int64_t TraceProfile::step_ps() const {
  std::int64_t sum = 0;
  for (const TraceStep& step : steps) {
    std::int64_t time = 0;
    const bool is_large = __builtin_mul_overflow(step.duration_ps, step.devices, &time);
    add_saturated(sum, is_large ? INT64_MAX : time);
  }
  return sum;
}

double TraceProfile::step_share(std::int64_t picoseconds) const {
  const std::int64_t whole = step_ps();
  return whole == 0 ? 0 : static_cast<double>(picoseconds) / static_cast<double>(whole);
}

std::string_view type_of_task_name(std::string_view name) {
  if (name.starts_with("aclnn")) {
    const std::size_t last = name.rfind('_');
    return last == name.npos ? std::string_view() : name.substr(last + 1);
  }
  const std::size_t slash = name.rfind('/');
  if (slash == name.npos) return {};
  const std::size_t end = name.find("-op", slash);
  return end == name.npos ? std::string_view() : name.substr(slash + 1, end - slash - 1);
}

void count_name(std::map<std::string, std::int64_t>& counts, std::string_view name) {
  constexpr std::size_t kMost = 1000;
  std::string key(name);
  if (counts.size() >= kMost && !counts.contains(key)) key = "others";
  ++counts[key];
}

}  // namespace opbench
