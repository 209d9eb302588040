#include <algorithm>
#include <tuple>

#include "profiles/task.h"

namespace opbench {
namespace {

constexpr std::size_t kWindow = 4096;
// After this number of late tasks the order is given up: the table is sorted by another column.
constexpr std::int64_t kGivenUp = 100;
// Limits of memory; profiles of a single network have fewer.
constexpr std::size_t kMostNeighbours = 50'000, kMostRuns = 50'000, kMostLanes = 4096;
constexpr std::size_t kMostSteps = 100'000, kMostAwaited = 10'000;
constexpr std::size_t kLongestRun = 10;
// A start and a duration of up to 26 days each fit into 63 bits of picoseconds.
constexpr std::int64_t kLongestNs = std::int64_t{1} << 51;

void append_number(std::string& key, std::uint32_t number) {
  key.append(reinterpret_cast<const char*>(&number), sizeof number);
}

// Extends the covered time to `end_ps`. Returns the part of the time that was not covered before.
std::int64_t cover(std::int64_t& covered_ps, std::int64_t start_ps, std::int64_t end_ps) {
  const std::int64_t alone = std::max<std::int64_t>(0, end_ps - std::max(start_ps, covered_ps));
  covered_ps = std::max(covered_ps, end_ps);
  return alone;
}

}  // namespace

std::uint32_t TaskOrder::lane_of(const DeviceTask& task) {
  if (last_lane_ < lanes_.size() && lanes_[last_lane_].stream == task.stream &&
      lanes_[last_lane_].device == task.device) {
    return last_lane_;
  }
  key_.assign(task.device).append(1, kKeySeparator).append(task.stream);
  const auto found = lane_places_.find(key_);
  if (found != lane_places_.end()) return last_lane_ = found->second;
  if (lanes_.size() == kMostLanes) return last_lane_ = 0;
  last_lane_ = static_cast<std::uint32_t>(lanes_.size());
  lane_places_.emplace(key_, last_lane_);
  lanes_.emplace_back();
  lanes_.back().device = task.device;
  lanes_.back().stream = task.stream;
  return last_lane_;
}

std::uint32_t TaskOrder::step_of(const DeviceTask& task) {
  has_steps_ |= !task.step.empty();
  if (last_step_ < open_steps_.size() && open_steps_[last_step_].step == task.step &&
      open_steps_[last_step_].device == task.device) {
    return last_step_;
  }
  key_.assign(task.device).append(1, kKeySeparator).append(task.step);
  const auto found = step_places_.find(key_);
  if (found != step_places_.end()) return last_step_ = found->second;
  if (open_steps_.size() == kMostSteps) return last_step_;
  last_step_ = static_cast<std::uint32_t>(open_steps_.size());
  step_places_.emplace(key_, last_step_);
  open_steps_.push_back({std::string(task.device), std::string(task.step)});
  return last_step_;
}

void TaskOrder::add(const DeviceTask& task, const OrderedOperator& op) {
  ++tasks_;
  Entry entry{};
  if (late_ > kGivenUp || !place(task, entry)) return;
  entry.op = op.id;
  entry.type = op.type;
  entry.lane = lane_of(task);
  entry.is_watched = op.is_watched;
  insert(entry);
}

void TaskOrder::add_communication(const DeviceTask& task) {
  Entry entry{};
  entry.is_communication = true;
  if (late_ <= kGivenUp && place(task, entry)) insert(entry);
}

// Sets the entry's times. Returns false if the task has no place in the order.
bool TaskOrder::place(const DeviceTask& task, Entry& entry) {
  std::int64_t& astray = entry.is_communication ? astray_ : late_;
  if (!task.start_ns) {
    ++(entry.is_communication ? astray_ : without_start_);
    return false;
  }
  if (!has_base_) {
    base_ns_ = *task.start_ns;
    has_base_ = true;
    file_ = task.file;
  }
  std::int64_t since = 0;
  if (__builtin_sub_overflow(*task.start_ns, base_ns_, &since) || since > kLongestNs ||
      since < -kLongestNs || task.duration_ps > kLongestNs * 1000) {
    ++astray;
    return false;
  }
  entry.start_ps = since * 1000;
  entry.duration_ps = task.duration_ps;
  entry.line = task.line;
  entry.step = step_of(task);
  return true;
}

void TaskOrder::insert(const Entry& entry) {
  if (window_.empty() || entry.start_ps >= window_.back().start_ps) {
    window_.push_back(entry);
  } else {
    window_.insert(
        std::upper_bound(window_.begin(), window_.end(), entry,
                         [](const Entry& a, const Entry& b) { return a.start_ps < b.start_ps; }),
        entry);
  }
  if (window_.size() <= kWindow) return;
  take(window_.front());
  window_.pop_front();
}

void TaskOrder::take(const Entry& entry) {
  if (entry.start_ps < last_of_any_ps_) ++astray_;
  last_of_any_ps_ = std::max(last_of_any_ps_, entry.start_ps);
  charge(entry);
  if (entry.is_communication) return;
  if (entry.start_ps < last_taken_ps_) ++late_;
  last_taken_ps_ = entry.start_ps;
  pass(entry);
}

// Overlapping time belongs to the task that began first.
void TaskOrder::charge(const Entry& entry) {
  const std::int64_t start = entry.start_ps, end = start + entry.duration_ps;
  Step& step = open_steps_[entry.step];
  Covered& device =
      covered_.try_emplace(step.device, Covered{{start, start, start}, {}}).first->second;
  Busy& covered = device.end;
  if (!entry.is_communication) {
    const std::size_t known = std::max<std::size_t>(charged_.size(), entry.op + 1);
    charged_.resize(known);
    idle_.resize(known);
    if (step.is_begun && start > covered.any_ps) {
      add_saturated(idle_[entry.op].total_ps, start - covered.any_ps);
      ++idle_[entry.op].count;
    }
    await(entry, device);
    const std::int64_t alone = cover(covered.computing_ps, start, end);
    add_saturated(charged_[entry.op], alone);
    add_saturated(step.busy.computing_ps, alone);
  } else {
    if (device.awaited.size() < kMostAwaited) {
      device.awaited.push_back(
          {std::max(start, covered.communication_ps), end, entry.line, entry.duration_ps});
    }
    add_saturated(step.busy.communication_ps, cover(covered.communication_ps, start, end));
  }
  add_saturated(step.busy.any_ps, cover(covered.any_ps, start, end));
  step.first_ps = step.is_begun ? std::min(step.first_ps, start) : start;
  step.last_ps = step.is_begun ? std::max(step.last_ps, end) : end;
  step.is_begun = true;
}

// A task waited for the communication that ended since the last computing task. Communication that
// goes on does not delay it.
void TaskOrder::await(const Entry& entry, Covered& covered) {
  constexpr std::size_t kMostWaits = 10;
  for (const Awaited& one : covered.awaited) {
    if (one.end_ps > entry.start_ps) continue;
    const std::int64_t wait = one.end_ps - std::max(one.begin_ps, covered.end.computing_ps);
    if (wait <= 0) continue;
    if (waits_.size() == kMostWaits) {
      const auto least =
          std::min_element(waits_.begin(), waits_.end(),
                           [](const auto& a, const auto& b) { return a.wait_ps < b.wait_ps; });
      if (least->wait_ps >= wait) continue;
      waits_.erase(least);
    }
    waits_.push_back({wait, entry.op, entry.line, one.line, one.duration_ps, file_});
  }
  std::erase_if(covered.awaited, [&](const Awaited& one) { return one.end_ps <= entry.start_ps; });
}

void TaskOrder::pass(const Entry& entry) {
  Lane& lane = lanes_[entry.lane];
  if (lane.is_watched && lane.seen >= 2) {
    key_.clear();
    for (const std::uint32_t op : {lane.last_ops[0], lane.last_ops[1], entry.op}) {
      append_number(key_, op);
    }
    const auto found = neighbours_.find(key_);
    if (found != neighbours_.end() || neighbours_.size() < kMostNeighbours) {
      Neighbours& one = neighbours_[key_];
      one.before = lane.last_ops[0];
      one.op = lane.last_ops[1];
      one.after = entry.op;
      ++one.count;
      add_saturated(one.total_ps, lane.last_ps);
    }
  }
  lane.last_ops = {lane.last_ops[1], entry.op};
  lane.is_watched = entry.is_watched;
  lane.last_ps = entry.duration_ps;
  lane.seen = std::min(lane.seen + 1, 2);
  extend_run(lane, entry);
}

void TaskOrder::extend_run(Lane& lane, const Entry& entry) {
  if (entry.duration_ps > small_ps_) return close_run(lane);
  if (lane.run.types.empty()) {
    lane.run.line = entry.line;
    lane.run_start_ps = entry.start_ps;
  }
  lane.run.types.push_back(entry.type);
  add_saturated(lane.run.busy_ps, entry.duration_ps);
  lane.run_end_ps = entry.start_ps + entry.duration_ps;
  if (lane.run.types.size() == kLongestRun) close_run(lane);
}

void TaskOrder::close_run(Lane& lane) {
  if (lane.run.types.size() >= 2) {
    key_.clear();
    for (const std::uint32_t type : lane.run.types) append_number(key_, type);
    const auto found = runs_.find(key_);
    if (found != runs_.end() || runs_.size() < kMostRuns) {
      SmallRun& run = runs_[key_];
      if (run.count == 0) {
        run.types = lane.run.types;
        run.file = file_;
        run.line = lane.run.line;
      }
      ++run.count;
      add_saturated(run.busy_ps, lane.run.busy_ps);
      add_saturated(run.span_ps, std::max<std::int64_t>(lane.run_end_ps - lane.run_start_ps, 0));
    }
  }
  lane.run.types.clear();
  lane.run.busy_ps = 0;
}

void TaskOrder::end_file() {
  for (const Entry& entry : window_) take(entry);
  window_.clear();
  for (Lane& lane : lanes_) close_run(lane);
  for (const Step& step : open_steps_) {
    if (!step.is_begun) continue;
    ++steps_;
    add_saturated(span_ps_, step.last_ps - step.first_ps);
    add_saturated(busy_.computing_ps, step.busy.computing_ps);
    add_saturated(busy_.communication_ps, step.busy.communication_ps);
    add_saturated(busy_.any_ps, step.busy.any_ps);
  }
  lanes_.clear();
  lane_places_.clear();
  open_steps_.clear();
  step_places_.clear();
  covered_.clear();
  has_base_ = false;
  last_taken_ps_ = last_of_any_ps_ = INT64_MIN;
}

std::vector<Neighbours> TaskOrder::neighbours() const {
  std::vector<Neighbours> all;
  for (const auto& [key, one] : neighbours_) all.push_back(one);
  std::sort(all.begin(), all.end(), [](const Neighbours& a, const Neighbours& b) {
    if (a.total_ps != b.total_ps) return a.total_ps > b.total_ps;
    return std::tie(a.op, a.before, a.after) < std::tie(b.op, b.before, b.after);
  });
  return all;
}

std::vector<SmallRun> TaskOrder::small_runs() const {
  std::vector<SmallRun> all;
  for (const auto& [key, one] : runs_) all.push_back(one);
  std::sort(all.begin(), all.end(), [](const SmallRun& a, const SmallRun& b) {
    return a.busy_ps != b.busy_ps ? a.busy_ps > b.busy_ps : a.types < b.types;
  });
  return all;
}

}  // namespace opbench
