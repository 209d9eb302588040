#pragma once

#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>
#include <type_traits>

#include "tensor/error.h"

namespace opbench {

/// Values as bytes for another process of the same program: numbers as memory has them, strings
/// with their length in front.
class Packer {
 public:
  template <class T>
  requires std::is_trivially_copyable_v<T>
  void add(const T& value) { text_.append(reinterpret_cast<const char*>(&value), sizeof value); }
  void add(std::string_view text) {
    add(static_cast<std::uint64_t>(text.size()));
    text_.append(text);
  }
  void add(const std::string& text) { add(std::string_view(text)); }

  std::string take() { return std::move(text_); }

 private:
  std::string text_;
};

/// The same values, in the same order. Errors: throws RunError where there are no more.
class Unpacker {
 public:
  explicit Unpacker(std::string_view text) : text_(text) {}

  template <class T>
  requires std::is_trivially_copyable_v<T> T get() {
    T value;
    std::memcpy(static_cast<void*>(&value), take(sizeof value).data(), sizeof value);
    return value;
  }
  std::string get_text() { return std::string(take(get<std::uint64_t>())); }
  bool is_empty() const { return text_.empty(); }

 private:
  std::string_view take(std::size_t bytes) {
    if (bytes > text_.size()) throw RunError("packed values are cut off");
    const std::string_view taken = text_.substr(0, bytes);
    text_.remove_prefix(bytes);
    return taken;
  }

  std::string_view text_;
};

}  // namespace opbench
