#pragma once

#include <nlohmann/json_fwd.hpp>

#include "harness/run/machine.h"
#include "harness/run/run_result.h"
#include "harness/run/step_details.h"

namespace opbench {

class JsonValue;

/// Parts of a results file as JSON values. harness/run/results_file.h describes their contents.
nlohmann::ordered_json machine_value(const Machine& machine);
/// Value of a run without its records.
nlohmann::ordered_json run_value(const RunResult& result);
nlohmann::ordered_json record_value(const Record& record);

/// Inverse functions.
/// Errors: throws Error with file, place, the value found and the allowed values.
Machine read_machine(const JsonValue& value);
RunResult read_run(const JsonValue& value);
/// Returns the version of a format, at `key`. Errors: throws Error if it is later than `newest`.
int read_version(const JsonValue& root, const char* key, int newest);
/// `version`: format version of the value.
Record read_record(const JsonValue& value, int version);

/// Parts of a step that are not columns of its record: {"context", "summary", "after", "index",
/// "types": [{"type", "count", "total_us", ...}], "tasks": [{"name", "type", "kernel", "cause",
/// "start_us", "duration_us", "inputs": [tensor], "outputs": [tensor]}]}, where a tensor is
/// {"dtype", "shape": "8x58x28x28", "origin", "format"}, "c0" if the format has blocks and "groups"
/// for FRACTAL_Z.
nlohmann::ordered_json step_value(const StepDetails& step);

/// Inverse of `step_value`, in two parts: columns are read between them, and a step without its
/// lists is cheap to copy.
/// Errors: throws Error with file, place, the value found and the allowed values.
StepDetails read_step_texts(const JsonValue& value);
void read_step_lists(const JsonValue& value, StepDetails& step);

}  // namespace opbench
