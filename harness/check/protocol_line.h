#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "harness/check/protocol.h"
#include "harness/plan/case_selection.h"
#include "text/json_reader.h"

namespace opbench::check {

using Json = nlohmann::ordered_json;

/// Without line ends; what is no UTF-8 is replaced.
std::string line_of(const Json& value);

/// A line of the protocol: one JSON object. Errors: throws Error if it is none.
class Line {
 public:
  explicit Line(std::string_view line);
  JsonValue value() const;

 private:
  Json json_;
};

/// What both a list of cases and a request to open one say; null: it is no context.
Json context_value(const std::optional<ContextSource>& context);
std::optional<ContextSource> parse_context(const JsonValue& value);

inline constexpr std::int64_t kLargestCount = std::numeric_limits<int>::max();

/// A whole number of that range. Errors: throws Error with the place.
int whole(const JsonValue& value, std::int64_t least, std::int64_t most);
/// A list of texts. Errors: throws Error with the place.
std::vector<std::string> texts(const JsonValue& value);

/// Symbols by name: {"N": 8}.
Json symbols_value(const Symbols& symbols);
Symbols parse_symbols(const JsonValue& value);

/// A selection in a line of the protocol: a member for each of `selection_fields`, two for the
/// part. Errors: throws Error with the place if one is missing or of a wrong type.
void write_selection(const CaseSelection& selection, Json& line);
CaseSelection parse_selection(const JsonValue& line);

}  // namespace opbench::check
