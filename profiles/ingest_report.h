#pragma once

#include <cstdint>
#include <iosfwd>
#include <map>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "profiles/findings.h"
#include "profiles/host_log.h"
#include "profiles/report_lines.h"
#include "profiles/trace_profile.h"

namespace opbench {

/// Prints each finding with its evidence.
void print_findings(ReportLines& lines, const std::vector<Finding>& findings,
                    const IngestResult& result, const CoreCounts& cores);

/// [{"rule", "what", "warning", "saves", "estimate", "share", "share_of_steps", "evidence":
/// [{"text", "file", "line"}], "advice", "try"}]
nlohmann::ordered_json findings_value(const std::vector<Finding>& findings);

/// {"known", "steps", "span_us", "busy_us"}: the order of tasks from their start times.
nlohmann::ordered_json order_value(const TaskOrder& order);

/// {key: count}
nlohmann::ordered_json counts_value(const std::map<std::string, std::int64_t>& counts);

/// {"of": "step" or "profile", "count", "mean_us", "whole_us", "computing_us", ..., "idle_us",
/// "host": null or {"both_us", "host_alone_us", "device_alone_us", "neither_us", ...}}, over all
/// steps on all devices; null if no step is known.
nlohmann::ordered_json step_value(const IngestResult& result);

/// Prints calls by count, and the operators that compile after `steps` marks.
void print_logs(ReportLines& lines, const HostLogs& logs, std::int64_t steps);

/// All contents of the logs.
nlohmann::ordered_json logs_value(const HostLogs& logs, std::int64_t steps);

/// "aten::addmm 128;5,128;128,128 FLOAT;FLOAT;FLOAT".
std::string signature(const TraceOperator& one);

/// Prints the memory of operators, the largest first; prints nothing if none was profiled.
void print_memory(ReportLines& lines, const TraceProfile& trace);

/// {"host_bytes", "host_self_bytes", "device_bytes", "device_self_bytes"}, or null.
nlohmann::ordered_json memory_value(const std::optional<OperatorMemory>& memory);

/// Prints the time in each layer, of all operators and by operator; prints nothing without calls of
/// CANN.
void print_layers(ReportLines& lines, const TraceProfile& trace);

/// {"framework_us", "ascendcl_us", "ge_us", "runtime_us", "scheduler_us", "device_us"}
nlohmann::ordered_json layers_value(const LayerTimes& times);

/// Prints steps, the busy time of devices in them, and operators of the host by the time of their
/// kernels. Prints nothing if no trace was read.
void print_trace(ReportLines& lines, const TraceProfile& trace);

/// All contents of the traces; null if no trace was read.
nlohmann::ordered_json trace_value(const TraceProfile& trace);

/// Inputs of a report in addition to the profile.
struct IngestReport {
  ReportLayout layout;
  CoreCounts cores;
  std::vector<Finding> findings;
  bool is_brief = false;  ///< prints only time and files, for a report before another
};

/// Prints time, files, findings, times by type and by operator, groups, waits, and the check of the
/// statistic.
void print_ingest(std::ostream& out, const IngestResult& result, const IngestReport& report);

/// Writes all results, with all operators.
void write_ingest_json(std::ostream& out, const IngestResult& result,
                       const std::vector<Finding>& findings, const std::string& command_line);

/// Writes a line for each operator, the longest time first.
void write_ingest_csv(std::ostream& out, const IngestResult& result);

}  // namespace opbench
