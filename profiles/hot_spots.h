#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
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

/// Device time of several tasks.
struct DeviceTime {
  std::int64_t count = 0, total_ps = 0, least_ps = 0, most_ps = 0;
  int digits = 0;  ///< the most that a duration has behind the point, in us

  void add(std::int64_t duration_ps, int duration_digits);
  void add(const DeviceTask& task);
  double mean_us() const { return count == 0 ? 0 : in_us(total_ps) / static_cast<double>(count); }
};

/// Where something stands in the files.
struct SourceRow {
  std::string file;
  std::int64_t line = 0;
};

/// The tasks of one type on one kind of core; both empty where the profile does not tell.
struct HotType {
  std::string type, core;
  DeviceTime time;
  std::uint32_t id = 0;  ///< counted from 0 in the order of the first tasks
};

/// How long one task took, and in which step; steps are numbers of their texts.
struct TaskSample {
  std::int64_t duration_ps = 0;
  std::uint32_t step = 0;
};

/// Tasks of equal type, core, shapes, dtypes and formats: what becomes a case. On GPUs likewise of
/// one kernel.
struct HotOperator {
  std::string type, core;
  std::string name;  ///< of the first of them
  std::string input_shapes, input_dtypes, input_formats;
  std::string output_shapes, output_dtypes, output_formats;
  bool has_tensors = false;
  SourceRow first;
  std::uint32_t id = 0;  ///< counted from 0 in the order of the first tasks
  std::int64_t wait_ps = 0;
  std::int64_t least_blocks = 0, most_blocks = 0;  ///< 0: not known
  /// Time in which a pipe was busy, in picoseconds, and that of tasks that tell.
  std::array<double, kPipes> busy_ps = {}, piped_ps = {};
  DeviceTime time = {};
  std::int64_t step_ps = 0;  ///< in steps of a trace, overlap counted once
  /// The place in TraceProfile::operators of the one of the host that launched the first of them.
  std::optional<std::uint32_t> host = std::nullopt;

  bool has_kernel_name = false;  ///< `name` is that of all of them

  std::vector<TaskSample> samples = {};  ///< some of all, each equally likely; see `keep_samples`

  /// The share of its time in which a pipe was busy; none where the profile does not tell.
  std::optional<double> pipe(Pipe pipe) const;
};

/// A single task that took long.
struct SlowTask {
  std::string name, type, core;
  std::int64_t duration_ps = 0;
  SourceRow at;
};

/// Where the device time of a profile goes, gathered from tasks in any order. Shares are of the
/// time of computing tasks, summed over streams: communication is counted apart. Memory grows with
/// the number of different operators and not with that of the tasks.
class HotSpots {
 public:
  explicit HotSpots(const HotSpotRules& rules = HotSpotRules::builtin())
      : rules_(rules), groups_(rules.groups.size()), order_(rules.small_ps) {}

  /// Returns the operator that the task is counted for; stays where it is as long as tasks are
  /// added. None for communication, and beyond what is listed.
  HotOperator* add(const DeviceTask& task);
  /// The operator that such a task was counted for; null where it was for none.
  const HotOperator* find(const DeviceTask& task) const;
  /// From here on so many tasks of each operator are kept, for statistics.
  void keep_samples(std::size_t most) { most_samples_ = most; }
  /// To be called behind the last task of a file.
  void end_file() { order_.end_file(); }

  const DeviceTime& computing() const { return computing_; }
  const DeviceTime& communication() const { return communication_; }
  /// In the order of the rules' groups.
  const std::vector<DeviceTime>& groups() const { return groups_; }
  const HotSpotRules& rules() const { return rules_; }
  /// Waits that the rules call long, of all tasks.
  const DeviceTime& long_waits() const { return long_waits_; }
  /// Long waits over durations and waits of computing tasks.
  double wait_share() const;
  /// Tasks by core, communication included; "" where the profile does not tell.
  const std::map<std::string, std::int64_t>& tasks_by_core() const { return tasks_by_core_; }
  /// The largest block dim by core, of computing tasks.
  const std::map<std::string, std::int64_t>& most_blocks() const { return most_blocks_; }
  /// Tasks by "static" and "dynamic"; empty where the profile does not tell.
  const std::map<std::string, std::int64_t>& states() const { return states_; }

  /// By total time, the longest first; equal times by name.
  std::vector<HotType> types() const;
  std::vector<HotOperator> operators() const;
  /// What start times tell; by the ids of operators and types.
  const TaskOrder& order() const { return order_; }
  /// One step along the time, communication included.
  const StepTasks& step_tasks() const { return step_tasks_; }
  /// The slowest tasks that compute, and those that communicate, the slowest first.
  std::vector<SlowTask> slowest() const;
  std::vector<SlowTask> slowest_communication() const;
  /// Tasks that found no place among the different operators, of which there were too many.
  const DeviceTime& unlisted() const { return unlisted_; }
  /// True if tasks have types, as all but the smallest level of profiling records them.
  bool has_types() const { return has_types_; }

  double share(const DeviceTime& time) const;

 private:
  bool is_full() const;
  HotOperator* add_operator(const DeviceTask& task, OrderedOperator place);
  void sample(const DeviceTask& task, HotOperator& one);

  const HotSpotRules& rules_;
  DeviceTime computing_, communication_, long_waits_, unlisted_;
  std::int64_t waits_ps_ = 0;
  bool has_types_ = false;
  std::size_t text_bytes_ = 0;  ///< of what tells operators apart
  std::vector<DeviceTime> groups_;
  std::map<std::string, std::int64_t> tasks_by_core_, most_blocks_, states_;
  std::unordered_map<std::string, HotType> types_;
  std::unordered_map<std::string, HotOperator> operators_;
  std::vector<SlowTask> slowest_, slowest_communication_;
  TaskOrder order_;
  StepTasks step_tasks_;
  std::size_t most_samples_ = 0;
  std::uint64_t random_ = 1;
  std::string key_;
};

}  // namespace opbench
