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

/// A tensor that a neighbourhood is given.
struct NeighbourInput {
  std::string name;
  Dims shape;
  DType dtype = DType::fp32;
  bool states_dtype = false;     ///< it does not follow that of the context
  std::optional<Format> format;  ///< a private one in which it arrives
  bool is_parameter = false;
};

struct NeighbourNode {
  std::size_t call = 0;
  std::string name;
  Case spec;
  std::vector<std::string> inputs, outputs;
  std::vector<std::string> ambiguous;  ///< inputs that could be another tensor as well
};

/// An operator and those around it, as a context.
struct Neighbourhood {
  DType dtype = DType::fp32;  ///< of the operator in the middle
  std::vector<NeighbourInput> inputs;
  std::vector<NeighbourNode> nodes;  ///< in the order in which they ran
  std::vector<std::string> outputs;
  std::string centre;  ///< the node
  bool has_producer = false, has_consumer = false;
  std::size_t edges = 0, ambiguous = 0;
  std::size_t trans_data = 0, casts = 0;  ///< seen through: a context plans its own
  std::vector<std::string> left_out;      ///< what ends it, a line each
};

/// The operators that make what `centre`, a case, takes, and those that take what it makes, up to
/// `depth` steps. Conversions of the format are no steps, nor are casts around operators of the
/// cube unit that take and give fp16 where all around is fp32. What is no case ends it.
Neighbourhood neighbourhood_of(const std::vector<NetworkCall>& calls, std::size_t centre,
                               int depth);

/// Which operator stands in the middle of a context, and how much is around it.
struct ContextWish {
  /// A type, or a part of a type or of a task's name, in any case; empty: the hottest operator.
  std::string around;
  int depth = 2;
};

/// Why there is no context: what was read has no order, or no such operator.
struct NoContext : Error {
  using Error::Error;
};

/// A piece of a network around one call of an operator.
struct NetworkContext {
  std::vector<std::unique_ptr<NetworkOperator>> operators;  ///< of the calls
  std::vector<NetworkCall> calls;
  std::size_t centre = 0;
  std::string stream;     ///< empty: the file does not tell
  std::int64_t late = 0;  ///< tasks of the table that came too late to be put in order
  Neighbourhood found;
};

/// The context of an operator of the tables kernel_details and op_summary, which are read once
/// more, or else of the logs. Conversions of the format are never in the middle. The first call
/// around which something makes its inputs and something takes its results; else the one with the
/// most around it. Where `stop` says so, reading ends.
/// Errors: throws NoContext where nothing that was read has an order, or has no such operator that
/// can be a case; Error if a table cannot be read again.
NetworkContext context_of(const IngestResult& profile, const ContextWish& wish,
                          const std::function<bool()>& stop);

/// A case file (docs/contexts.md) that `opbench run --cases` and `opbench remedy --cases` take.
void write_context_file(std::ostream& out, const NetworkContext& context, const ContextWish& wish);

/// What the context has, and what it was left out of it.
void print_network_context(std::ostream& out, const NetworkContext& context,
                           const ContextWish& wish, const ReportLayout& layout);

}  // namespace opbench
