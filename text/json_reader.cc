#include "text/json_reader.h"

#include <fmt/format.h>

#include <algorithm>
#include <istream>
#include <limits>
#include <nlohmann/json.hpp>
#include <vector>

#include "tensor/error.h"
#include "text/fitted.h"

namespace opbench {
namespace {

using Json = nlohmann::ordered_json;

constexpr std::size_t kLongestJson = 60;  // bytes of a text in a message

std::string json_kind(const Json& json) {
  switch (json.type()) {
    case Json::value_t::null:
      return "null";
    case Json::value_t::object:
      return "an object";
    case Json::value_t::array:
      return "a list";
    case Json::value_t::string:
      return fmt::format("the text '{}'",
                         excerpt(json.get_ref<const std::string&>(), kLongestJson));
    default:
      return json.dump();
  }
}

// Removes the number and the unbounded last part of a message: "[json.exception.parse_error.101]
// parse error at line 1, column 2: syntax error ...; last read: '...'".
std::string parse_message(const std::string& what) {
  const std::size_t begin = what.find("] ");
  const std::size_t last_read = what.find("; last read:");
  const std::size_t first = begin == std::string::npos ? 0 : begin + 2;
  constexpr std::size_t kLongest = 200;
  const std::size_t length = last_read == std::string::npos ? kLongest : last_read - first;
  return what.substr(first, std::min(length, kLongest));
}

/// Follows the parser through a document: counts values and brackets, tracks the place, and takes
/// elements out.
class JsonWalk {
 public:
  JsonWalk(const std::string& file, const JsonTaking& taking, std::size_t most_values)
      : file_(file), taking_(taking), most_values_(most_values) {}

  // The parser's callback for every value; returns true to keep it.
  bool keeps(int depth, Json::parse_event_t event, const Json& value) {
    using Event = Json::parse_event_t;
    // Results have four levels. The parser keeps one entry for each.
    constexpr int kDeepestNesting = 64;
    if (depth > kDeepestNesting) {
      throw Error(fmt::format("{}: brackets are nested more than {} deep", file_, kDeepestNesting));
    }
    if (++values_ > most_values_) {
      throw Error(fmt::format("{}: holds more than {} values", file_, most_values_));
    }
    if (taking_.list.empty()) return true;
    if (event == Event::key) {
      levels_.back().key = value.get_ref<const std::string&>();
      return true;
    }
    if (event == Event::object_start || event == Event::array_start) {
      levels_.push_back({event == Event::array_start, {}, 0, values_});
      return true;
    }
    if (event != Event::value) levels_.pop_back();
    return levels_.empty() || keeps_child(event == Event::value, value);
  }

  bool is_empty() const { return values_ == 0; }

 private:
  /// An open object or list.
  struct Level {
    bool is_list = false;
    std::string key;         // of the last member
    std::size_t next = 0;    // number of elements read
    std::size_t values = 0;  // number of values before the next element
  };

  bool keeps_child(bool is_scalar, const Json& value) {
    Level& level = levels_.back();
    if (!level.is_list) {
      if (is_scalar && level.key == taking_.mark) {
        taking_.marked(place_of(levels_.size() - 1), value);
      }
      return true;
    }
    const std::size_t index = level.next++;
    const bool is_wanted = levels_.size() >= 2 && !levels_[levels_.size() - 2].is_list &&
                           levels_[levels_.size() - 2].key == taking_.list;
    if (is_wanted && taking_.element(place_of(levels_.size() - 2), index, value)) {
      values_ = level.values;
      return false;
    }
    level.values = values_;
    return true;
  }

  // Place of the object or list at that level.
  std::string place_of(std::size_t end) const {
    std::string place;
    for (std::size_t i = 0; i < end; ++i) {
      if (levels_[i].is_list) {
        place += fmt::format("[{}]", levels_[i].next);
      } else {
        place += (place.empty() ? "" : ".") + levels_[i].key;
      }
    }
    return place;
  }

  const std::string& file_;
  const JsonTaking& taking_;
  const std::size_t most_values_;
  std::size_t values_ = 0;
  std::vector<Level> levels_;
};

// `source`: a text or a stream.
template <class Source>
Json parsed(Source&& source, const std::string& file, JsonWalk walk) {
  try {
    return Json::parse(source, [&](int depth, Json::parse_event_t event, Json& value) {
      return walk.keeps(depth, event, value);
    });
  } catch (const Json::exception& error) {
    const std::string message = parse_message(error.what());
    const bool is_at_end = message.find("unexpected end of input") != std::string::npos;
    if (walk.is_empty() && is_at_end) throw Error(fmt::format("{}: the file is empty", file));
    throw Error(fmt::format("{}: no JSON: {}", file, message));
  }
}

}  // namespace

std::string JsonValue::place() const {
  if (parent_ == nullptr) return taken_from_.empty() ? "the file" : taken_from_;
  const std::string before = parent_->parent_ == nullptr ? parent_->taken_from_ : parent_->place();
  if (index_ != kNoIndex) return fmt::format("{}[{}]", before, index_);
  const std::string key = excerpt(key_, kLongestJson);
  return before.empty() ? key : fmt::format("{}.{}", before, key);
}

void JsonValue::fail(const std::string& message) const {
  throw Error(fmt::format("{}: {} {}", file_, place(), message));
}

void JsonValue::located(const std::function<void()>& body) const {
  try {
    body();
  } catch (const Error& error) {
    throw Error(fmt::format("{}: {}: {}", file_, place(), error.what()));
  }
}

void JsonValue::fail_type(const std::string& wanted) const {
  fail(fmt::format("is {}; it must be {}", json_kind(json_), wanted));
}

bool JsonValue::is_null() const { return json_.is_null(); }

std::string JsonValue::text() const {
  if (!json_.is_string()) fail_type("a text");
  return json_.get<std::string>();
}

bool JsonValue::boolean() const {
  if (!json_.is_boolean()) fail_type("true or false");
  return json_.get<bool>();
}

double JsonValue::number(double least, double most) const {
  const auto value = json_.is_number() ? json_.get<double>() : most;
  if (!json_.is_number() || !(value >= least && value <= most)) {
    const bool is_open = most == std::numeric_limits<double>::max();
    fail_type(is_open ? fmt::format("a number from {}", least)
                      : fmt::format("a number from {} to {}", least, most));
  }
  return value;
}

std::int64_t JsonValue::integer(std::int64_t least, std::int64_t most) const {
  // The parser stores non-negative numbers as unsigned.
  const bool is_held =
      json_.is_number_integer() &&
      (!json_.is_number_unsigned() ||
       json_.get<std::uint64_t>() <= std::uint64_t{std::numeric_limits<std::int64_t>::max()});
  const auto value = is_held ? json_.get<std::int64_t>() : 0;
  if (!is_held || value < least || value > most) {
    fail_type(fmt::format("a whole number from {} to {}", least, most));
  }
  return value;
}

void JsonValue::check_object() const {
  if (!json_.is_object()) fail_type("an object");
}

bool JsonValue::has(std::string_view key) const {
  check_object();
  return json_.contains(std::string(key));
}

JsonValue JsonValue::member(std::string_view key) const {
  check_object();
  const auto found = json_.find(std::string(key));
  if (found == json_.end()) fail(fmt::format("has no '{}'", key));
  return JsonValue(*found, *this, key, kNoIndex);
}

void JsonValue::members(
    const std::function<void(const std::string& key, const JsonValue& value)>& entry) const {
  check_object();
  for (const auto& [key, value] : json_.items()) entry(key, JsonValue(value, *this, key, kNoIndex));
}

void JsonValue::elements(const std::function<void(const JsonValue& value)>& entry) const {
  if (!json_.is_array()) fail_type("a list");
  for (std::size_t i = 0; i < json_.size(); ++i) entry(JsonValue(json_[i], *this, {}, i));
}

Json parse_json(const std::string& text, const std::string& file, std::size_t most_values) {
  static const JsonTaking nothing;
  return parsed(text, file, JsonWalk(file, nothing, most_values));
}

Json parse_json(std::istream& in, const std::string& file, const JsonTaking& taking,
                std::size_t most_values) {
  return parsed(in, file, JsonWalk(file, taking, most_values));
}

std::string text_member(const Json& object, const char* key) {
  const auto found = object.find(key);
  return found != object.end() && found->is_string() ? found->get<std::string>() : std::string();
}

}  // namespace opbench
