#pragma once

#include <nlohmann/json_fwd.hpp>

#include "harness/run/step_details.h"

namespace opbench {

class JsonValue;

/// What a record's columns do not hold of its step: {"context", "summary", "after", "index",
/// "types": [{"type", "count", "total_us", ...}], "tasks": [{"name", "type", "kernel", "cause",
/// "start_us", "duration_us", "inputs": [tensor], "outputs": [tensor]}]}, where a tensor is
/// {"dtype", "shape": "8x58x28x28", "origin", "format"}, "c0" where the format has blocks and
/// "groups" for FRACTAL_Z.
nlohmann::ordered_json step_value(const StepDetails& step);

/// The same back, in two parts: columns are read between them, and a step without its lists is
/// cheap to copy. Errors: throws Error with file, place, what was found and what is allowed.
StepDetails read_step_texts(const JsonValue& value);
void read_step_lists(const JsonValue& value, StepDetails& step);

}  // namespace opbench
