#pragma once

#include <nlohmann/json_fwd.hpp>

#include "profiles/host_log.h"
#include "profiles/report_lines.h"

namespace opbench {

/// Calls by how often, and what compiles after `steps` marks.
void print_logs(ReportLines& lines, const HostLogs& logs, std::int64_t steps);

/// Everything.
nlohmann::ordered_json logs_value(const HostLogs& logs, std::int64_t steps);

}  // namespace opbench
