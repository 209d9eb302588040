#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "profiles/report_lines.h"
#include "profiles/trace_profile.h"

namespace opbench {

/// "aten::addmm 128;5,128;128,128 FLOAT;FLOAT;FLOAT".
std::string signature(const TraceOperator& one);

/// For people: steps and how busy devices were in them, and operators of the host by the time of
/// their kernels. Nothing where no trace was read.
void print_trace(ReportLines& lines, const TraceProfile& trace);

/// Everything; null where no trace was read.
nlohmann::ordered_json trace_value(const TraceProfile& trace);

}  // namespace opbench
