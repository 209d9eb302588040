#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profiles/host_time.h"
#include "profiles/task.h"

namespace opbench {

struct HotOperator;

/// A group of tasks whose times are added up.
struct TaskGroup {
  std::string name;
  std::vector<std::string> types, cores;
  std::vector<std::string> name_parts;  ///< parts of names, for tasks without a type

  bool holds(const DeviceTask& task) const;
};

/// Thresholds and texts of a rule. A rule's comment in the file names the numbers that it uses; 0:
/// not stated.
struct FindingRule {
  double share = 0;  ///< from this share of the device time on it is a remark
  double limit = 0;  ///< a ratio
  std::int64_t longer_than_ps = 0;
  std::int64_t times = 0;
  std::vector<std::string> types;  ///< dtypes or beginnings of operator types
  std::string estimate;            ///< how `Finding::saves` is estimated
  std::string advice;              ///< from tuning guides
  std::string tries;               ///< the part of opbench that tests it
};

/// A row of small operators that a single operator can compute.
struct KnownRun {
  std::string name;
  std::vector<std::string> types;
};

/// Groups, types and thresholds from profiles/hot_spot_rules.yaml, which is part of the program.
struct HotSpotRules {
  std::vector<std::string> communication_cores;
  std::vector<std::string> communication_names;  ///< beginnings of names
  /// Types of tasks that compute, and of those that copy between memories, in timelines.
  std::vector<std::string> computing_types, copying_types;
  /// Parts of names of the host's calls that compile, wait for a device, and load data.
  std::vector<std::string> host_compiles, host_waits, host_loads;
  std::vector<TaskGroup> groups;
  double warning = 0;  ///< a finding that could save this share is a warning
  std::int64_t long_wait_ps = 0;
  double wait_share = 0;
  std::int64_t warm_steps = 0;  ///< compiling after this number of steps is a remark
  std::int64_t small_ps = 0;    ///< tasks up to this duration are small
  std::map<std::string, FindingRule, std::less<>> findings;
  std::vector<KnownRun> runs;

  static const HotSpotRules& builtin();
  /// Parses rules; messages begin with `path`. Missing parts, and missing values of a finding, are
  /// those of the program. Errors: throws Error "file:line: ...".
  static HotSpotRules parse(const std::string& text, const std::string& path);
  static HotSpotRules load(const std::string& path);

  const FindingRule& finding(std::string_view name) const { return findings.find(name)->second; }

  bool is_communication(const DeviceTask& task) const;
  bool is_communication_name(std::string_view name) const;
  /// True if the operator is in one of the groups with these names.
  bool is_in(std::span<const std::string_view> names, const HotOperator& one) const;
  bool computes(std::string_view task_type) const;
  bool copies(std::string_view task_type) const;
  /// The activity of the host in a call with this name; empty for other calls.
  std::optional<HostState> host_state(std::string_view name) const;
};

/// Device time of several tasks.
struct DeviceTime {
  std::int64_t count = 0, total_ps = 0, least_ps = 0, most_ps = 0;
  int digits = 0;  ///< the most digits of a duration after the point, in us

  void add(std::int64_t duration_ps, int duration_digits);
  void add(const DeviceTask& task);
  double mean_us() const { return count == 0 ? 0 : in_us(total_ps) / static_cast<double>(count); }
};

/// A line of a file.
struct SourceRow {
  std::string file;
  std::int64_t line = 0;
};

/// The tasks of one type on one kind of core; both are empty if the profile does not have them.
struct HotType {
  std::string type, core;
  DeviceTime time;
  std::uint32_t id = 0;  ///< ids follow the order of the first tasks, from 0
};

/// Duration of one task and the number of its step.
struct TaskSample {
  std::int64_t duration_ps = 0;
  std::uint32_t step = 0;
};

/// A metric of the tasks of an operator that have it.
struct MetricSum {
  std::uint32_t metric = 0;  ///< its place in HotSpots::metric_names
  double sum = 0, weight = 0;

  /// The mean by time.
  double mean() const { return weight > 0 ? sum / weight : 0; }
};

/// Tasks of equal type, core, shapes, dtypes and formats; they become a case. On GPUs also of one
/// kernel.
struct HotOperator {
  std::string type, core;
  std::string name;  ///< of the first task
  std::string input_shapes, input_dtypes, input_formats;
  std::string output_shapes, output_dtypes, output_formats;
  bool has_tensors = false;
  SourceRow first;
  std::uint32_t id = 0;  ///< ids follow the order of the first tasks, from 0
  std::int64_t wait_ps = 0;
  std::int64_t least_blocks = 0, most_blocks = 0;  ///< 0: not known
  /// Time in which a pipe was busy, and the time of the tasks with such a value, in picoseconds.
  std::array<double, kPipes> busy_ps = {}, piped_ps = {};
  DeviceTime time = {};
  std::int64_t step_ps = 0;  ///< time in steps of a trace; overlapping time counts once
  /// The operator of the host that launched the first task: its place in TraceProfile::operators.
  std::optional<std::uint32_t> host = std::nullopt;

  bool has_kernel_name = false;  ///< all tasks have the name `name`

  std::vector<TaskSample> samples = {};  ///< a uniform sample of the tasks; see `keep_samples`

  std::vector<MetricSum> metrics = {};

  /// The share of time in which a pipe was busy; empty if the profile does not have it.
  std::optional<double> pipe(Pipe pipe) const;
};

/// A single task that took long.
struct SlowTask {
  std::string name, type, core;
  std::int64_t duration_ps = 0;
  SourceRow at;
};

/// The device time of a profile by operators and groups, from tasks in any order. Shares are of the
/// time of computing tasks, summed over streams; communication is counted separately. Memory grows
/// with the number of different operators, not with the number of tasks.
class HotSpots {
 public:
  explicit HotSpots(const HotSpotRules& rules = HotSpotRules::builtin())
      : rules_(rules), groups_(rules.groups.size()), order_(rules.small_ps) {}

  /// Returns the operator that includes the task; its address is valid while tasks are added. Null
  /// for communication, and for operators beyond the limit.
  HotOperator* add(const DeviceTask& task);
  /// The operator that includes this task; null if there is no such operator.
  const HotOperator* find(const DeviceTask& task) const;
  /// Keeps this number of tasks of each further operator, for statistics.
  void keep_samples(std::size_t most) { most_samples_ = most; }
  /// Must be called after the last task of a file.
  void end_file() { order_.end_file(); }

  const DeviceTime& computing() const { return computing_; }
  const DeviceTime& communication() const { return communication_; }
  /// In the order of the groups in the rules.
  const std::vector<DeviceTime>& groups() const { return groups_; }
  const HotSpotRules& rules() const { return rules_; }
  /// Waits of all tasks that are longer than the rules allow.
  const DeviceTime& long_waits() const { return long_waits_; }
  /// Long waits over the sum of durations and waits of computing tasks.
  double wait_share() const;
  /// Tasks by core, communication included; "" if the profile does not have the core.
  const std::map<std::string, std::int64_t>& tasks_by_core() const { return tasks_by_core_; }
  /// The largest block dim of computing tasks, by core.
  const std::map<std::string, std::int64_t>& most_blocks() const { return most_blocks_; }
  /// Tasks by "static" and "dynamic"; empty if the profile does not have this state.
  const std::map<std::string, std::int64_t>& states() const { return states_; }

  /// Sorted by total time, the longest first, then by name.
  std::vector<HotType> types() const;
  std::vector<HotOperator> operators() const;
  /// Results from start times, by the ids of operators and types.
  const TaskOrder& order() const { return order_; }
  /// The tasks of one step in the order of time, communication included.
  const StepTasks& step_tasks() const { return step_tasks_; }
  /// The slowest computing tasks, the slowest first; below, those of communication.
  std::vector<SlowTask> slowest() const;
  std::vector<SlowTask> slowest_communication() const;
  /// Tasks of operators beyond the limit.
  const DeviceTime& unlisted() const { return unlisted_; }
  /// True if tasks have types. Only the smallest level of profiling omits them.
  bool has_types() const { return has_types_; }

  double share(const DeviceTime& time) const;

  /// Columns of metrics, in their order in the tables.
  const std::vector<std::string>& metric_names() const { return metric_names_; }
  /// The sum of an operator's means of these metrics, whatever core they are of; empty if it has
  /// none of them. The cube core and the vector core have a column each, "aic_" and "aiv_".
  std::optional<double> metric(const HotOperator& one, std::span<const std::string> names) const;

 private:
  bool is_full() const;
  void add_metrics(const DeviceTask& task, HotOperator& one);
  HotOperator* add_operator(const DeviceTask& task, OrderedOperator place);
  void sample(const DeviceTask& task, HotOperator& one);

  const HotSpotRules& rules_;
  DeviceTime computing_, communication_, long_waits_, unlisted_;
  std::int64_t waits_ps_ = 0;
  bool has_types_ = false;
  std::size_t text_bytes_ = 0;  ///< of the texts that identify operators
  std::vector<DeviceTime> groups_;
  std::map<std::string, std::int64_t> tasks_by_core_, most_blocks_, states_;
  std::unordered_map<std::string, HotType> types_;
  std::unordered_map<std::string, HotOperator> operators_;
  std::vector<SlowTask> slowest_, slowest_communication_;
  TaskOrder order_;
  StepTasks step_tasks_;
  std::size_t most_samples_ = 0;
  std::vector<std::string> metric_names_;
  std::uint64_t random_ = 1;
  std::string key_;
};

}  // namespace opbench
