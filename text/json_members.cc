#include "text/json_members.h"

#include <cmath>

namespace opbench {

void JsonReader::error(std::string_view key, double& value, Presence presence) {
  if (presence != Presence::always && !value_.has(key)) return;
  const JsonValue number = value_.member(key);
  // JSON cannot store infinity, so an infinite error is written as null.
  value = number.is_null() ? HUGE_VAL : number.number(0, NumberRange().most);
}

std::int64_t JsonReader::whole(const JsonValue& from, NumberRange range) {
  constexpr double kBelowAll = 9e18;  // below the largest int64
  return from.integer(static_cast<std::int64_t>(range.least),
                      range.most < kBelowAll ? static_cast<std::int64_t>(range.most)
                                             : std::numeric_limits<std::int64_t>::max());
}

void JsonReader::read(const JsonValue& from, std::map<std::string, std::int64_t>& to,
                      NumberRange range) {
  to.clear();
  from.members(
      [&](const std::string& key, const JsonValue& number) { to[key] = whole(number, range); });
}

void JsonReader::read(const JsonValue& from, std::vector<std::pair<std::string, std::string>>& to,
                      NumberRange) {
  to.clear();
  from.members(
      [&](const std::string& key, const JsonValue& value) { to.emplace_back(key, value.text()); });
}

}  // namespace opbench
