#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <unordered_map>
#include <utility>
#include <vector>

#include "profiles/layers.h"
#include "profiles/trace_profile.h"

namespace opbench {

/// Rows of tables by start time, so that a trace of the same run finds them.
using RowsByStart = std::vector<std::pair<std::int64_t, HotOperator*>>;

/// The number of an id; other texts are identified by their hash.
std::int64_t parse_id(std::string_view text);
/// -1 for an empty text.
std::int64_t id_or_none(std::string_view text);

/// Operators of a framework, calls of the runtime, and kernels of a GPU, by category and process.
bool is_operator(const TraceEvent& event);
bool is_runtime(const TraceEvent& event);
bool is_kernel(const TraceEvent& event);

/// The most events of each kind that a timeline keeps.
inline constexpr std::size_t kMostKept = 8'000'000;

/// Kinds of activity of a device.
enum class SpanKind : std::uint8_t { computing, communication, copy };

/// A time in which a device was busy.
struct DeviceSpan {
  static constexpr std::uint32_t kNone = UINT32_MAX;
  std::int64_t start_ns = 0, duration_ps = 0;
  HotOperator* task = nullptr;                   ///< the operator that includes it, if any
  std::int64_t correlation = -1, external = -1;  ///< ids in the trace; -1: not set
  std::uint32_t device = 0;
  std::uint32_t host = kNone;  ///< place of the operator that launched it
  SpanKind kind = SpanKind::computing;
  bool is_cut = false;  ///< the first piece of a span with others inside
};

/// A further piece of a span that was cut.
struct SpanPiece {
  std::uint32_t span = 0;  ///< its place
  std::int64_t start_ns = 0, duration_ps = 0;
};

/// The profiler of PyTorch before Kineto measures operators by events of the device, so that the
/// span of an operator includes those of the operators inside. Cuts these out of the spans at
/// `places`: each keeps its first piece, the others are returned.
std::vector<SpanPiece> cut_nested(std::vector<DeviceSpan>& spans,
                                  const std::vector<std::uint32_t>& places);

/// A call of an operator on a thread of the host.
struct HostCall {
  std::int64_t start_ns = 0, end_ns = 0;
  std::uint32_t op = 0, thread = 0, external = 0;
  std::uint32_t thread_id = 0;  ///< of any process: a thread is in several processes of a trace
};

/// A kernel of a GPU; its type is the operator that launched it.
struct GpuKernel {
  std::size_t span = 0;  ///< place among all spans
  std::uint32_t name = 0, stream = 0;
  std::int64_t line = 0;
  int duration_digits = 0;
  std::int64_t own_ps = 0;  ///< duration without the spans inside
};

/// Time and thread of a launch on the host.
struct HostLaunch {
  std::int64_t id = 0, time_ns = 0;
  std::uint32_t thread = 0;
};

/// The events of one trace in time. Memory grows with operators and kernels of the trace, up to a
/// limit; beyond it they are only counted.
class Timeline {
 public:
  /// Tasks go to `spots`, unless `rows` of tables include them already. The rows are ordered by
  /// time.
  Timeline(std::string file, HotSpots& spots, TraceProfile& profile, const RowsByStart* rows)
      : file_(std::move(file)), spots_(spots), profile_(profile), rows_(rows) {}

  /// Adds an event; the order is arbitrary. Events without a use are counted. Returns false for an
  /// event without a time, which is skipped.
  bool add_event(TraceReader& reader);
  /// Links kernels to operators and attributes the time of steps. Must be called last.
  void finish();

 private:
  struct Moment {
    std::int64_t start_ns = 0, end_ns = 0, duration_ps = 0;
    int digits = 0;
  };
  struct Window {
    std::int64_t start_ns = 0, end_ns = 0;
    std::string name;
  };

  bool read_moment(TraceReader& reader, Moment& moment) const;
  bool add_span(TraceReader& reader);
  void add_arrow(const TraceEvent& event);
  std::optional<SpanKind> kind_of(const TraceEvent& event) const;
  void add_call(const TraceReader& reader, const Moment& moment);
  std::string_view process_name(const TraceEvent& event) const;
  void add_layer_call(const TraceEvent& event, const Moment& moment, Layer layer);
  void add_host_span(const TraceEvent& event);
  void add_device_span(const TraceReader& reader, const Moment& moment, SpanKind kind);
  HotOperator* task_of(const TraceReader& reader, const Moment& moment);
  HotOperator* row_of(const TraceEvent& event, const Moment& moment);
  std::vector<SpanPiece> cut_operators(const std::vector<std::string_view>& texts);
  void add_gpu_tasks();
  void add_layer_times();
  std::uint32_t number_of(std::unordered_map<std::string, std::uint32_t>& all,
                          std::string_view first, std::string_view second);
  std::uint32_t number_of(std::string_view text);
  void cut_windows();
  void add_idle_time();

  std::string file_;
  HotSpots& spots_;
  TraceProfile& profile_;
  const RowsByStart* rows_;
  std::vector<HostCall> calls_;
  std::vector<HostSpan> host_spans_;
  std::vector<DeviceSpan> spans_;
  std::vector<GpuKernel> kernels_;
  std::vector<LayerCall> layer_calls_;
  std::vector<HostLaunch> launches_, arrows_;
  std::vector<HostLaunch> host_to_device_;  ///< launches of the runtime
  /// Start times and ids.
  std::vector<std::pair<std::int64_t, std::int64_t>> arrow_ends_, on_device_;
  std::vector<Window> windows_;
  std::unordered_map<std::string, std::uint32_t> threads_, thread_ids_, devices_;
  std::unordered_map<std::string, std::uint32_t> texts_;  ///< names and streams of GPU kernels
  std::unordered_map<std::string, std::string> labels_, process_names_;
  std::string key_;
};

/// Sets the call that launched each span. Sources: runtime calls, arrows of the trace and the calls
/// around them, or its external id. `calls` become sorted; kernels and calls are counted in
/// `profile`.
struct LaunchTable {
  std::vector<HostLaunch>& launches;  ///< by correlation
  std::vector<HostLaunch>& arrows;    ///< by the arrow's id
  std::vector<std::pair<std::int64_t, std::int64_t>>& arrow_ends;
};
void link_spans(std::vector<DeviceSpan>& spans, std::vector<HostCall>& calls, LaunchTable table,
                TraceProfile& profile);

/// Attributes the time of spans, which it sorts by start. Overlapping time counts once, for the
/// span that began first, with computing before communication before copies. Steps are ordered by
/// time and do not overlap; `step_starts` are their start times.
void attribute_time(std::vector<DeviceSpan>& spans, std::span<TraceStep> steps,
                    const std::vector<std::int64_t>& step_starts_ns, std::size_t devices,
                    TraceProfile& profile);

}  // namespace opbench
