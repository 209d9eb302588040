#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

namespace opbench {

/// A decimal number as a whole number of small units: sums are exact, and 19 digits fit.
struct Decimal {
  std::int64_t units = 0;
  int digits = 0;  ///< after the point, as written
};

/// Parses `text` in units of 10^-scale, rounded to the nearest; also "1.5e-05". Empty for "N/A",
/// other text, or a number that is too large.
std::optional<Decimal> parse_decimal(std::string_view text, int scale);

/// True if one of `parts` is in the text.
template <class Parts>
bool has_part_of(const Parts& parts, std::string_view text) {
  return std::any_of(std::begin(parts), std::end(parts),
                     [&](std::string_view part) { return text.find(part) != text.npos; });
}

/// `to` + `by`, limited to the range of the type: times of damaged files can overflow it.
inline void add_saturated(std::int64_t& to, std::int64_t by) {
  if (__builtin_add_overflow(to, by, &to)) to = by < 0 ? INT64_MIN : INT64_MAX;
}

/// Scales between units of time. Times are in picoseconds. Start times are in nanoseconds, as they
/// have up to 19 digits, too many for a double.
inline constexpr int kMicroToNano = 3, kNanoToPico = 3, kMicroToPico = 6, kMilliToPico = 9;

/// Separates the parts of a key.
inline constexpr char kKeySeparator = '\x1f';

/// The parts of `text` between separators, including empty parts.
std::vector<std::string_view> split(std::string_view text, char separator);

/// Picoseconds as text in microseconds with three digits, "8873.737".
std::string us_text(std::int64_t picoseconds);

/// Picoseconds as a number of microseconds.
inline double in_us(std::int64_t picoseconds) { return static_cast<double>(picoseconds) / 1e6; }

/// The tensors of one side of a task in the profiler's format, lists with ";" between tensors:
/// "32,3,224,224;64,3,11,11", "FLOAT;FLOAT", "NCHW;NCHW". An empty place is a scalar, or an
/// optional tensor that was not passed.
struct TensorTexts {
  std::string_view shapes, dtypes, formats;
};

/// Shares of a kernel's time in which a part of the core was busy, 0 to 1. Of cube and vector
/// cores, the larger share.
enum class Pipe { mac, vec, scalar, mte1, mte2, mte3, fixpipe };
inline constexpr std::size_t kPipes = 7;

/// A number that the profiler measured besides time, by its column: "aic_mac_fp16_ratio",
/// "main_mem_read_bw(GB/s)".
struct TaskMetric {
  std::string_view name;
  double value = 0;
};

/// A kernel that ran on a device: a row of a profiler's table. Texts are valid during the call that
/// receives the row; empty if the table has no such column or has "N/A".
struct DeviceTask {
  std::string_view name, type, core, state, step, device, stream;
  bool has_kernel_name =
      false;  ///< tasks of one type are different kernels; their names identify them
  std::optional<std::int64_t> start_ns;
  std::int64_t duration_ps = 0;
  int duration_digits = 0;  ///< after the point, in us
  /// For a row that sums up several tasks: their number, the shortest and the longest.
  std::int64_t count = 1;
  std::optional<std::int64_t> least_ps, most_ps;
  std::optional<std::int64_t> wait_ps;
  std::optional<std::int64_t> blocks;
  bool has_tensors = false;
  TensorTexts inputs, outputs;
  std::array<std::optional<double>, kPipes> pipes;
  std::span<const TaskMetric> metrics;
  std::string_view file;
  std::int64_t line = 0;
};

/// The name of a CUDA kernel without return type, template arguments and parameters:
/// "at::native::vectorized_elementwise_kernel".
std::string_view short_kernel_name(std::string_view name);

/// A stored task of the step.
struct StepTask {
  std::string name, type, stream;
  std::int64_t start_ns = 0, duration_ps = 0;
  bool is_communication = false;
  double start_us = 0;  ///< from the start of the step's first task
};

/// The tasks of one step, for a drawing along the time. Uses the second step of the first device,
/// since the first step warms up; otherwise the first step. Stores up to `kMost` tasks.
class StepTasks {
 public:
  static constexpr std::size_t kMost = 3000;

  void add(const DeviceTask& task, bool is_communication = false);

  /// Sorted by start time; empty if start times are not known.
  std::vector<StepTask> tasks() const;
  /// The number of further tasks of the same step.
  std::int64_t left_out() const { return chosen().left_out; }
  const std::string& step() const { return chosen().step; }

 private:
  struct Step {
    std::string step;
    std::vector<StepTask> tasks;
    std::int64_t left_out = 0;
    bool is_begun = false;
  };

  const Step& chosen() const { return second_.is_begun ? second_ : first_; }

  std::string file_, device_;
  Step first_, second_;
};

/// Properties of an operator that the order of tasks needs.
struct OrderedOperator {
  std::uint32_t id = 0;     ///< ids follow the order of the first tasks, from 0
  std::uint32_t type = 0;   ///< likewise for types
  bool is_watched = false;  ///< records the operators before and after it
};

/// Time in which nothing ran on a device, just before an operator.
struct IdleTime {
  std::int64_t total_ps = 0, count = 0;
};

/// The time in which nothing computed until a communication ended and this task began.
struct CommunicationWait {
  std::int64_t wait_ps = 0;
  std::uint32_t op = 0;                     ///< the operator of the task that waited
  std::int64_t line = 0, awaited_line = 0;  ///< of the task and of the communication
  std::int64_t awaited_ps = 0;              ///< duration of the communication
  std::string file;
};

/// An operator between two others of its stream.
struct Neighbours {
  std::uint32_t op = 0, before = 0, after = 0;
  std::int64_t count = 0, total_ps = 0;
};

/// Small tasks that follow one another on a stream.
struct SmallRun {
  std::vector<std::uint32_t> types;
  std::int64_t count = 0;
  std::int64_t busy_ps = 0;  ///< sum of durations; `span_ps`: from the start of each run to its end
  std::int64_t span_ps = 0;
  std::string file;  ///< of the first run
  std::int64_t line = 0;
};

/// Results from the start times of tasks. Tasks of several streams overlap, so their durations add
/// up to more than the elapsed time. Profilers write tasks nearly sorted; a window sorts the rest.
/// Memory grows with the number of operators and of steps.
class TaskOrder {
 public:
  /// Tasks up to `small_ps` are small.
  explicit TaskOrder(std::int64_t small_ps) : small_ps_(small_ps) {}

  void add(const DeviceTask& task, const OrderedOperator& op);
  /// Communication takes time of a step, but is not on a stream of computing.
  void add_communication(const DeviceTask& task);
  /// Must be called after the last task of a file: the next file is of another rank or another
  /// time.
  void end_file();

  /// True if every task had a start time and was at most a window too late. Otherwise the times
  /// below are not valid.
  bool is_known() const { return tasks_ > 0 && without_start_ == 0 && late_ == 0; }
  /// True if that also holds for communication.
  bool is_communication_known() const { return is_known() && astray_ == 0; }
  /// The number of steps, each from its first start to its last end. Without a column of steps,
  /// each file is one step.
  std::int64_t steps() const { return steps_; }
  bool has_steps() const { return has_steps_; }
  std::int64_t span_ps() const { return span_ps_; }
  /// The time in which any computing task ran; overlapping time counts once. Below: the time of
  /// communication, and the part of it in which nothing computed.
  std::int64_t busy_ps() const { return busy_.computing_ps; }
  std::int64_t communication_ps() const { return busy_.communication_ps; }
  std::int64_t communication_alone_ps() const { return busy_.any_ps - busy_.computing_ps; }
  /// The part of busy_ps() that belongs to an operator; overlapping time belongs to the task that
  /// began first.
  std::int64_t busy_ps(std::uint32_t op) const { return op < charged_.size() ? charged_[op] : 0; }
  /// The time in a step in which nothing ran before a task of the operator began.
  IdleTime idle_before(std::uint32_t op) const {
    return op < idle_.size() ? idle_[op] : IdleTime{};
  }

  /// The longest waits for communication, in no order.
  const std::vector<CommunicationWait>& communication_waits() const { return waits_; }

  /// The most frequent first.
  std::vector<Neighbours> neighbours() const;
  /// The longest busy time first.
  std::vector<SmallRun> small_runs() const;

 private:
  struct Entry {
    std::int64_t start_ps, duration_ps, line;
    std::uint32_t op, type, lane, step;
    bool is_watched, is_communication;
  };
  /// Times of computing, of communication and of either. Depends on use: a sum that counts overlaps
  /// once, or the end of the covered time.
  struct Busy {
    std::int64_t computing_ps = 0, communication_ps = 0, any_ps = 0;
  };
  /// Communication since the last computing task.
  struct Awaited {
    std::int64_t begin_ps = 0, end_ps = 0, line = 0, duration_ps = 0;
  };
  /// The ends of the covered time of a device.
  struct Covered {
    Busy end;
    std::vector<Awaited> awaited;
  };
  /// A stream of a device.
  struct Lane {
    std::string device, stream;
    std::array<std::uint32_t, 2> last_ops = {};
    bool is_watched = false;  ///< of the last operator
    int seen = 0;
    std::int64_t last_ps = 0;  ///< duration of the last task
    SmallRun run;
    std::int64_t run_start_ps = 0, run_end_ps = 0;
  };
  struct Step {
    std::string device, step;
    std::int64_t first_ps = 0, last_ps = 0;
    Busy busy = {};
    bool is_begun = false;
  };

  bool place(const DeviceTask& task, Entry& entry);
  std::uint32_t lane_of(const DeviceTask& task);
  std::uint32_t step_of(const DeviceTask& task);
  void insert(const Entry& entry);
  void take(const Entry& entry);
  void charge(const Entry& entry);
  void await(const Entry& entry, Covered& covered);
  void pass(const Entry& entry);
  void extend_run(Lane& lane, const Entry& entry);
  void close_run(Lane& lane);

  std::int64_t small_ps_;
  std::deque<Entry> window_;
  std::string file_;
  std::vector<Lane> lanes_;
  std::vector<Step> open_steps_;
  std::unordered_map<std::string, std::uint32_t> lane_places_, step_places_;  ///< by their texts
  std::map<std::string, Covered, std::less<>> covered_;                       ///< by device
  std::uint32_t last_lane_ = 0, last_step_ = 0;
  std::int64_t base_ns_ = 0, last_taken_ps_ = INT64_MIN, last_of_any_ps_ = INT64_MIN;
  bool has_base_ = false, has_steps_ = false;
  std::int64_t tasks_ = 0, without_start_ = 0, late_ = 0;
  std::int64_t astray_ = 0;  ///< tasks out of order, communication included
  std::int64_t steps_ = 0, span_ps_ = 0;
  Busy busy_;
  std::vector<std::int64_t> charged_;
  std::vector<IdleTime> idle_;
  std::vector<CommunicationWait> waits_;
  std::unordered_map<std::string, Neighbours> neighbours_;
  std::unordered_map<std::string, SmallRun> runs_;
  std::string key_;
};

}  // namespace opbench
