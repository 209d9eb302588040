#include "profiles/step_tasks.h"

#include <algorithm>

namespace opbench {

void StepTasks::add(const DeviceTask& task, bool is_communication) {
  if (!task.start_ns || task.count != 1) return;
  if (!first_.is_begun) {
    file_ = task.file;
    device_ = task.device;
    first_.step = task.step;
    first_.is_begun = true;
  }
  if (task.file != file_ || task.device != device_) return;
  Step* step = task.step == first_.step ? &first_ : &second_;
  if (!step->is_begun) {
    step->step = task.step;
    step->is_begun = true;
  }
  if (task.step != step->step) return;
  if (step->tasks.size() == kMost) {
    ++step->left_out;
    return;
  }
  step->tasks.push_back({std::string(task.name), std::string(task.type), std::string(task.stream),
                         *task.start_ns, task.duration_ps, is_communication, 0});
}

std::vector<StepTask> StepTasks::tasks() const {
  std::vector<StepTask> sorted = chosen().tasks;
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const StepTask& a, const StepTask& b) { return a.start_ns < b.start_ns; });
  if (sorted.empty()) return sorted;
  // Unsigned: starts of damaged tables may be as far apart as numbers go.
  const auto begin = static_cast<std::uint64_t>(sorted.front().start_ns);
  for (StepTask& task : sorted) {
    task.start_us = double(static_cast<std::uint64_t>(task.start_ns) - begin) / 1e3;
  }
  return sorted;
}

}  // namespace opbench
