#include "profiles/hot_spots.h"

#include <algorithm>
#include <functional>

namespace opbench {
namespace {

constexpr std::size_t kSlowest = 10;
// Limits of memory; profiles of a single network have fewer names, operators and bytes of text.
constexpr std::size_t kMostNames = 1000;  // names of cores and states
constexpr std::size_t kMostOperators = 200'000, kMostText = std::size_t{1} << 26;

template <class Value>
std::vector<Value> by_time(const std::unordered_map<std::string, Value>& all) {
  std::vector<const std::pair<const std::string, Value>*> order;
  for (const auto& entry : all) order.push_back(&entry);
  std::sort(order.begin(), order.end(), [](const auto* a, const auto* b) {
    const auto time = [](const auto* entry) { return entry->second.time.total_ps; };
    return time(a) != time(b) ? time(a) > time(b) : a->first < b->first;
  });
  std::vector<Value> values;
  for (const auto* entry : order) values.push_back(entry->second);
  return values;
}

void count(std::map<std::string, std::int64_t>& counts, std::string_view key, std::int64_t tasks,
           std::string& room) {
  room.assign(key);
  if (counts.size() >= kMostNames && !counts.contains(room)) room = "others";
  add_saturated(counts[room], tasks);
}

void add_measures(const DeviceTask& task, HotOperator& one) {
  if (task.blocks && *task.blocks > 0) {
    const bool is_first = one.most_blocks == 0;
    one.least_blocks = is_first ? *task.blocks : std::min(one.least_blocks, *task.blocks);
    one.most_blocks = std::max(one.most_blocks, *task.blocks);
  }
  const auto duration = static_cast<double>(task.duration_ps);
  for (std::size_t i = 0; i < kPipes; ++i) {
    if (!task.pipes[i]) continue;
    one.busy_ps[i] += *task.pipes[i] * duration;
    one.piped_ps[i] += duration;
  }
  add_saturated(one.wait_ps, task.wait_ps.value_or(0));
  one.time.add(task);
}

// A task without a type is identified by its name.
void append_signature(const DeviceTask& task, std::string& key) {
  if (task.type.empty() || task.has_kernel_name) key.append(1, kKeySeparator).append(task.name);
  for (const TensorTexts* side : {&task.inputs, &task.outputs}) {
    for (const std::string_view text : {side->shapes, side->dtypes, side->formats}) {
      key.append(1, kKeySeparator).append(text);
    }
  }
}

bool is_slower(const SlowTask& a, const SlowTask& b) { return a.duration_ps > b.duration_ps; }

void add_slow(const DeviceTask& task, std::vector<SlowTask>& all) {
  const std::int64_t longest = task.most_ps.value_or(task.duration_ps);
  if (all.size() == kSlowest) {
    if (longest <= all.front().duration_ps) return;
    std::pop_heap(all.begin(), all.end(), is_slower);
    all.pop_back();
  }
  all.push_back({std::string(task.name),
                 std::string(task.type),
                 std::string(task.core),
                 longest,
                 {std::string(task.file), task.line}});
  std::push_heap(all.begin(), all.end(), is_slower);
}

std::vector<SlowTask> in_order(std::vector<SlowTask> all) {
  std::stable_sort(all.begin(), all.end(), is_slower);
  return all;
}

}  // namespace

void DeviceTime::add(std::int64_t duration_ps, int duration_digits) {
  least_ps = count == 0 ? duration_ps : std::min(least_ps, duration_ps);
  most_ps = std::max(most_ps, duration_ps);
  digits = std::max(digits, duration_digits);
  add_saturated(total_ps, duration_ps);
  ++count;
}

void DeviceTime::add(const DeviceTask& task) {
  const std::int64_t least = task.least_ps.value_or(task.duration_ps);
  least_ps = count == 0 ? least : std::min(least_ps, least);
  most_ps = std::max(most_ps, task.most_ps.value_or(task.duration_ps));
  digits = std::max(digits, task.duration_digits);
  add_saturated(total_ps, task.duration_ps);
  add_saturated(count, task.count);
}

std::optional<double> HotOperator::pipe(Pipe pipe) const {
  const auto i = static_cast<std::size_t>(pipe);
  return piped_ps[i] > 0 ? std::optional(busy_ps[i] / piped_ps[i]) : std::nullopt;
}

const HotOperator* HotSpots::find(const DeviceTask& task) const {
  if (rules_.is_communication(task)) return nullptr;
  std::string key(task.type);
  append_signature(task, key.append(1, kKeySeparator).append(task.core));
  const auto found = operators_.find(key);
  return found == operators_.end() ? nullptr : &found->second;
}

HotOperator* HotSpots::add(const DeviceTask& task) {
  count(tasks_by_core_, task.core, task.count, key_);
  const bool is_communication = rules_.is_communication(task);
  step_tasks_.add(task, is_communication);
  if (is_communication) {
    communication_.add(task);
    order_.add_communication(task);
    add_slow(task, slowest_communication_);
    return nullptr;
  }
  computing_.add(task);
  has_types_ |= !task.type.empty();
  if (!task.state.empty()) count(states_, task.state, task.count, key_);
  if (task.blocks) {
    key_.assign(task.core);
    if (most_blocks_.size() < kMostNames || most_blocks_.contains(key_)) {
      std::int64_t& most = most_blocks_[key_];
      most = std::max(most, *task.blocks);
    }
  }
  if (task.wait_ps) {
    add_saturated(waits_ps_, *task.wait_ps);
    if (*task.wait_ps > rules_.long_wait_ps) long_waits_.add(*task.wait_ps, 0);
  }
  OrderedOperator place;
  for (std::size_t i = 0; i < groups_.size(); ++i) {
    if (!rules_.groups[i].holds(task)) continue;
    groups_[i].add(task);
    place.is_watched = true;
  }
  key_.assign(task.type).append(1, kKeySeparator).append(task.core);
  add_slow(task, slowest_);
  auto type = types_.find(key_);
  place.type = static_cast<std::uint32_t>(types_.size());
  if (type == types_.end() && !is_full()) {
    const HotType fresh{std::string(task.type), std::string(task.core), {}, place.type};
    type = types_.emplace(key_, fresh).first;
  }
  if (type != types_.end()) {
    type->second.time.add(task);
    place.type = type->second.id;
  }
  return add_operator(task, place);
}

bool HotSpots::is_full() const {
  return operators_.size() >= kMostOperators || text_bytes_ >= kMostText;
}

// `key_` contains type and core.
HotOperator* HotSpots::add_operator(const DeviceTask& task, OrderedOperator place) {
  append_signature(task, key_);
  auto found = operators_.find(key_);
  if (found == operators_.end()) {
    if (is_full()) {
      unlisted_.add(task);
      place.id = static_cast<std::uint32_t>(operators_.size());
      order_.add(task, place);
      return nullptr;
    }
    const auto text = [](std::string_view of) { return std::string(of); };
    HotOperator one{text(task.type),
                    text(task.core),
                    text(task.name),
                    text(task.inputs.shapes),
                    text(task.inputs.dtypes),
                    text(task.inputs.formats),
                    text(task.outputs.shapes),
                    text(task.outputs.dtypes),
                    text(task.outputs.formats),
                    task.has_tensors,
                    {text(task.file), task.line},
                    static_cast<std::uint32_t>(operators_.size())};
    one.has_kernel_name = task.has_kernel_name;
    text_bytes_ += key_.size();
    found = operators_.emplace(key_, std::move(one)).first;
  }
  add_measures(task, found->second);
  add_metrics(task, found->second);
  if (most_samples_ > 0) sample(task, found->second);
  place.id = found->second.id;
  order_.add(task, place);
  return &found->second;
}

// Metrics of a table arrive in the same order, so that each is usually found at its place.
void HotSpots::add_metrics(const DeviceTask& task, HotOperator& one) {
  constexpr std::size_t kMostMetrics = 200;
  const double weight = std::max(1.0, static_cast<double>(task.duration_ps));
  for (std::size_t i = 0; i < task.metrics.size(); ++i) {
    const TaskMetric& metric = task.metrics[i];
    std::size_t place = i;
    if (place >= metric_names_.size() || metric_names_[place] != metric.name) {
      place = std::find(metric_names_.begin(), metric_names_.end(), metric.name) -
              metric_names_.begin();
      if (place == kMostMetrics) continue;
      if (place == metric_names_.size()) metric_names_.emplace_back(metric.name);
    }
    const bool is_at_place = i < one.metrics.size() && one.metrics[i].metric == place;
    auto sum = is_at_place ? one.metrics.begin() + static_cast<std::ptrdiff_t>(i)
                           : std::find_if(one.metrics.begin(), one.metrics.end(),
                                          [&](const MetricSum& of) { return of.metric == place; });
    if (sum == one.metrics.end()) {
      one.metrics.push_back({static_cast<std::uint32_t>(place)});
      sum = one.metrics.end() - 1;
    }
    sum->sum += weight * metric.value;
    sum->weight += weight;
  }
}

std::optional<double> HotSpots::metric(const HotOperator& one,
                                       std::span<const std::string> names) const {
  std::optional<double> sum;
  for (const MetricSum& of : one.metrics) {
    std::string_view name = metric_names_[of.metric];
    if (name.starts_with("aic_") || name.starts_with("aiv_")) name.remove_prefix(4);
    if (std::find(names.begin(), names.end(), name) == names.end()) continue;
    sum = sum.value_or(0) + of.mean();
  }
  return sum;
}

// Reservoir sampling (Vitter 1985, algorithm R). A row that sums up several tasks gives their mean.
void HotSpots::sample(const DeviceTask& task, HotOperator& one) {
  const auto step = static_cast<std::uint32_t>(std::hash<std::string_view>{}(task.step) >> 33);
  const TaskSample taken{task.duration_ps / std::max<std::int64_t>(1, task.count), step};
  if (one.samples.size() < most_samples_) {
    one.samples.push_back(taken);
    return;
  }
  random_ = random_ * 6364136223846793005U + 1442695040888963407U;  // Knuth's MMIX
  const std::uint64_t place = (random_ >> 33) % static_cast<std::uint64_t>(one.time.count);
  if (place < most_samples_) one.samples[place] = taken;
}

double HotSpots::wait_share() const {
  const double whole = static_cast<double>(computing_.total_ps) + static_cast<double>(waits_ps_);
  return whole == 0 ? 0 : static_cast<double>(long_waits_.total_ps) / whole;
}

std::vector<HotType> HotSpots::types() const { return by_time(types_); }
std::vector<HotOperator> HotSpots::operators() const { return by_time(operators_); }

std::vector<SlowTask> HotSpots::slowest() const { return in_order(slowest_); }
std::vector<SlowTask> HotSpots::slowest_communication() const {
  return in_order(slowest_communication_);
}

double HotSpots::share(const DeviceTime& time) const {
  if (computing_.total_ps == 0) return 0;
  return static_cast<double>(time.total_ps) / static_cast<double>(computing_.total_ps);
}

}  // namespace opbench
