#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/task.h"

namespace opbench {

/// Tasks that are counted together.
struct TaskGroup {
  std::string name;
  std::vector<std::string> types, cores;
  std::vector<std::string> name_parts;  ///< of tasks that have no type

  bool holds(const DeviceTask& task) const;
};

/// When something is a remark, and what the remark says. Which of the numbers count, a rule's
/// comment in the file tells; 0: not stated.
struct FindingRule {
  double share = 0;    ///< of the device time from which on it is a remark
  double warning = 0;  ///< likewise a warning
  double limit = 0;    ///< a ratio
  std::int64_t longer_than_ps = 0;
  std::int64_t times = 0;
  std::vector<std::string> types;  ///< dtypes or beginnings of operator types
  std::string advice;              ///< what tuning guides say
  std::string tries;               ///< what of ours tries it
};

/// A row of small operators that one operator computes.
struct KnownRun {
  std::string name;
  std::vector<std::string> types;
};

/// What counts as what, and the thresholds: profiles/hot_spot_rules.yaml, which is part of the
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
  std::int64_t small_ps = 0;    ///< tasks up to this are small
  std::map<std::string, FindingRule, std::less<>> findings;
  std::vector<KnownRun> runs;

  static const HotSpotRules& builtin();
  /// The same from text; `path` stands in messages. Errors: throws Error "file:line: ...".
  /// Parts that the text leaves out are those of the program; a finding keeps what it does not
  /// state.
  static HotSpotRules parse(const std::string& text, const std::string& path);
  static HotSpotRules load(const std::string& path);

  const FindingRule& finding(std::string_view name) const { return findings.find(name)->second; }

  bool is_communication(const DeviceTask& task) const;
  bool is_communication_name(std::string_view name) const;
  bool computes(std::string_view task_type) const;
  bool copies(std::string_view task_type) const;
};

}  // namespace opbench
