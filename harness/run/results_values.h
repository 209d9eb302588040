#pragma once

#include <nlohmann/json_fwd.hpp>

#include "harness/run/machine.h"
#include "harness/run/run_result.h"

namespace opbench {

class JsonValue;

/// The parts of a results file as JSON values: harness/run/results_file.h says what they hold.
nlohmann::ordered_json machine_value(const Machine& machine);
/// Of a run without its records.
nlohmann::ordered_json run_value(const RunResult& result);
nlohmann::ordered_json record_value(const Record& record);

/// The same back. Errors: throws Error with file, place, what was found and what is allowed.
Machine read_machine(const JsonValue& value);
RunResult read_run(const JsonValue& value);
/// `version`: of the format that the value was written in.
Record read_record(const JsonValue& value, int version);

}  // namespace opbench
