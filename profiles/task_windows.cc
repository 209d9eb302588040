#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <unordered_map>

#include "profiles/network_context.h"
#include "profiles/task_table.h"
#include "profiles/time_table.h"
#include "tensor/error.h"
#include "text/fitted.h"

namespace opbench {
namespace {

/// Sorts tasks that come nearly sorted, and cuts windows out of them.
class WindowCutter {
 public:
  explicit WindowCutter(const WindowLimits& limits) : limits_(limits) {}

  void add(const DeviceTask& task, const HotOperator& op, bool is_centre) {
    if (!task.start_ns) {
      ++found_.without_start;
      return;
    }
    if (has_taken_ && *task.start_ns < last_taken_ns_) {
      ++found_.late;
      return;
    }
    constexpr std::size_t kLongestName = 100;
    Entry entry{*task.start_ns,
                lane_of(task),
                is_centre,
                {&op, excerpt(task.name, kLongestName), task.line}};
    const auto place =
        std::upper_bound(waiting_.begin(), waiting_.end(), entry,
                         [](const Entry& a, const Entry& b) { return a.start_ns < b.start_ns; });
    waiting_.insert(place, std::move(entry));
    if (waiting_.size() > limits_.sorted) take_first();
  }

  /// True if further tasks do not change the result.
  bool is_done() const { return found_.windows.size() == limits_.windows && open_.empty(); }

  TaskWindows finish() {
    while (!waiting_.empty()) take_first();
    return std::move(found_);
  }

 private:
  struct Entry {
    std::int64_t start_ns = 0;
    std::uint32_t lane = 0;
    bool is_centre = false;
    SequencedTask task;
  };

  std::uint32_t lane_of(const DeviceTask& task) {
    constexpr std::size_t kLastLane = 4096;  // includes all other streams
    std::string key(task.device);
    key.append(1, kKeySeparator).append(task.stream);
    const auto found = lanes_.find(key);
    if (found != lanes_.end()) return found->second;
    const auto lane = static_cast<std::uint32_t>(std::min(lanes_.size(), kLastLane));
    if (lane < kLastLane) lanes_.emplace(std::move(key), lane);
    if (lane_names_.size() <= lane) lane_names_.emplace_back(task.device, task.stream);
    return lane;
  }

  void take_first() {
    Entry entry = std::move(waiting_.front());
    waiting_.pop_front();
    has_taken_ = true;
    last_taken_ns_ = entry.start_ns;
    extend(entry);
    if (entry.is_centre && found_.windows.size() < limits_.windows) open(entry);
    // The limit is for all streams together, so memory does not grow with their number.
    constexpr std::size_t kStreams = 8;
    passed_.push_back(std::move(entry));
    if (passed_.size() > limits_.reach * kStreams) passed_.pop_front();
  }

  void extend(const Entry& entry) {
    std::erase_if(open_, [&](const OpenWindow& open) {
      TaskWindow& window = found_.windows[open.place];
      if (open.lane == entry.lane) window.tasks.push_back(entry.task);
      return window.tasks.size() - window.centre > limits_.reach;
    });
  }

  void open(const Entry& centre) {
    TaskWindow window;
    for (auto before = passed_.rbegin(); before != passed_.rend(); ++before) {
      if (before->lane != centre.lane) continue;
      window.tasks.push_back(before->task);
      if (window.tasks.size() == limits_.reach) break;
    }
    std::reverse(window.tasks.begin(), window.tasks.end());
    window.centre = window.tasks.size();
    window.tasks.push_back(centre.task);
    std::tie(window.device, window.stream) = lane_names_[centre.lane];
    open_.push_back({found_.windows.size(), centre.lane});
    found_.windows.push_back(std::move(window));
  }

  struct OpenWindow {
    std::size_t place = 0;  ///< place among the windows
    std::uint32_t lane = 0;
  };

  WindowLimits limits_;
  std::deque<Entry> waiting_, passed_;
  std::vector<OpenWindow> open_;
  std::unordered_map<std::string, std::uint32_t> lanes_;
  std::vector<std::pair<std::string, std::string>> lane_names_;
  std::int64_t last_taken_ns_ = 0;
  bool has_taken_ = false;
  TaskWindows found_;
};

}  // namespace

TaskWindows windows_around(
    const std::string& path, const HotSpots& spots,
    const std::function<bool(const DeviceTask&, const HotOperator&)>& is_centre,
    const std::function<bool()>& stop, const WindowLimits& limits) {
  WindowCutter cutter(limits);
  const ByteSource source = open_bytes(path);
  TableReader table(ByteWindow([&](std::span<char> room) {
                      return cutter.is_done() || stop() ? 0 : source(room);
                    }),
                    path);
  const TableHeader header = find_header(table);
  if (!header.tasks) throw Error(fmt::format("{}: no table of tasks", path));
  read_tasks(table, *header.tasks, [&](const DeviceTask& task) {
    const HotOperator* const op = spots.find(task);
    if (op != nullptr) cutter.add(task, *op, is_centre(task, *op));
  });
  return cutter.finish();
}

}  // namespace opbench
