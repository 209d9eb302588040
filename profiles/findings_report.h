#pragma once

#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "profiles/findings.h"
#include "profiles/host_log.h"
#include "profiles/report_lines.h"

namespace opbench {

/// For people: each finding with its evidence.
void print_findings(ReportLines& lines, const std::vector<Finding>& findings,
                    const IngestResult& result, const CoreCounts& cores);

/// [{"rule", "what", "warning", "share", "share_of_steps", "evidence": [{"text", "file", "line"}],
/// "advice", "try"}]
nlohmann::ordered_json findings_value(const std::vector<Finding>& findings);

/// {"known", "steps", "span_us", "busy_us"}: what start times tell of the tasks' order.
nlohmann::ordered_json order_value(const TaskOrder& order);

/// {"of": "step" or "profile", "count", "mean_us", "whole_us", "computing_us", ..., "idle_us"}, of
/// all steps on all devices; null where no step is known.
nlohmann::ordered_json step_value(const IngestResult& result);

/// Calls by how often, and what compiles after `steps` marks.
void print_logs(ReportLines& lines, const HostLogs& logs, std::int64_t steps);

/// Everything.
nlohmann::ordered_json logs_value(const HostLogs& logs, std::int64_t steps);

}  // namespace opbench
