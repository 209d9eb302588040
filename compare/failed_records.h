#pragma once

#include <string>
#include <vector>

namespace opbench {

/// The records of `dump` ("/softplus/2", in the report's order, each once) that a report finds
/// wrong: those with a tensor that failed, by compare.json of `opbench compare -o`, of which `dump`
/// is either of the two files; those that are GUILTY, by the JSON of `opbench judge`. Files are
/// told by what they are, else by their names. Errors: throws Error if it is no such report, or one
/// of other dumps.
std::vector<std::string> failed_records(const std::string& report, const std::string& dump);

}  // namespace opbench
