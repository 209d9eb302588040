#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profiles/hot_spots.h"
#include "profiles/line_reader.h"

namespace opbench {

/// An event of a Chrome trace. Texts are valid until the next one; numbers are as written, so that
/// times keep their digits; lists and objects are JSON. Empty where the event has none.
struct TraceEvent {
  char phase = 0;  ///< 'X': has a duration; 's', 'f': ends of an arrow; 'M': names a process
  std::string_view name, category, process, thread, id;
  std::string_view start_us, duration_us;
  // Of its arguments:
  std::string_view task_type, stream, labels;
  std::string_view external_id, correlation, connection;
  std::string_view input_dims, input_types, concrete_inputs;
};

/// What a file of JSON is, by its beginning.
enum class TraceKind { none, trace, execution_trace };
TraceKind recognise_trace(std::string_view beginning);

/// A longer event has lost a quote or a bracket.
inline constexpr std::size_t kLongestEvent = std::size_t{1} << 20;

/// The events of a Chrome trace in one pass: a list, or an object with the list "traceEvents", with
/// or without their end. An event that is no JSON is skipped, and reading goes on with the next
/// object behind its beginning.
class TraceReader {
 public:
  TraceReader(ByteWindow window, std::string file);
  ~TraceReader();

  /// The next event. Returns false at the end.
  bool next();
  const TraceEvent& event() const { return event_; }
  /// The line on which the event begins, from 1 on.
  std::int64_t line() const { return line_; }
  /// Leaves the event out for a reason of the caller's.
  void skip(const std::string& reason) { skipped_.add(line_, reason); }
  const SkippedLines& skipped() const { return skipped_; }

 private:
  struct Parser;

  void find_list();
  bool find_object();
  void drop(std::size_t bytes);
  bool scan_object();
  void recover(const std::string& reason);

  ByteWindow window_;
  SkippedLines skipped_;
  std::unique_ptr<Parser> parser_;
  TraceEvent event_;
  std::int64_t line_ = 1;
  std::size_t length_ = 0;  ///< of the object at the beginning of the window
  std::int64_t lines_inside_ = 0;
  std::size_t read_again_ = 0;  ///< bytes that were looked at more than once
  bool is_begun_ = false, is_object_ = false, is_ended_ = false;
};

/// The inputs of an operator as PyTorch's traces write them, "[[32, 3, 224, 224], [], [[2], [3]]]"
/// or "32,3,224,224;\r\n;\r\n", as tables of tasks do: "32,3,224,224;;[2][3]". Tensors of a list
/// stand in brackets; what is no tensor has no extents.
void append_input_shapes(std::string_view dims, std::string& to);

/// Types of them, `["float", "Scalar", ""]` or "float;\r\nScalar", as "FLOAT;Scalar;". Tensors'
/// types are spelled as tables of tasks do; what is no tensor keeps its name.
void append_input_dtypes(std::string_view types, std::string& to);

/// Values of what is no tensor, `["", "[1, 1]", "False"]`, as ";[1, 1];False".
void append_input_values(std::string_view values, std::string& to);

/// The same without what is no whole number, list or flag: learning rates change with every step.
void append_steady_values(std::string_view values, std::string& to);

/// Calls of an operator of the framework with equal inputs. Of nested ones, such as aten::conv2d >
/// aten::convolution > aten::cudnn_convolution, a kernel belongs to the innermost, or to the
/// innermost with shapes if there are any.
struct TraceOperator {
  std::string name;
  std::string input_shapes, input_dtypes;  ///< as `append_input_shapes` and `.._dtypes` write them
  std::string input_values;                ///< of the first call: attributes; empty: not recorded
  bool has_shapes = false;
  SourceRow first;
  std::int64_t calls = 0;
  std::int64_t launching = 0;     ///< calls to which kernels belong
  DeviceTime kernels;             ///< computing and communication
  DeviceTime copies;              ///< between memories
  std::int64_t step_ps = 0;       ///< of computing, in steps, overlap counted once
  std::int64_t host_self_ns = 0;  ///< without operators inside
};

/// Device time of a span, summed over devices; what overlaps counts for the first of these that it
/// is.
struct BusyTime {
  std::int64_t computing_ps = 0, communication_ps = 0, copies_ps = 0;
  std::int64_t overlapped_ps = 0;  ///< of communication, while something computes
};

/// A step that the trace marks: ProfilerStep#N of PyTorch, Iteration N of MindSpore.
struct TraceStep {
  std::string name, file;
  std::int64_t duration_ps = 0;
  std::int64_t devices = 0;
  BusyTime busy;
};

/// What traces tell beyond single tasks: operators of the host, whose kernels are whose, steps.
class TraceProfile {
 public:
  std::int64_t events = 0;
  std::map<std::string, std::int64_t> phases, categories;
  /// Rows of devices that neither compute nor communicate, by what the trace calls them: copies,
  /// waits, marks.
  std::map<std::string, DeviceTime> others;
  std::vector<TraceStep> steps;
  std::vector<TraceStep> table_steps;  ///< of step_trace_time.csv: for want of those of a trace
  bool are_steps_of_table = false;     ///< which then are `steps`
  BusyTime busy;                       ///< of whole traces
  /// From the first to the last task of each device of each trace, and how many these are.
  std::int64_t span_ps = 0, spans = 0;

  std::int64_t host_operators = 0, host_operators_with_shapes = 0;
  std::int64_t kernels = 0, linked_kernels = 0;
  std::int64_t kernels_without_row = 0;  ///< in no table that was read with the trace
  /// Places in `operators` of the calls of the first trace that launched something, in the order of
  /// their starts, up to a limit.
  std::vector<std::uint32_t> sequence;
  std::int64_t lost = 0;  ///< operators and kernels beyond what is kept to tie them together

  void count_other(std::string_view name, const DeviceTask& task);

  /// The place in `operators` of the one that the event calls.
  std::uint32_t operator_of(const TraceEvent& event, const std::string& file, std::int64_t line);
  std::vector<TraceOperator>& operators() { return operators_; }
  const std::vector<TraceOperator>& operators() const { return operators_; }
  bool is_empty() const {
    return events == 0 && operators_.empty() && steps.empty() && others.empty();
  }
  /// By device time, those without by their own time on the host.
  std::vector<const TraceOperator*> by_time() const;

  /// Of all steps and devices.
  std::int64_t step_ps() const;
  /// Of the steps; 0 without.
  double step_share(std::int64_t picoseconds) const;

 private:
  std::vector<TraceOperator> operators_;
  std::unordered_map<std::string, std::uint32_t> by_key_;
  std::string key_;
};

/// The type that a task's name holds, "aclnnAddmm_MatMulCommon_MatMulV2" and ".../Cast-op239" of
/// MindSpore; empty where it holds none.
std::string_view type_of_task_name(std::string_view name);

/// Counts under a name, up to so many different ones as no profile has.
void count_name(std::map<std::string, std::int64_t>& counts, std::string_view name);

}  // namespace opbench
