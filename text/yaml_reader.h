#pragma once

#include <yaml-cpp/yaml.h>

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

namespace opbench {

/// A YAML node with its place in the file, for strict reading. Every access states the expected
/// type, and every error begins with "file:line:".
class YamlValue {
 public:
  YamlValue(YAML::Node node, const std::string* path) : node_(std::move(node)), path_(path) {}

  /// Returns "file:line".
  std::string place() const;
  /// Throws Error "file:line: message".
  [[noreturn]] void fail(const std::string& message) const;

  std::string text(std::string_view what) const;
  std::int64_t integer(std::string_view what, std::int64_t least, std::int64_t most) const;
  double number(std::string_view what, double least, double most) const;
  std::uint64_t seed(std::string_view what) const;
  bool boolean(std::string_view what) const;
  /// Returns the elements of a list. With `or_scalar` a single scalar is a list of one element.
  std::vector<YamlValue> list(std::string_view what, bool or_scalar = false) const;
  /// Calls `entry` for every key of a mapping. Fails on an unknown or repeated key.
  void mapping(
      std::string_view what, const std::vector<std::string>& allowed,
      const std::function<void(const std::string& key, const YamlValue& value)>& entry) const;
  /// Like the above, with any keys.
  void mapping(
      std::string_view what,
      const std::function<void(const std::string& key, const YamlValue& value)>& entry) const;

  bool is_list() const { return node_.IsSequence(); }
  bool is_mapping() const { return node_.IsMap(); }
  bool is_scalar() const { return node_.IsScalar(); }
  /// Scalars as written, lists as "[1, 2]"; for attribute values.
  std::string flow_text() const;

  /// Runs `body` and adds the place to any Error it throws.
  template <class Body>
  auto located(Body&& body) const -> decltype(body());

 private:
  [[noreturn]] void fail_type(std::string_view what, std::string_view wanted) const;

  YAML::Node node_;
  const std::string* path_;
};

/// Parses the document in `text`; an empty text is an empty mapping. Errors: throws Error
/// "file:line: ..." if it is not YAML or has a second document.
YamlValue parse_yaml(const std::string& text, const std::string& path);

}  // namespace opbench

#include "tensor/error.h"

namespace opbench {

template <class Body>
auto YamlValue::located(Body&& body) const -> decltype(body()) {
  try {
    return body();
  } catch (const Error& error) {
    fail(error.what());
  }
}

}  // namespace opbench
