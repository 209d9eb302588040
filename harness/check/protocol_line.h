#pragma once

#include <cstdint>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "harness/check/protocol.h"
#include "text/cell.h"
#include "text/json_reader.h"
#include "text/packed.h"

/// One list of members writes and reads a message of the protocol:
///     template <class V>
///     void members(V& v, FieldsOf<CodeReply> auto& reply) {
///       v("code", reply.fingerprint);
///       v("reason", reply.reason);
///     }
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

enum class Presence {
  always,
  later,  ///< written always; lines of older builds do not have it
  if_any  ///< left out at its default
};

/// What a number has to be, with both ends.
struct Range {
  double least = 0, most = std::numeric_limits<double>::max();
};
inline constexpr Range kCount{0, std::numeric_limits<int>::max()};
inline constexpr Range kShare{0, 1};

class LineWriter {
 public:
  static constexpr bool kReads = false;

  template <class T>
  void operator()(std::string_view key, const T& value, Presence presence = Presence::always) {
    if (presence == Presence::if_any && value == T()) return;
    json[std::string(key)] = to_json(value);
  }
  template <class T>
  void operator()(std::string_view key, const T& value, Range,
                  Presence presence = Presence::always) {
    (*this)(key, value, presence);
  }
  /// A number that is null where it is infinite.
  void error(std::string_view key, double value, Presence = Presence::always) {
    json[std::string(key)] = finite_or_null(value);
  }
  /// True if a part of the message is there, which has the member `key`.
  bool part(std::string_view, bool is_there) { return is_there; }

  Json json = Json::object();

 private:
  template <class T>
  static Json to_json(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      return name(value);
    } else if constexpr (std::is_convertible_v<T, Json>) {
      return value;
    } else {
      LineWriter writer;
      members(writer, value);
      return std::move(writer.json);
    }
  }
  template <class T>
  static Json to_json(const std::optional<T>& value) {
    return value ? to_json(*value) : Json();
  }
  template <class T>
  static Json to_json(const std::vector<T>& values) {
    Json list = Json::array();
    for (const T& value : values) list.push_back(to_json(value));
    return list;
  }
};

/// Errors: throws Error with the place where a member is missing or of a wrong type.
class LineReader {
 public:
  static constexpr bool kReads = true;

  explicit LineReader(const JsonValue& value) : value_(value) {}

  template <class T>
  void operator()(std::string_view key, T& value, Range range,
                  Presence presence = Presence::always) {
    if (presence == Presence::always || value_.has(key)) read(value_.member(key), value, range);
  }
  template <class T>
  void operator()(std::string_view key, T& value, Presence presence = Presence::always) {
    (*this)(key, value, Range(), presence);
  }
  void error(std::string_view key, double& value, Presence presence = Presence::always);
  bool part(std::string_view key, bool) const { return value_.has(key); }

 private:
  static void read(const JsonValue& from, std::string& to, Range) { to = from.text(); }
  static void read(const JsonValue& from, bool& to, Range) { to = from.boolean(); }
  static void read(const JsonValue& from, double& to, Range range) {
    to = from.number(range.least, range.most);
  }
  static void read(const JsonValue& from, int& to, Range range) {
    to = static_cast<int>(whole(from, range, kCount.most));
  }
  static void read(const JsonValue& from, std::uint64_t& to, Range range) {
    to = static_cast<std::uint64_t>(whole(from, range, kMostStreamsFrom));
  }
  static std::int64_t whole(const JsonValue& from, Range range, double most);
  static void read(const JsonValue& from, Status& to, Range);
  static void read(const JsonValue& from, DType& to, Range);
  static void read(const JsonValue& from, Symbols& to, Range);
  template <class T>
  static void read(const JsonValue& from, std::vector<T>& to, Range range) {
    to.clear();
    from.elements([&](const JsonValue& value) { read(value, to.emplace_back(), range); });
  }
  template <class T>
  static void read(const JsonValue& from, std::optional<T>& to, Range range) {
    to.reset();
    if (!from.is_null()) read(from, to.emplace(), range);
  }
  template <class T>
  requires std::is_class_v<T>
  static void read(const JsonValue& from, T& to, Range) {
    LineReader reader(from);
    members(reader, to);
  }

  const JsonValue& value_;
};

}  // namespace opbench::check
