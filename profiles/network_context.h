#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "profiles/call_graph.h"
#include "profiles/hot_spots.h"
#include "profiles/ingest.h"
#include "profiles/report_lines.h"
#include "tensor/error.h"

namespace opbench {

/// A task in the sequence of its stream.
struct SequencedTask {
  const HotOperator* op = nullptr;  ///< includes it; lives as long as the hot spots
  std::string name;                 ///< truncated if it is long
  std::int64_t line = 0;
};

/// The tasks of one stream around one task, ordered by start time.
struct TaskWindow {
  std::vector<SequencedTask> tasks;
  std::size_t centre = 0;
  std::string device, stream;
};

/// The windows of one table.
struct TaskWindows {
  std::vector<TaskWindow> windows;  ///< ordered by their centres
  std::int64_t without_start = 0;   ///< tasks without a start time; they have no place
  std::int64_t late = 0;            ///< tasks that came too late to be sorted; they are skipped
};

struct WindowLimits {
  std::size_t windows = 8;    ///< windows around the first centres, at most this number
  std::size_t reach = 512;    ///< tasks before and after a centre
  std::size_t sorted = 4096;  ///< a task may come this number of rows too late
};

/// Reads a table of tasks again, up to the end of the last window or until `stop` returns true.
/// `spots` includes its tasks. Windows do not include communication. Memory is that of the windows.
/// Errors: throws Error if the file cannot be read or is not such a table.
TaskWindows windows_around(
    const std::string& path, const HotSpots& spots,
    const std::function<bool(const DeviceTask&, const HotOperator&)>& is_centre,
    const std::function<bool()>& stop, const WindowLimits& limits = {});

/// An input tensor of a neighbourhood.
struct NeighbourInput {
  std::string name;
  Dims shape;
  DType dtype = DType::fp32;
  bool states_dtype = false;     ///< its dtype differs from that of the context
  std::optional<Format> format;  ///< the private format in which it arrives, if any
  bool is_parameter = false;
};

struct NeighbourNode {
  std::size_t call = 0;
  std::string name;
  Case spec;
  std::vector<std::string> inputs, outputs;
  std::vector<std::string> ambiguous;  ///< inputs that could be another tensor too
};

/// An operator and its neighbours, as a context.
struct Neighbourhood {
  DType dtype = DType::fp32;  ///< dtype of the operator in the middle
  std::vector<NeighbourInput> inputs;
  std::vector<NeighbourNode> nodes;  ///< in the order in which they ran
  std::vector<std::string> outputs;
  std::string centre;  ///< the name of the node in the middle
  bool has_producer = false, has_consumer = false;
  std::size_t edges = 0, ambiguous = 0;
  std::size_t trans_data = 0, casts = 0;  ///< skipped conversions; a context plans its own
  std::vector<std::string> left_out;      ///< a line for each reason why the neighbourhood ends
};

/// The operators that make the inputs of `centre`, which is a case, and those that read its
/// results, up to `depth` steps. Conversions of the format are not steps. Casts around fp16
/// operators of the cube unit are not steps either, if all tensors around them are fp32. An
/// operator that cannot be a case ends the neighbourhood.
Neighbourhood neighbourhood_of(const std::vector<NetworkCall>& calls, std::size_t centre,
                               int depth);

/// The requested operator in the middle of a context, and the size of its neighbourhood.
struct ContextWish {
  /// A type, or a part of a type or of a task's name, in upper or lower case. Empty: the hottest
  /// operator.
  std::string around;
  int depth = 2;
};

/// Thrown if there is no context: the input has no order, or no such operator.
struct NoContext : Error {
  using Error::Error;
};

/// A part of a network around one call of an operator.
struct NetworkContext {
  std::vector<std::unique_ptr<NetworkOperator>> operators;  ///< the operators of the calls
  std::vector<NetworkCall> calls;
  std::size_t centre = 0;
  std::string stream;     ///< empty if the file does not have it
  std::int64_t late = 0;  ///< tasks of the table that came too late to be sorted
  Neighbourhood found;
};

/// The context of an operator in the tables kernel_details and op_summary, which are read again;
/// otherwise in the logs. Conversions of the format are never in the middle. Takes the first call
/// with both a maker of its inputs and a reader of its results; otherwise the call with the most
/// neighbours. Reading ends when `stop` returns true. Errors: throws NoContext if no input has an
/// order, or no such operator can be a case; Error if a table cannot be read again.
NetworkContext context_of(const IngestResult& profile, const ContextWish& wish,
                          const std::function<bool()>& stop);

/// A case file (docs/contexts.md) that `opbench run --cases` and `opbench remedy --cases` take.
void write_context_file(std::ostream& out, const NetworkContext& context, const ContextWish& wish);

/// Prints the operators of the context and those left out of it.
void print_network_context(std::ostream& out, const NetworkContext& context,
                           const ContextWish& wish, const ReportLayout& layout);

}  // namespace opbench
