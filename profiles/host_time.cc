#include "profiles/host_time.h"

#include <algorithm>
#include <array>

namespace opbench {
namespace {

constexpr std::size_t kStates = 4;

Intervals united(Intervals all) {
  std::sort(all.begin(), all.end());
  Intervals sum;
  for (const auto& [begin, end] : all) {
    if (begin >= end) continue;
    if (sum.empty() || begin > sum.back().second) {
      sum.emplace_back(begin, end);
    } else {
      sum.back().second = std::max(sum.back().second, end);
    }
  }
  return sum;
}

Intervals united(Intervals one, const Intervals& other) {
  one.insert(one.end(), other.begin(), other.end());
  return united(std::move(one));
}

// The parts of `one` that are not in `other`; both are in order and disjoint.
Intervals without(const Intervals& one, const Intervals& other) {
  Intervals rest;
  auto cut = other.begin();
  for (auto [begin, end] : one) {
    while (cut != other.end() && cut->second <= begin) ++cut;
    for (auto next = cut; next != other.end() && next->first < end; ++next) {
      if (begin < next->first) rest.emplace_back(begin, next->first);
      begin = std::max(begin, next->second);
    }
    if (begin < end) rest.emplace_back(begin, end);
  }
  return rest;
}

Intervals common(const Intervals& one, const Intervals& other) {
  return without(one, without(one, other));
}

std::int64_t length(const Intervals& all) {
  std::int64_t sum = 0;
  for (const auto& [begin, end] : all) sum += end - begin;
  return sum;
}

/// The time of each state; of several threads, the first of compiles, works, loads and waits
/// counts.
struct HostStates {
  Intervals works, compiles, loads, waits;
  std::int64_t compile_calls = 0;
};

HostStates states_of(std::span<const HostSpan> spans) {
  std::vector<HostSpan> order(spans.begin(), spans.end());
  std::stable_sort(order.begin(), order.end(),
                   [](const HostSpan& a, const HostSpan& b) { return a.thread < b.thread; });
  HostStates states;
  std::array<Intervals, kStates> all;
  for (auto begin = order.begin(); begin != order.end();) {
    std::array<Intervals, kStates> own;
    auto end = begin;
    for (; end != order.end() && end->thread == begin->thread; ++end) {
      own[static_cast<std::size_t>(end->state)].emplace_back(end->start_ns, end->end_ns);
    }
    // An operator that waits inside does not work meanwhile.
    const auto of = [&](HostState state) -> Intervals& { return own[std::size_t(state)]; };
    of(HostState::works) =
        without(united(of(HostState::works)), united(of(HostState::waits), of(HostState::loads)));
    states.compile_calls += std::ssize(united(of(HostState::compiles)));
    for (std::size_t i = 0; i < kStates; ++i) {
      all[i].insert(all[i].end(), own[i].begin(), own[i].end());
    }
    begin = end;
  }
  const auto of = [&](HostState state) { return united(all[std::size_t(state)]); };
  states.compiles = of(HostState::compiles);
  states.works = without(of(HostState::works), states.compiles);
  const Intervals busy = united(states.works, states.compiles);
  states.loads = without(of(HostState::loads), busy);
  states.waits = without(of(HostState::waits), united(busy, states.loads));
  return states;
}

}  // namespace

double HostTime::share(std::int64_t nanoseconds) const {
  const std::int64_t whole = whole_ns();
  return whole == 0 ? 0 : static_cast<double>(nanoseconds) / static_cast<double>(whole);
}

std::vector<Intervals> add_host_time(std::span<const HostSpan> host,
                                     const std::vector<Intervals>& busy, const Intervals& steps,
                                     HostTime& time) {
  const HostStates states = states_of(host);
  const Intervals active = united(states.works, states.compiles), marked = united(steps);
  std::vector<Intervals> all_idle;
  for (const Intervals& one : busy) {
    const Intervals runs = united(one);
    Intervals window = marked;
    if (window.empty() && !runs.empty()) window = {{runs.front().first, runs.back().second}};
    const Intervals idle = without(window, runs);
    const std::int64_t alone = length(common(active, idle));
    const std::int64_t both = length(common(active, window)) - alone;
    time.host_alone_ns += alone;
    time.both_ns += both;
    time.neither_ns += length(idle) - alone;
    time.device_alone_ns += length(window) - length(idle) - both;
    time.compiling_ns += length(common(states.compiles, idle));
    time.loading_ns += length(common(states.loads, idle));
    time.waiting_ns += length(common(states.waits, idle));
    all_idle.push_back(idle);
  }
  time.compile_calls += states.compile_calls;
  return all_idle;
}

IdleClock::IdleClock(const std::vector<Intervals>& idle) : idle_(idle) {
  for (const Intervals& device : idle) {
    std::vector<std::int64_t>& sums = sums_.emplace_back(1, 0);
    for (const auto& [begin, end] : device) sums.push_back(sums.back() + end - begin);
  }
}

std::int64_t IdleClock::before_ns(std::int64_t time_ns) const {
  std::int64_t sum = 0;
  for (std::size_t i = 0; i < idle_.size(); ++i) {
    const auto next = std::lower_bound(
        idle_[i].begin(), idle_[i].end(), time_ns,
        [](const auto& interval, std::int64_t moment) { return interval.second < moment; });
    sum += sums_[i][static_cast<std::size_t>(next - idle_[i].begin())];
    if (next != idle_[i].end()) sum += std::max<std::int64_t>(0, time_ns - next->first);
  }
  return sum;
}

}  // namespace opbench
