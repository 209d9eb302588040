#pragma once

#include <cstdint>
#include <functional>
#include <iosfwd>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <string_view>

namespace opbench {

/// A JSON value that knows where it stands, for strict reading: every access says what it expects,
/// and every error begins with the file and the place, as in "old.json: records[3].median_us".
/// A value points to the one that holds it and must not outlive it.
class JsonValue {
 public:
  JsonValue(const nlohmann::ordered_json& json, const std::string& file)
      : json_(json), file_(file) {}
  /// A value that was taken out of the document at `place`, such as "records[3]".
  JsonValue(const nlohmann::ordered_json& json, const std::string& file, std::string place)
      : json_(json), file_(file), taken_from_(std::move(place)) {}

  /// "records[3].median_us"; "the file" for the whole document.
  std::string place() const;
  bool is_whole() const { return parent_ == nullptr; }
  /// Throws Error "file: place: message".
  [[noreturn]] void fail(const std::string& message) const;
  /// Runs `body` and puts file and place in front of any Error it throws.
  void located(const std::function<void()>& body) const;

  bool is_null() const;
  std::string text() const;
  bool boolean() const;
  double number(double least, double most) const;
  std::int64_t integer(std::int64_t least, std::int64_t most) const;

  /// The value of a key that must be there. Other keys are nobody's business: a later opbench may
  /// write more.
  JsonValue member(std::string_view key) const;
  bool has(std::string_view key) const;
  /// Calls `entry` for every key of an object, in their order.
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
  std::size_t index_ = kNoIndex;  ///< in a list; else `key_` counts
  std::string taken_from_;        ///< of a value without parent
};

/// A value takes up to 80 bytes of memory and as few as two of text. In results it takes about 20,
/// so that the largest document that is held as a whole has fewer.
inline constexpr std::size_t kMostJsonValues = std::size_t{16} << 20;

/// Takes elements of lists out of a document while it is read, so that it need not be held as a
/// whole. A place is that of the object that has the list: "others[0]", "" for the document.
struct JsonTaking {
  std::string list;  ///< the key of such lists
  std::string mark;  ///< the key of numbers and texts that say what an object is
  /// Told of every mark, before what comes after it.
  std::function<void(const std::string& place, const nlohmann::ordered_json& value)> marked;
  /// True: the element, at `index` of the list, is taken and does not stay in the document.
  std::function<bool(const std::string& place, std::size_t index,
                     const nlohmann::ordered_json& element)>
      element;
};

/// The document in `text`; keys and brackets count as values. Errors: throws Error "file: ..." for
/// text that is no JSON, with line and column, for brackets that are nested deeper than in any file
/// of ours, and for too many values.
nlohmann::ordered_json parse_json(const std::string& text, const std::string& file,
                                  std::size_t most_values = kMostJsonValues);
/// The same of what a stream has; values that were taken do not count. Errors: also those of
/// `taking`.
nlohmann::ordered_json parse_json(std::istream& in, const std::string& file,
                                  const JsonTaking& taking,
                                  std::size_t most_values = kMostJsonValues);

/// The text that `object` has at `key`; empty if there is none.
std::string text_member(const nlohmann::ordered_json& object, const char* key);

}  // namespace opbench
