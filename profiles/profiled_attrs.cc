#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <optional>

#include "profiles/profiled_case.h"
#include "tensor/utf8.h"

namespace opbench {
namespace {

std::optional<double> number_of(std::string_view text) {
  if (text == "True" || text == "true") return 1;
  if (text == "False" || text == "false") return 0;
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = status == std::errc{} && end == text.data() + text.size();
  return is_number ? std::optional(value) : std::nullopt;
}

// Splits at commas outside brackets.
std::vector<std::string_view> split_outside_brackets(std::string_view text) {
  std::vector<std::string_view> parts;
  int depth = 0;
  std::size_t start = 0;
  for (std::size_t i = 0; i <= text.size(); ++i) {
    if (i < text.size() && text[i] == '[') ++depth;
    if (i < text.size() && text[i] == ']') --depth;
    if (i < text.size() && (text[i] != ',' || depth > 0)) continue;
    parts.push_back(trimmed(text.substr(start, i - start)));
    start = i + 1;
  }
  return parts;
}

std::optional<std::vector<double>> numbers_of(std::string_view text) {
  const bool is_list = text.starts_with('[') && text.ends_with(']') && text.size() >= 2;
  if (is_list) text = trimmed(text.substr(1, text.size() - 2));
  std::vector<double> all;
  if (is_list && text.empty()) return all;
  for (const std::string_view part : split_outside_brackets(text)) {
    const std::optional<double> one = number_of(part);
    if (!one || (!is_list && !all.empty())) return std::nullopt;
    all.push_back(*one);
  }
  return all;
}

// The values of H and W from [1, 1, h, w], or from [1, h, w, 1] if channels are last or the pooling
// operator uses that order.
std::vector<double> of_plane(const std::vector<double>& all, bool is_channels_last) {
  if (all.size() != 4) return all;
  if (is_channels_last || (all[1] != 1 && all[3] == 1)) return {all[1], all[2]};
  return {all[2], all[3]};
}

}  // namespace

NamedNumbers attrs_of_log(std::string_view op, std::string_view logged) {
  NamedNumbers attrs;
  bool is_channels_last = false;
  if (logged.starts_with('{')) logged.remove_prefix(1);
  if (logged.ends_with('}')) logged.remove_suffix(1);
  for (const std::string_view part : split_outside_brackets(logged)) {
    const std::size_t equals = part.find('=');
    if (equals == std::string_view::npos) continue;
    const std::string_view value = trimmed(part.substr(equals + 1));
    const std::string key(trimmed(part.substr(0, equals)));
    if (key == "data_format") is_channels_last = value == "NHWC";
    if (auto numbers = numbers_of(value)) attrs[key] = *std::move(numbers);
  }
  for (auto& [key, value] : attrs) {
    if (key == "strides" || key == "dilations" || key == "ksize") {
      value = of_plane(value, is_channels_last);
    } else if (key == "pads" && value.size() == 4) {
      // The order is above, below, left, right; WithArgmax pooling has [1, h, w, 1].
      const bool is_pair = op.find("WithArgmax") != std::string_view::npos;
      if (is_pair) {
        value = {value[1], value[2]};
      } else if (value[0] == value[1] && value[2] == value[3]) {
        value = {value[0], value[2]};
      }
    }
  }
  return attrs;
}

std::string to_string(const NamedNumbers& attrs) {
  std::string text;
  for (const auto& [key, value] : attrs) {
    text += fmt::format("{}{}=[{}]", text.empty() ? "" : " ", key, fmt::join(value, ","));
  }
  return text;
}

}  // namespace opbench
