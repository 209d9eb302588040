#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "profiles/hot_spots.h"

namespace opbench {

/// A task among others of its stream.
struct SequencedTask {
  const HotOperator* op = nullptr;  ///< as which it was counted; lives as long as the hot spots
  std::string name;                 ///< cut where it is long
  std::int64_t line = 0;
};

/// What ran on one stream around one task, in the order of start times.
struct TaskWindow {
  std::vector<SequencedTask> tasks;
  std::size_t centre = 0;
  std::string device, stream;
};

/// The windows of one table.
struct TaskWindows {
  std::vector<TaskWindow> windows;  ///< in the order of their centres
  std::int64_t without_start = 0;   ///< tasks that are in no order
  std::int64_t late = 0;            ///< tasks that came too late to be sorted: left out
};

struct WindowLimits {
  std::size_t windows = 8;    ///< around the first so many centres
  std::size_t reach = 512;    ///< tasks before and behind
  std::size_t sorted = 4096;  ///< so many rows late a task may come
};

/// Reads a table of tasks once more, up to the end of the last window, or until `stop` says so.
/// `spots` has counted its tasks; communication is in no window. Memory is that of the windows.
/// Errors: throws Error if the file cannot be read or is no such table.
TaskWindows windows_around(
    const std::string& path, const HotSpots& spots,
    const std::function<bool(const DeviceTask&, const HotOperator&)>& is_centre,
    const std::function<bool()>& stop, const WindowLimits& limits = {});

}  // namespace opbench
