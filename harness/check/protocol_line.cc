#include "harness/check/protocol_line.h"

#include <algorithm>
#include <cmath>

namespace opbench::check {
namespace {

const std::string kPlace = "the line of a worker";

}  // namespace

std::string line_of(const Json& value) {
  return value.dump(-1, ' ', false, Json::error_handler_t::replace);
}

Line::Line(std::string_view line) : json_(parse_json(std::string(line), kPlace)) {}

JsonValue Line::value() const { return {json_, kPlace}; }

void LineReader::error(std::string_view key, double& value, Presence presence) {
  if (presence != Presence::always && !value_.has(key)) return;
  const JsonValue number = value_.member(key);
  // One that JSON cannot hold was infinite: an error beyond every bound.
  value = number.is_null() ? HUGE_VAL : number.number(0, Range().most);
}

std::int64_t LineReader::whole(const JsonValue& from, Range range, double most) {
  return from.integer(static_cast<std::int64_t>(range.least),
                      static_cast<std::int64_t>(std::min(range.most, most)));
}

void LineReader::read(const JsonValue& from, Status& to, Range) {
  from.located([&] { to = parse_status(from.text()); });
}

void LineReader::read(const JsonValue& from, DType& to, Range) { to = parse_dtype(from.text()); }

void LineReader::read(const JsonValue& from, Symbols& to, Range) {
  to.clear();
  from.members([&](const std::string& symbol, const JsonValue& number) {
    to[symbol] = number.integer(0, std::numeric_limits<std::int64_t>::max());
  });
}

}  // namespace opbench::check
