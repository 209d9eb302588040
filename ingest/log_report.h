#pragma once

#include <cstddef>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>

#include "ingest/host_log.h"

namespace opbench {

/// Calls by how often, and what compiles after `steps` marks. `top`: rows; 0: all.
void print_logs(std::ostream& out, const HostLogs& logs, std::int64_t steps, std::size_t top);

/// Everything.
nlohmann::ordered_json logs_value(const HostLogs& logs, std::int64_t steps);

}  // namespace opbench
