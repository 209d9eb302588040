#pragma once

#include <limits>

#include "harness/run/record.h"
#include "text/json_reader.h"

/// Kinds of fields of a record. Each defines how a member is written, and read from JSON.
namespace opbench::field_kinds {

inline constexpr double kLargest = std::numeric_limits<double>::max();
inline constexpr double kNaN = std::numeric_limits<double>::quiet_NaN();
inline constexpr double kInfinity = std::numeric_limits<double>::infinity();

template <auto member>
constexpr Field text(std::string_view name) {
  return {name, "", [](const Record& r) -> Cell { return r.*member; },
          [](const JsonValue& value, Record& r) { r.*member = value.text(); }};
}

template <auto member>
constexpr Field flag(std::string_view name) {
  return {name, "", [](const Record& r) -> Cell { return r.*member; },
          [](const JsonValue& value, Record& r) { r.*member = value.boolean(); }};
}

template <auto member, int least = 0>
constexpr Field whole(std::string_view name) {
  return {name, "", [](const Record& r) -> Cell { return std::int64_t{r.*member}; },
          [](const JsonValue& value, Record& r) {
            constexpr int kMost = std::numeric_limits<int>::max();
            r.*member = static_cast<int>(value.integer(least, kMost));
          }};
}

/// A number that every record has.
template <auto member>
constexpr Field number(std::string_view name, std::string_view unit) {
  return {name, unit, [](const Record& r) -> Cell { return r.*member; },
          [](const JsonValue& value, Record& r) {
            r.*member = value.is_null() ? kNaN : value.number(0, kLargest);
          }};
}

/// A number of an optional part of the record. For an error, null means infinite.
template <auto part, auto member, bool is_error = false>
constexpr Field number_of(std::string_view name, std::string_view unit) {
  return {name, unit, [](const Record& r) { return r.*part ? Cell((*(r.*part)).*member) : Cell(); },
          [](const JsonValue& value, Record& r) {
            constexpr double kLost = is_error ? kInfinity : kNaN;
            const double number = value.is_null() ? kLost : value.number(0, kLargest);
            if (r.*part) (*(r.*part)).*member = number;
          }};
}

template <auto member>
constexpr Field time(std::string_view name, std::string_view unit) {
  return number_of<&Record::times, member>(name, unit);
}

template <auto member>
constexpr Field error(std::string_view name, std::string_view unit) {
  return number_of<&Record::accuracy, member, true>(name, unit);
}

/// A number that is written if it is above 0.
template <auto member>
constexpr Field positive(std::string_view name, std::string_view unit, int since = 1) {
  return {name, unit, [](const Record& r) { return r.*member > 0 ? Cell(r.*member) : Cell(); },
          [](const JsonValue& value, Record& r) {
            r.*member = value.is_null() ? 0 : value.number(0, kLargest);
          },
          since};
}

/// A share of a ceiling that is written if `has` holds.
template <auto member, bool (*has)(const Record&)>
constexpr Field percent(std::string_view name, int since = 1) {
  return {name, "%",
          [](const Record& r) { return r.times && has(r) ? Cell((*r.times).*member) : Cell(); },
          [](const JsonValue& value, Record& r) {
            const double lost = has(r) ? kNaN : 0;
            const double number = value.is_null() ? lost : value.number(0, kLargest);
            if (r.times) (*r.times).*member = number;
          },
          since};
}

}  // namespace opbench::field_kinds
