#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "harness/plan/case_selection.h"
#include "text/json_reader.h"

namespace opbench::check {

inline constexpr std::int64_t kLargestCount = std::numeric_limits<int>::max();

/// A whole number of that range. Errors: throws Error with the place.
int whole(const JsonValue& value, std::int64_t least, std::int64_t most);
/// A list of texts. Errors: throws Error with the place.
std::vector<std::string> texts(const JsonValue& value);

/// Symbols by name: {"N": 8}.
nlohmann::ordered_json symbols_value(const Symbols& symbols);
Symbols parse_symbols(const JsonValue& value);

/// A selection in a line of the protocol: a member for each of `selection_fields`, two for the
/// part. Errors: throws Error with the place if one is missing or of a wrong type.
void write_selection(const CaseSelection& selection, nlohmann::ordered_json& line);
CaseSelection parse_selection(const JsonValue& line);

}  // namespace opbench::check
