#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "profiles/host_time.h"
#include "profiles/hot_spots.h"
#include "profiles/line_reader.h"

namespace opbench {

/// An event of a Chrome trace. Texts are valid until the next event; empty if the event does not
/// have them. Numbers are texts, so that times keep their digits. Lists and objects are JSON.
struct TraceEvent {
  char phase = 0;  ///< 'X': has a duration; 's', 'f': ends of an arrow; 'M': names a process
  std::string_view name, category, process, thread, id;
  std::string_view start_us, duration_us;
  // These are from the arguments of the event:
  std::string_view task_type, stream, labels, process_name;
  std::string_view external_id, correlation, connection;
  std::string_view input_dims, input_types, concrete_inputs;
};

/// Kinds of JSON files.
enum class TraceKind { none, trace, execution_trace };
TraceKind recognise_trace(std::string_view beginning);

/// The longest event; a longer event lacks a quote or a bracket.
inline constexpr std::size_t kLongestEvent = std::size_t{1} << 20;

/// Reads the events of a Chrome trace in one pass: a list, or an object with the list
/// "traceEvents", complete or truncated. After an event that is not JSON, reading continues with
/// the next object after its beginning.
class TraceReader {
 public:
  TraceReader(ByteWindow window, std::string file);
  ~TraceReader();

  /// Reads the next event. Returns false at the end.
  bool next();
  const TraceEvent& event() const { return event_; }
  /// The line on which the event begins; numbers begin at 1.
  std::int64_t line() const { return line_; }
  /// Counts the event as skipped, with the caller's reason.
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
  std::size_t length_ = 0;  ///< length of the object at the beginning of the window
  std::int64_t lines_inside_ = 0;
  std::size_t read_again_ = 0;  ///< bytes that were read more than once
  bool is_begun_ = false, is_object_ = false, is_ended_ = false;
};

/// Converts the inputs of an operator to the format of tables of tasks. PyTorch's traces write
/// "[[32, 3, 224, 224], [], [[2], [3]]]" or "32,3,224,224;\r\n;\r\n"; tables have
/// "32,3,224,224;;[2][3]". Tensors of a list are in brackets. Inputs that are not tensors have no
/// extents.
void append_input_shapes(std::string_view dims, std::string& to);

/// Converts types of inputs, `["float", "Scalar", ""]` or "float;\r\nScalar", to "FLOAT;Scalar;".
/// Types of tensors get the spelling of tables of tasks; other types keep their names.
void append_input_dtypes(std::string_view types, std::string& to);

/// Converts values of other inputs than tensors, `["", "[1, 1]", "False"]`, to ";[1, 1];False".
void append_input_values(std::string_view values, std::string& to);

/// Appends values and replaces fractions by "#", since learning rates change with every step.
void append_steady_values(std::string_view values, std::string& to);

/// Layers between the program and the device. The time in the scheduler is from the launch of a
/// task to its start.
enum class Layer : std::uint8_t { framework, ascendcl, ge, runtime, scheduler, device };
inline constexpr std::size_t kLayers = 6;
using LayerTimes = std::array<std::int64_t, kLayers>;  ///< nanoseconds

/// Memory that an operator allocated less the memory that it freed, in bytes; `self`: without
/// operators inside.
struct OperatorMemory {
  std::int64_t host = 0, host_self = 0, device = 0, device_self = 0;
};

/// Calls of an operator of the framework with equal inputs. Calls can be nested: aten::conv2d >
/// aten::convolution > aten::cudnn_convolution. A kernel belongs to the innermost call with shapes;
/// without shapes, to the innermost call.
struct TraceOperator {
  std::string name;
  std::string input_shapes, input_dtypes;  ///< by `append_input_shapes` and `.._dtypes`
  std::string input_values;                ///< of the first call; empty: not recorded
  bool has_shapes = false;
  SourceRow first;
  std::int64_t calls = 0;
  std::int64_t launching = 0;     ///< calls that launched kernels
  DeviceTime kernels;             ///< time of computing and communication
  DeviceTime copies;              ///< time of copies between memories
  std::int64_t step_ps = 0;       ///< time of computing in steps; overlapping time counts once
  std::int64_t host_self_ns = 0;  ///< time without operators inside
  LayerTimes layers_ns = {};
  std::optional<OperatorMemory> memory = std::nullopt;  ///< set if it was profiled
  std::int64_t idle_ns = 0;  ///< the part of it in which devices are idle, over all devices
};

/// Device time of a span, summed over devices. Overlapping time counts for the first of the three
/// kinds.
struct BusyTime {
  std::int64_t computing_ps = 0, communication_ps = 0, copies_ps = 0;
  std::int64_t overlapped_ps = 0;  ///< time of communication while something computes
};

/// A step that the trace marks: ProfilerStep#N of PyTorch, Iteration N of MindSpore.
struct TraceStep {
  std::string name, file;
  std::int64_t duration_ps = 0;
  std::int64_t devices = 0;
  BusyTime busy;
};

/// Results of traces beyond single tasks: operators of the host, their kernels, and steps.
class TraceProfile {
 public:
  std::int64_t events = 0;
  std::map<std::string, std::int64_t> phases, categories;
  /// Rows of devices that neither compute nor communicate, by their name in the trace: copies,
  /// waits, marks.
  std::map<std::string, DeviceTime> others;
  std::vector<TraceStep> steps;
  std::vector<TraceStep> table_steps;  ///< of step_trace_time.csv; used without steps of a trace
  bool are_steps_of_table = false;     ///< `steps` are `table_steps`
  BusyTime busy;                       ///< time of whole traces
  HostTime host;                       ///< of traces with operators of the host and device tasks
  /// The sum of times from the first to the last task of each device of each trace, and the number
  /// of these times.
  std::int64_t span_ps = 0, spans = 0;

  std::int64_t host_operators = 0, host_operators_with_shapes = 0;
  LayerTimes layers_ns = {};
  bool has_layers = false;  ///< the trace has calls of CANN
  std::int64_t kernels = 0, linked_kernels = 0;
  std::int64_t kernels_without_row = 0;  ///< kernels that are in no table read with the trace
  /// Calls of the first trace that launched something, as places in `operators`, ordered by start
  /// time, up to a limit.
  std::vector<std::uint32_t> sequence;
  std::int64_t lost = 0;  ///< operators and kernels beyond the limit for links

  void count_other(std::string_view name, const DeviceTask& task);

  /// The place in `operators` of the operator that the event calls.
  std::uint32_t operator_of(const TraceEvent& event, const std::string& file, std::int64_t line);
  std::vector<TraceOperator>& operators() { return operators_; }
  const std::vector<TraceOperator>& operators() const { return operators_; }
  bool is_empty() const {
    return events == 0 && operators_.empty() && steps.empty() && others.empty();
  }
  /// Sorted by device time, then by their own time on the host.
  std::vector<const TraceOperator*> by_time() const;

  /// The time of all steps on all devices.
  std::int64_t step_ps() const;
  /// A share of the time of steps; 0 without steps.
  double step_share(std::int64_t picoseconds) const;

 private:
  std::vector<TraceOperator> operators_;
  std::unordered_map<std::string, std::uint32_t> by_key_;
  std::string key_;
};

/// The type in a task's name, "aclnnAddmm_MatMulCommon_MatMulV2" and ".../Cast-op239" of MindSpore.
/// Empty if the name has no type.
std::string_view type_of_task_name(std::string_view name);

/// Increments the count of a name. The number of different names is limited.
void count_name(std::map<std::string, std::int64_t>& counts, std::string_view name);

}  // namespace opbench
