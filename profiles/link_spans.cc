// A kernel runs on a device, later than the call that launched it. The links between the two:
//   kineto   a call of the runtime inside the operator's call has the kernel's correlation;
//            traces without calls of the runtime have the operator's external id
//   Ascend   an arrow async_npu from inside the operator's call to the kernel's start
//   autograd an arrow cpu_to_cuda or cpu_to_npu, from inside the operator's call too
#include <algorithm>

#include "profiles/timeline.h"

namespace opbench {
namespace {

/// A request for the calls that run on a thread at a time; the answer is for a span.
struct Question {
  std::uint32_t thread = 0;
  std::int64_t time_ns = 0;
  std::uint32_t span = 0;
};

template <class T, class Key>
const T* find_sorted(const std::vector<T>& all, std::int64_t wanted, Key key) {
  const auto found = std::lower_bound(all.begin(), all.end(), wanted,
                                      [&](const T& one, std::int64_t id) { return key(one) < id; });
  return found != all.end() && key(*found) == wanted ? &*found : nullptr;
}

std::int64_t id_of(const HostLaunch& launch) { return launch.id; }

void sort_launches(std::vector<HostLaunch>& launches) {
  std::stable_sort(launches.begin(), launches.end(),
                   [](const HostLaunch& a, const HostLaunch& b) { return a.id < b.id; });
}

/// Finds the launches of spans, which are given in the order of the trace.
class Launches {
 public:
  explicit Launches(const LaunchTable& table)
      : table_(table), is_used_(table.arrow_ends.size(), false) {}

  const HostLaunch* of(const DeviceSpan& span) {
    if (span.correlation >= 0) {
      const HostLaunch* const launch = find_sorted(table_.launches, span.correlation, id_of);
      if (launch != nullptr) return launch;
    }
    const auto& ends = table_.arrow_ends;
    const auto* end = find_sorted(ends, span.start_ns, [](const auto& one) { return one.first; });
    if (end == nullptr) return nullptr;
    // Spans that start at the same time take the arrows in their order.
    std::size_t place = end - ends.data();
    while (is_used_[place] && place + 1 < ends.size() && ends[place + 1].first == end->first) {
      ++place;
    }
    is_used_[place] = true;
    return find_sorted(table_.arrows, ends[place].second, id_of);
  }

 private:
  const LaunchTable& table_;
  std::vector<bool> is_used_;
};

/// Visits the calls of each thread in order of time, with a stack of running calls.
class CallWalk {
 public:
  CallWalk(std::vector<DeviceSpan>& spans, std::vector<HostCall>& calls, TraceProfile& profile)
      : spans_(spans), calls_(calls), profile_(profile) {}

  void run(const std::vector<Question>& questions,
           const std::vector<std::pair<std::uint32_t, std::uint32_t>>& waiting) {
    waiting_ = &waiting;
    std::size_t next = 0;
    for (const Question& question : questions) {
      while (next < calls_.size() && begins_before(calls_[next], question)) push(next++);
      if (!running_.empty() && calls_[running_.back().call].thread != question.thread) leave_all();
      leave([&](const HostCall& call) { return call.end_ns < question.time_ns; });
      answer(question.span);
    }
    while (next < calls_.size()) push(next++);
    leave_all();
    tell_sequence();
  }

 private:
  void tell_sequence() {
    if (!profile_.sequence.empty()) return;
    std::sort(launching_.begin(), launching_.end());
    constexpr std::size_t kMostCalls = 1 << 20;
    launching_.resize(std::min(launching_.size(), kMostCalls));
    for (const auto& [start_ns, op] : launching_) profile_.sequence.push_back(op);
  }

  struct Running {
    std::size_t call = 0;
    std::int64_t inside_ns = 0;  ///< time of calls that it made
    bool has_launched = false;
  };

  static bool begins_before(const HostCall& call, const Question& question) {
    if (call.thread != question.thread) return call.thread < question.thread;
    return call.start_ns <= question.time_ns;
  }

  template <class Done>
  void leave(Done done) {
    while (!running_.empty() && done(calls_[running_.back().call])) {
      const Running& last = running_.back();
      const HostCall& call = calls_[last.call];
      const std::int64_t own = call.end_ns - call.start_ns - last.inside_ns;
      TraceOperator& op = profile_.operators()[call.op];
      add_saturated(op.host_self_ns, std::max<std::int64_t>(0, own));
      op.launching += last.has_launched ? 1 : 0;
      if (last.has_launched) launching_.emplace_back(call.start_ns, call.op);
      running_.pop_back();
    }
  }
  void leave_all() {
    leave([](const HostCall&) { return true; });
  }

  void push(std::size_t index) {
    const HostCall& call = calls_[index];
    if (!running_.empty() && calls_[running_.back().call].thread != call.thread) leave_all();
    leave([&](const HostCall& other) { return other.end_ns <= call.start_ns; });
    if (!running_.empty()) {
      const std::int64_t end = std::min(call.end_ns, calls_[running_.back().call].end_ns);
      running_.back().inside_ns += end - call.start_ns;
    }
    running_.push_back({index, 0, false});
    if (waiting_->empty() || call.external == DeviceSpan::kNone) return;
    auto one = std::lower_bound(waiting_->begin(), waiting_->end(),
                                std::pair(call.external, std::uint32_t{0}));
    for (; one != waiting_->end() && one->first == call.external; ++one) answer(one->second);
  }

  // Links the span to the innermost call with shapes; without shapes, to the innermost call.
  void answer(std::uint32_t index) {
    DeviceSpan& span = spans_[index];
    if (running_.empty() || span.host != DeviceSpan::kNone) return;
    auto holder = std::find_if(running_.rbegin(), running_.rend(), [&](const Running& one) {
      return profile_.operators()[calls_[one.call].op].has_shapes;
    });
    if (holder == running_.rend()) holder = running_.rbegin();
    holder->has_launched = true;
    span.host = calls_[holder->call].op;
    if (span.task != nullptr && !span.task->host) span.task->host = span.host;
    TraceOperator& op = profile_.operators()[span.host];
    (span.kind == SpanKind::copy ? op.copies : op.kernels).add(span.duration_ps, 0);
    profile_.linked_kernels += span.kind == SpanKind::copy ? 0 : 1;
  }

  std::vector<DeviceSpan>& spans_;
  std::vector<HostCall>& calls_;
  TraceProfile& profile_;
  const std::vector<std::pair<std::uint32_t, std::uint32_t>>* waiting_ = nullptr;
  std::vector<Running> running_;
  std::vector<std::pair<std::int64_t, std::uint32_t>> launching_;  ///< start times and operators
};

}  // namespace

void link_spans(std::vector<DeviceSpan>& spans, std::vector<HostCall>& calls, LaunchTable table,
                TraceProfile& profile) {
  std::sort(calls.begin(), calls.end(), [](const HostCall& a, const HostCall& b) {
    if (a.thread != b.thread) return a.thread < b.thread;
    if (a.start_ns != b.start_ns) return a.start_ns < b.start_ns;
    return a.end_ns != b.end_ns ? a.end_ns > b.end_ns : a.external < b.external;
  });
  sort_launches(table.launches);
  sort_launches(table.arrows);
  std::sort(table.arrow_ends.begin(), table.arrow_ends.end());
  std::vector<Question> questions;
  std::vector<std::pair<std::uint32_t, std::uint32_t>> waiting;  // external id and span
  Launches launches(table);
  for (std::uint32_t i = 0; i < spans.size(); ++i) {
    const DeviceSpan& span = spans[i];
    if (const HostLaunch* launch = launches.of(span)) {
      questions.push_back({launch->thread, launch->time_ns, i});
    } else if (span.external >= 0 && span.external != span.correlation) {
      // In newer traces the external id of a launch repeats the correlation; it is not the id of an
      // operator.
      waiting.emplace_back(static_cast<std::uint32_t>(span.external), i);
    }
  }
  std::sort(questions.begin(), questions.end(), [](const Question& a, const Question& b) {
    if (a.thread != b.thread) return a.thread < b.thread;
    return a.time_ns != b.time_ns ? a.time_ns < b.time_ns : a.span < b.span;
  });
  std::sort(waiting.begin(), waiting.end());
  CallWalk(spans, calls, profile).run(questions, waiting);
}

}  // namespace opbench
