#pragma once

#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>

#include "harness/check/protocol.h"
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

}  // namespace opbench::check
