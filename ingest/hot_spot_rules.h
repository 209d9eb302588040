#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "ingest/task.h"

namespace opbench {

/// Tasks that are counted together.
struct TaskGroup {
  std::string name;
  std::vector<std::string> types, cores;
  std::vector<std::string> name_parts;  ///< of tasks that have no type

  bool holds(const DeviceTask& task) const;
};

/// What counts as what, and the thresholds: ingest/hot_spot_rules.yaml, which is part of the
/// program.
struct HotSpotRules {
  std::vector<std::string> communication_cores;
  std::vector<std::string> communication_names;  ///< their beginnings
  /// What timelines call tasks that compute, and those that copy between memories.
  std::vector<std::string> computing_types, copying_types;
  std::vector<TaskGroup> groups;
  std::int64_t long_wait_ps = 0;
  double wait_share = 0;
  std::int64_t warm_steps = 0;  ///< compiling after them is a remark

  static const HotSpotRules& builtin();
  /// The same from text; `path` stands in messages. Errors: throws Error "file:line: ...".
  static HotSpotRules parse(const std::string& text, const std::string& path);

  bool is_communication(const DeviceTask& task) const;
  bool is_communication_name(std::string_view name) const;
  bool computes(std::string_view task_type) const;
  bool copies(std::string_view task_type) const;
};

}  // namespace opbench
