#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace opbench {

/// A JSON value with its place in the file, for strict reading. Every access states the expected
/// type, and every error begins with the file and the place: "old.json: records[3].median_us". A
/// value refers to its parent and must not outlive it.
class JsonValue {
 public:
  JsonValue(const nlohmann::ordered_json& json, const std::string& file)
      : json_(json), file_(file) {}
  /// A value that was taken out of the document at `place`, such as "records[3]".
  JsonValue(const nlohmann::ordered_json& json, const std::string& file, std::string place)
      : json_(json), file_(file), taken_from_(std::move(place)) {}

  /// Returns "records[3].median_us"; "the file" for the whole document.
  std::string place() const;
  bool is_whole() const { return parent_ == nullptr; }
  /// Throws Error "file: place: message".
  [[noreturn]] void fail(const std::string& message) const;
  /// Runs `body` and adds file and place to any Error it throws.
  void located(const std::function<void()>& body) const;

  bool is_null() const;
  std::string text() const;
  bool boolean() const;
  double number(double least, double most) const;
  std::int64_t integer(std::int64_t least, std::int64_t most) const;

  /// Returns the value of a required key. Other keys are ignored, because a later opbench may write
  /// more.
  JsonValue member(std::string_view key) const;
  bool has(std::string_view key) const;
  /// Calls `entry` for every key of an object, in order.
  void members(
      const std::function<void(const std::string& key, const JsonValue& value)>& entry) const;
  /// Calls `entry` for every element of a list, in order.
  void elements(const std::function<void(const JsonValue& value)>& entry) const;

 private:
  static constexpr std::size_t kNoIndex = static_cast<std::size_t>(-1);

  JsonValue(const nlohmann::ordered_json& json, const JsonValue& parent, std::string_view key,
            std::size_t index)
      : json_(json), file_(parent.file_), parent_(&parent), key_(key), index_(index) {}
  void check_object() const;
  [[noreturn]] void fail_type(const std::string& wanted) const;

  const nlohmann::ordered_json& json_;
  const std::string& file_;
  const JsonValue* parent_ = nullptr;
  std::string_view key_;
  std::size_t index_ = kNoIndex;  ///< index in a list; else `key_` is used
  std::string taken_from_;        ///< place of a value without parent
};

/// Limit of values in a document that is read whole. A value needs up to 80 bytes of memory, but
/// only two of text. In results it has about 20, so the largest allowed document has fewer values.
inline constexpr std::size_t kMostJsonValues = std::size_t{16} << 20;

/// Takes elements of lists out of a document while it is read, to limit memory. The place is that
/// of the object with the list: "others[0]", "" for the document.
struct JsonTaking {
  std::string list;  ///< key of these lists
  std::string mark;  ///< key of numbers and texts that identify an object's kind
  /// Called for every mark, before the values after it.
  std::function<void(const std::string& place, const nlohmann::ordered_json& value)> marked;
  /// Returns true to take the element at `index` of the list out of the document.
  std::function<bool(const std::string& place, std::size_t index,
                     const nlohmann::ordered_json& element)>
      element;
};

/// Parses the document in `text`. Keys and brackets count as values. Errors: throws Error "file:
/// ..." for text that is not JSON, with line and column, for brackets nested deeper than in any
/// file of opbench, and for too many values.
nlohmann::ordered_json parse_json(const std::string& text, const std::string& file,
                                  std::size_t most_values = kMostJsonValues);
/// Parses the document in a stream. Taken values do not count. Errors: also those of `taking`.
nlohmann::ordered_json parse_json(std::istream& in, const std::string& file,
                                  const JsonTaking& taking,
                                  std::size_t most_values = kMostJsonValues);

/// Returns the text of `object` at `key`; empty if it is missing.
std::string text_member(const nlohmann::ordered_json& object, const char* key);

}  // namespace opbench
