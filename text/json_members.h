#pragma once

#include <algorithm>
#include <concepts>
#include <cstdint>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensor/dtype.h"
#include "tensor/format.h"
#include "text/cell.h"
#include "text/json_reader.h"
#include "text/packed.h"

/// A list of members writes and reads a type as a JSON object:
///     template <class V>
///     void each_member(V& v, FieldsOf<CodeReply> auto& reply) {
///       v("code", reply.fingerprint);
///       v("reason", reply.reason);
///     }
/// It must be in the namespace of the type, which must have a name. `parse_name(text, value)` of an
/// enumeration must be there too; its values are written by their `name`.
namespace opbench {

inline void parse_name(const std::string& text, DType& dtype) { dtype = parse_dtype(text); }
inline void parse_name(const std::string& text, Format& format) { format = parse_format(text); }

/// Presence of a member in an object.
enum class Presence {
  always,
  later,  ///< always written; missing in lines of older builds
  if_any  ///< omitted at its default
};

/// Bounds of a number, inclusive.
struct NumberRange {
  double least = 0, most = std::numeric_limits<double>::max();
};
inline constexpr NumberRange kAnyCount{0, std::numeric_limits<int>::max()};
inline constexpr NumberRange kAnyShare{0, 1};

class JsonWriter {
 public:
  static constexpr bool kReads = false;

  template <class T>
  void operator()(std::string_view key, const T& value, Presence presence = Presence::always) {
    if constexpr (std::equality_comparable<T>) {
      if (presence == Presence::if_any && value == T()) return;
    }
    json[std::string(key)] = to_json(value);
  }
  template <class T>
  void operator()(std::string_view key, const T& value, NumberRange,
                  Presence presence = Presence::always) {
    (*this)(key, value, presence);
  }
  /// A number that is null if it is infinite.
  void error(std::string_view key, double value, Presence = Presence::always) {
    json[std::string(key)] = finite_or_null(value);
  }
  /// A value written as a text by `say` and read by `parse`.
  template <class T, class Say, class Parse>
  void as_text(std::string_view key, const T& value, Say say, Parse) {
    json[std::string(key)] = say(value);
  }
  /// True if the optional part with the member `key` exists.
  bool part(std::string_view, bool is_there) { return is_there; }

  nlohmann::ordered_json json = nlohmann::ordered_json::object();

 private:
  using Json = nlohmann::ordered_json;

  template <class T>
  static Json to_json(const T& value) {
    if constexpr (std::is_enum_v<T>) {
      return name(value);
    } else if constexpr (std::is_convertible_v<T, Json>) {
      return value;
    } else {
      JsonWriter writer;
      each_member(writer, value);
      return std::move(writer.json);
    }
  }
  template <class T>
  static Json to_json(const std::optional<T>& value) {
    return value ? to_json(*value) : Json();
  }
  static Json to_json(const std::vector<std::pair<std::string, std::string>>& values) {
    Json object = Json::object();
    for (const auto& [key, value] : values) object[key] = value;
    return object;
  }
  template <class T>
  static Json to_json(const std::vector<T>& values) {
    Json list = Json::array();
    for (const T& value : values) list.push_back(to_json(value));
    return list;
  }
};

/// Errors: throws Error with the place if a member is missing or has a wrong type.
class JsonReader {
 public:
  static constexpr bool kReads = true;

  explicit JsonReader(const JsonValue& value) : value_(value) {}

  template <class T>
  void operator()(std::string_view key, T& value, NumberRange range,
                  Presence presence = Presence::always) {
    if (presence == Presence::always || value_.has(key)) read(value_.member(key), value, range);
  }
  template <class T>
  void operator()(std::string_view key, T& value, Presence presence = Presence::always) {
    (*this)(key, value, NumberRange(), presence);
  }
  void error(std::string_view key, double& value, Presence presence = Presence::always);
  template <class T, class Say, class Parse>
  void as_text(std::string_view key, T& value, Say, Parse parse) {
    const JsonValue text = value_.member(key);
    text.located([&] { value = parse(text.text()); });
  }
  /// Adds the place to any Error that `checks` throws.
  void check(const std::function<void()>& checks) const { value_.located(checks); }
  bool part(std::string_view key, bool) const { return value_.has(key); }

 private:
  static void read(const JsonValue& from, std::string& to, NumberRange) { to = from.text(); }
  static void read(const JsonValue& from, bool& to, NumberRange) { to = from.boolean(); }
  static void read(const JsonValue& from, double& to, NumberRange range) {
    to = from.number(range.least, range.most);
  }
  static void read(const JsonValue& from, int& to, NumberRange range) {
    to = static_cast<int>(whole(from, {range.least, std::min(range.most, kAnyCount.most)}));
  }
  static void read(const JsonValue& from, std::uint64_t& to, NumberRange range) {
    to = static_cast<std::uint64_t>(whole(from, range));
  }
  static std::int64_t whole(const JsonValue& from, NumberRange range);
  template <class T>
  requires std::is_enum_v<T>
  static void read(const JsonValue& from, T& to, NumberRange) {
    from.located([&] { parse_name(from.text(), to); });
  }
  static void read(const JsonValue& from, std::map<std::string, std::int64_t>& to,
                   NumberRange range);
  static void read(const JsonValue& from, std::vector<std::pair<std::string, std::string>>& to,
                   NumberRange);
  template <class T>
  static void read(const JsonValue& from, std::vector<T>& to, NumberRange range) {
    to.clear();
    from.elements([&](const JsonValue& value) { read(value, to.emplace_back(), range); });
  }
  template <class T>
  static void read(const JsonValue& from, std::optional<T>& to, NumberRange range) {
    to.reset();
    if (!from.is_null()) read(from, to.emplace(), range);
  }
  template <class T>
  requires std::is_class_v<T>
  static void read(const JsonValue& from, T& to, NumberRange) {
    JsonReader reader(from);
    each_member(reader, to);
  }

  const JsonValue& value_;
};

template <class T>
nlohmann::ordered_json json_of(const T& value) {
  JsonWriter writer;
  each_member(writer, value);
  return std::move(writer.json);
}

template <class T>
T read_json(const JsonValue& from) {
  T value;
  JsonReader reader(from);
  each_member(reader, value);
  return value;
}

}  // namespace opbench
