#pragma once

#include <string>
#include <vector>

namespace opbench {

/// The records of `dump` that a report finds wrong ("/softplus/2"), in the report's order, each
/// once. From compare.json of `opbench compare -o`: records with a tensor that failed; `dump` is
/// either of the two files. From the JSON of `opbench judge`: records that are GUILTY. A file
/// matches if it is the same file, or else has the same name. Errors: throws Error if it is
/// another file, or a report on other dumps.
std::vector<std::string> failed_records(const std::string& report, const std::string& dump);

}  // namespace opbench
