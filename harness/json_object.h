#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "harness/options.h"

namespace opbench {

/// A JSON object from outside, read with checked access: every error says what was expected and
/// shows the beginning of the text.
class JsonObject {
 public:
  /// Errors: throws Error if `text` is no JSON object.
  explicit JsonObject(std::string_view text);

  /// False also where the value is null.
  bool has(const char* key) const;
  std::string text(const char* key) const;
  double number(const char* key) const;
  int whole(const char* key, int least, int most) const;
  bool boolean(const char* key) const;
  std::vector<std::string> texts(const char* key) const;
  std::vector<JsonObject> objects(const char* key) const;
  Symbols symbols(const char* key) const;

  /// Throws Error "{what} in '{text}'".
  [[noreturn]] void fail(std::string_view what) const;

 private:
  JsonObject(std::string_view text, nlohmann::json value);
  const nlohmann::json& member(const char* key) const;
  const nlohmann::json& list(const char* key) const;

  std::string_view text_;
  nlohmann::json value_;
};

}  // namespace opbench
