#pragma once

#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <vector>

#include "ingest/findings.h"
#include "text/console_colour.h"

namespace opbench {

/// For people: how much of the steps the device worked, and each finding with its evidence.
void print_findings(std::ostream& out, const std::vector<Finding>& findings, const HotSpots& spots,
                    const CoreCounts& cores, const ConsoleStyle& style);

/// [{"rule", "what", "warning", "share", "share_of_steps", "evidence": [{"text", "file", "line"}],
/// "advice", "try"}]
nlohmann::ordered_json findings_value(const std::vector<Finding>& findings);

/// {"known", "steps", "span_us", "busy_us"}: what start times tell of the tasks' order.
nlohmann::ordered_json order_value(const TaskOrder& order);

}  // namespace opbench
