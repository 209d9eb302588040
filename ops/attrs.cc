#include "ops/attrs.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <charconv>
#include <cmath>
#include <optional>
#include <type_traits>

#include "tensor/error.h"
#include "tensor/utf8.h"

namespace opbench {
namespace {

template <class T>
std::optional<T> parse_number(std::string_view text) {
  T value{};
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<std::vector<std::int64_t>> parse_list(std::string_view text) {
  if (text.size() < 2 || text.front() != '[' || text.back() != ']') return std::nullopt;
  text = trimmed(text.substr(1, text.size() - 2));
  std::vector<std::int64_t> values;
  while (!text.empty()) {
    const auto comma = text.find(',');
    const auto value = parse_number<std::int64_t>(trimmed(text.substr(0, comma)));
    if (!value) return std::nullopt;
    values.push_back(*value);
    if (comma == std::string_view::npos) break;
    text.remove_prefix(comma + 1);
  }
  return values;
}

// `text` as a value with the type of `like`.
std::optional<AttrValue> parse_like(const AttrValue& like, std::string_view text) {
  text = trimmed(text);
  if (std::holds_alternative<double>(like)) {
    const auto number = parse_number<double>(text);
    if (!number || std::isnan(*number)) return std::nullopt;
    if (std::isfinite(*number) && !std::isfinite(static_cast<float>(*number))) return std::nullopt;
    return static_cast<double>(static_cast<float>(*number));
  }
  if (std::holds_alternative<std::int64_t>(like)) {
    const auto number = parse_number<std::int64_t>(text);
    return number ? std::optional<AttrValue>(*number) : std::nullopt;
  }
  if (std::holds_alternative<bool>(like)) {
    if (text == "true") return true;
    if (text == "false") return false;
    return std::nullopt;
  }
  if (std::holds_alternative<std::string>(like)) return std::string(text);
  if (const auto only = parse_number<std::int64_t>(text)) return std::vector<std::int64_t>{*only};
  const auto list = parse_list(text);
  return list ? std::optional<AttrValue>(*list) : std::nullopt;
}

std::string_view type_name(const AttrValue& value) {
  constexpr std::string_view kNames[] = {"a number of fp32", "a whole number", "true or false",
                                         "a word",
                                         "a whole number or a list of them like [0, 2, 1]"};
  return kNames[value.index()];
}

const AttrSpec& find_spec(std::span<const AttrSpec> specs, std::string_view name) {
  std::vector<std::string> names;
  for (const AttrSpec& spec : specs) {
    if (spec.name == name) return spec;
    names.emplace_back(spec.name);
  }
  throw Error(
      fmt::format("unknown attribute '{}'{}", name,
                  names.empty() ? "; the operator has no attributes" : suggestion(name, names)));
}

}  // namespace

Attrs::Attrs(std::span<const AttrSpec> specs) {
  for (const AttrSpec& spec : specs) values_[std::string(spec.name)] = spec.default_value;
}

void Attrs::set(std::span<const AttrSpec> specs, std::string_view name, std::string_view text) {
  const AttrSpec& spec = find_spec(specs, name);
  const std::optional<AttrValue> value = parse_like(spec.default_value, text);
  if (!value) {
    throw Error(fmt::format("attribute '{}' is '{}'; it must be {}", name, text,
                            type_name(spec.default_value)));
  }
  if (spec.problem != nullptr) {
    const std::string problem = spec.problem(*value);
    if (!problem.empty())
      throw Error(fmt::format("attribute '{}' is '{}'; {}", name, text, problem));
  }
  values_[std::string(name)] = *value;
}

Attrs Attrs::restricted_to(std::span<const AttrSpec> specs) const {
  Attrs result(specs);
  for (auto& [name, value] : result.values_) {
    if (const auto held = values_.find(name); held != values_.end()) value = held->second;
  }
  return result;
}

std::string to_string(const AttrValue& value) {
  return std::visit(
      [](const auto& v) -> std::string {
        using T = std::decay_t<decltype(v)>;
        // Numbers are fp32 values, so the shortest spelling as fp32 reads back exactly.
        if constexpr (std::is_same_v<T, double>)
          return fmt::format("{}", static_cast<float>(v));
        else if constexpr (std::is_same_v<T, std::vector<std::int64_t>>)
          return fmt::format("[{}]", fmt::join(v, ","));
        else
          return fmt::format("{}", v);
      },
      value);
}

}  // namespace opbench
