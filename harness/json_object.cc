#include "harness/json_object.h"

#include <fmt/format.h>

#include <cmath>
#include <utility>

#include "tensor/error.h"

namespace opbench {

using Json = nlohmann::json;

JsonObject::JsonObject(std::string_view text)
    : JsonObject(text, Json::parse(text, nullptr, false)) {}

JsonObject::JsonObject(std::string_view text, Json value) : text_(text), value_(std::move(value)) {
  if (!value_.is_object()) fail("no JSON object");
}

void JsonObject::fail(std::string_view what) const {
  constexpr std::size_t kShown = 80;
  throw Error(fmt::format("{} in '{}{}'", what, text_.substr(0, kShown),
                          text_.size() > kShown ? "..." : ""));
}

bool JsonObject::has(const char* key) const {
  const auto found = value_.find(key);
  return found != value_.end() && !found->is_null();
}

const Json& JsonObject::member(const char* key) const {
  const auto found = value_.find(key);
  if (found == value_.end()) fail(fmt::format("no '{}'", key));
  return *found;
}

const Json& JsonObject::list(const char* key) const {
  const Json& value = member(key);
  if (!value.is_array()) fail(fmt::format("'{}' is no list", key));
  return value;
}

std::string JsonObject::text(const char* key) const {
  const Json& value = member(key);
  if (!value.is_string()) fail(fmt::format("'{}' is no text", key));
  return value.get<std::string>();
}

double JsonObject::number(const char* key) const {
  const Json& value = member(key);
  if (!value.is_number()) fail(fmt::format("'{}' is no number", key));
  return value.get<double>();
}

int JsonObject::whole(const char* key, int least, int most) const {
  const double value = number(key);
  if (!(value >= least && value <= most) || value != std::floor(value)) {
    fail(fmt::format("'{}' is no whole number from {} to {}", key, least, most));
  }
  return static_cast<int>(value);
}

bool JsonObject::boolean(const char* key) const {
  const Json& value = member(key);
  if (!value.is_boolean()) fail(fmt::format("'{}' is neither true nor false", key));
  return value.get<bool>();
}

std::vector<std::string> JsonObject::texts(const char* key) const {
  std::vector<std::string> result;
  for (const Json& value : list(key)) {
    if (!value.is_string()) fail(fmt::format("'{}' holds something that is no text", key));
    result.push_back(value.get<std::string>());
  }
  return result;
}

std::vector<JsonObject> JsonObject::objects(const char* key) const {
  std::vector<JsonObject> result;
  for (const Json& value : list(key)) result.push_back(JsonObject(text_, value));
  return result;
}

Symbols JsonObject::symbols(const char* key) const {
  Symbols result;
  const Json& value = member(key);
  if (!value.is_object()) fail(fmt::format("'{}' is no object", key));
  for (const auto& [name, number] : value.items()) {
    if (!number.is_number_integer()) fail(fmt::format("'{}' is no whole number", name));
    result[name] = number.get<std::int64_t>();
  }
  return result;
}

}  // namespace opbench
