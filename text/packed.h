#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "tensor/error.h"

namespace opbench {

/// Requires T or const T. One list of fields packs and unpacks a structured type:
///     template <class V>
///     void each_field(V& v, FieldsOf<Note> auto& note) { v.fields(note.name, note.value); }
/// It must be in the namespace of the type, which must have a name.
template <class Value, class T>
concept FieldsOf = std::is_same_v<std::remove_const_t<Value>, T>;

/// Encodes values as bytes for another process of the same program: numbers in memory
/// representation, strings and lists with their length in front.
class Packer {
 public:
  static constexpr bool kReads = false;

  template <class T>
  void add(const T& value) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      text_.append(reinterpret_cast<const char*>(&value), sizeof value);
    } else {
      each_field(*this, value);
    }
  }
  void add(std::string_view text) {
    add(static_cast<std::uint64_t>(text.size()));
    text_.append(text);
  }
  void add(const std::string& text) { add(std::string_view(text)); }
  template <class T>
  void add(const std::vector<T>& values) {
    add_all(values);
  }
  template <class T>
  void add(const std::map<std::string, T>& values) {
    add_all(values);
  }
  template <class First, class Second>
  void add(const std::pair<First, Second>& value) {
    fields(value.first, value.second);
  }
  template <class T>
  void add(const std::optional<T>& value) {
    add(value.has_value());
    if (value) add(*value);
  }
  template <class... T>
  void fields(const T&... values) {
    (add(values), ...);
  }

  std::string take() { return std::move(text_); }

 private:
  template <class List>
  void add_all(const List& values) {
    add(static_cast<std::uint64_t>(values.size()));
    for (const auto& value : values) add(value);
  }

  std::string text_;
};

template <class... T>
std::string pack_all(const T&... values) {
  Packer packer;
  packer.fields(values...);
  return packer.take();
}

/// Decodes values in the order in which they were packed. Errors: throws RunError if there are no
/// more values, and for a length that exceeds the rest.
class Unpacker {
 public:
  static constexpr bool kReads = true;

  explicit Unpacker(std::string_view text) : text_(text) {}

  template <class T>
  T get() {
    T value{};
    read(value);
    return value;
  }
  std::string get_text() { return get<std::string>(); }
  template <class... T>
  void fields(T&... values) {
    (read(values), ...);
  }
  bool is_empty() const { return text_.empty(); }

 private:
  template <class T>
  void read(T& value) {
    if constexpr (std::is_trivially_copyable_v<T>) {
      std::memcpy(static_cast<void*>(&value), take(sizeof value).data(), sizeof value);
    } else {
      each_field(*this, value);
    }
  }
  void read(bool& value) { value = take(1).front() != 0; }
  void read(std::string& text) { text = take(length()); }
  template <class T>
  void read(std::vector<T>& values) {
    // A damaged length costs little memory: the reservation is limited by the remaining bytes.
    constexpr std::size_t kFewestBytes = sizeof(std::int64_t);
    const std::size_t count = length();
    values.clear();
    values.reserve(std::min(count, text_.size() / kFewestBytes));
    for (std::size_t i = 0; i < count; ++i) read(values.emplace_back());
  }
  template <class T>
  void read(std::map<std::string, T>& values) {
    for (std::size_t left = length(); left > 0; --left) {
      const std::string key = get_text();
      read(values[key]);
    }
  }
  template <class T>
  void read(std::optional<T>& value) {
    value.reset();
    if (get<bool>()) read(value.emplace());
  }

  // Each element has at least one byte.
  std::size_t length() {
    const auto count = get<std::uint64_t>();
    if (count > text_.size()) fail();
    return static_cast<std::size_t>(count);
  }
  std::string_view take(std::size_t bytes) {
    if (bytes > text_.size()) fail();
    const std::string_view taken = text_.substr(0, bytes);
    text_.remove_prefix(bytes);
    return taken;
  }
  [[noreturn]] static void fail() { throw RunError("packed values are cut off"); }

  std::string_view text_;
};

}  // namespace opbench
