#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace opbench {

/// The value of an attribute: a number, a whole number, a switch, a word, or a list such as a
/// permutation.
using AttrValue = std::variant<double, std::int64_t, bool, std::string, std::vector<std::int64_t>>;

/// One attribute of an operator. The default fixes the type; numbers are fp32 as on the device.
struct AttrSpec {
  std::string_view name;
  AttrValue default_value;
  std::string_view help;
  /// Empty if `value` is allowed, else the rule: "it must be 1 or more".
  std::string (*problem)(const AttrValue& value) = nullptr;
};

/// The attributes of one use of an operator: all declared names with checked values.
class Attrs {
 public:
  Attrs() = default;
  /// All defaults.
  explicit Attrs(std::span<const AttrSpec> specs);

  /// Sets an attribute from text such as "1.5", "true", "[0, 2, 1]"; "2" is also a list of one
  /// number. Errors: throws Error on an unknown name (suggesting the nearest), a wrong type or a
  /// refused value.
  void set(std::span<const AttrSpec> specs, std::string_view name, std::string_view text);

  double number(std::string_view name) const {
    return std::get<double>(values_.at(std::string(name)));
  }
  std::int64_t integer(std::string_view name) const {
    return std::get<std::int64_t>(values_.at(std::string(name)));
  }
  bool flag(std::string_view name) const { return std::get<bool>(values_.at(std::string(name))); }
  const std::string& word(std::string_view name) const {
    return std::get<std::string>(values_.at(std::string(name)));
  }
  const std::vector<std::int64_t>& list(std::string_view name) const {
    return std::get<std::vector<std::int64_t>>(values_.at(std::string(name)));
  }
  bool empty() const { return values_.empty(); }
  /// Sets a declared attribute to a value of its type, unchecked. For attributes that follow from
  /// checked ones.
  void put(std::string_view name, AttrValue value) {
    values_.at(std::string(name)) = std::move(value);
  }
  const std::map<std::string, AttrValue>& values() const { return values_; }

  /// The values of the attributes that `specs` declares; attributes without a value here get their
  /// defaults.
  Attrs restricted_to(std::span<const AttrSpec> specs) const;

  bool operator==(const Attrs&) const = default;

 private:
  std::map<std::string, AttrValue> values_;
};

/// The shortest text that reads back as the same value: "1", "0.1", "true", "[0,2,1]".
std::string to_string(const AttrValue& value);

}  // namespace opbench
