#include "judge/standards.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include "opbench_standards.h"
#include "tensor/error.h"
#include "text/input_file.h"
#include "text/name_pattern.h"
#include "text/yaml_reader.h"

namespace opbench {
namespace {

using Number = std::function<double&(StandardNumbers&)>;

/// A number that a file can set.
struct NumberField {
  Number number;
  double least = 0, most = HUGE_VAL;
};

using Fields = std::map<std::string, NumberField>;
using Changes = std::vector<StandardChange>;

const std::vector<std::string> kStandardKeys = {"mixed", "statistical", "cosine", "cross-check"};

const Fields& fields_of(const std::string& standard) {
  static const std::map<std::string, Fields> kFields = {
      {"mixed",
       {{"rtol", {[](auto& n) -> double& { return n.mixed.rtol; }}},
        {"atol", {[](auto& n) -> double& { return n.mixed.atol; }}},
        {"limit", {[](auto& n) -> double& { return n.mixed.limit; }}},
        {"limit_ulp", {[](auto& n) -> double& { return n.mixed.limit_ulp; }}},
        {"inside", {[](auto& n) -> double& { return n.mixed.inside_share; }, 0, 1}}}},
      {"statistical",
       {{"mean", {[](auto& n) -> double& { return n.statistical_mean; }}},
        {"max", {[](auto& n) -> double& { return n.statistical_max; }}},
        {"floor", {[](auto& n) -> double& { return n.statistical_floor; }}}}},
      {"cosine", {{"least", {[](auto& n) -> double& { return n.cosine; }, -1, 1}}}},
      {"cross-check",
       {{"floor", {[](auto& n) -> double& { return n.cross_check_floor; }}},
        {"rounding", {[](auto& n) -> double& { return n.cross_check_rounding; }}}}},
  };
  return kFields.at(standard);
}

Fields level_fields(std::size_t level) {
  return {{"mare", {[level](auto& n) -> double& { return n.cross_check[level].mare; }}},
          {"mere", {[level](auto& n) -> double& { return n.cross_check[level].mere; }}},
          {"rmse", {[level](auto& n) -> double& { return n.cross_check[level].rmse; }}}};
}

// Parses "0.01" or "2^-9".
std::optional<double> parse_factor(std::string_view text) {
  const bool is_power = text.starts_with("2^");
  if (is_power) text.remove_prefix(2);
  double value = 0;
  const auto [end, status] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (status != std::errc{} || end != text.data() + text.size()) return std::nullopt;
  return is_power ? std::exp2(value) : value;
}

// Parses a factor or "10*2^-10".
std::optional<double> parse_number(std::string_view text) {
  const std::size_t star = text.find('*');
  if (star == std::string_view::npos) return parse_factor(text);
  const auto left = parse_factor(text.substr(0, star)), right = parse_factor(text.substr(star + 1));
  return left && right ? std::optional(*left * *right) : std::nullopt;
}

double number_of(const YamlValue& value, const std::string& what, const NumberField& field) {
  const std::string text = value.text(what);
  const auto number = parse_number(text);
  // This form is false for NaN.
  const bool fits = number && *number >= field.least && *number <= field.most;
  if (fits && std::isfinite(*number)) return *number;
  const std::string range = std::isfinite(field.most)
                                ? fmt::format("a number from {} to {}", field.least, field.most)
                                : fmt::format("a number of at least {}", field.least);
  value.fail(
      fmt::format("{} is '{}'; it must be {}, such as 0.01, 2^-9 or 10*2^-10", what, text, range));
}

std::vector<DType> all_dtypes() { return {kAllDTypes.begin(), kAllDTypes.end()}; }

std::vector<DType> dtypes_of(const std::string& text, const YamlValue& value) {
  if (text == "all") return all_dtypes();
  return value.located([&] { return std::vector{parse_dtype(text)}; });
}

void read_numbers(const YamlValue& value, const std::string& what, const Fields& fields,
                  const std::vector<DType>& dtypes, Changes& changes) {
  std::vector<std::string> allowed;
  for (const auto& [field, number] : fields) allowed.push_back(field);
  value.mapping(what, allowed, [&](const std::string& key, const YamlValue& number) {
    const NumberField& field = fields.at(key);
    changes.push_back({dtypes, field.number, number_of(number, key, field)});
  });
}

void read_standard(const std::string& standard, const YamlValue& value, Changes& changes) {
  value.mapping(standard, [&](const std::string& key, const YamlValue& numbers) {
    const std::string what = fmt::format("{}: {}", standard, key);
    if (standard == "cross-check" && (key == "L0" || key == "L1" || key == "L2")) {
      const auto level = static_cast<std::size_t>(key.back() - '0');
      return read_numbers(numbers, what, level_fields(level), all_dtypes(), changes);
    }
    read_numbers(numbers, what, fields_of(standard), dtypes_of(key, numbers), changes);
  });
}

std::function<bool(std::string_view)> named(const std::string& wanted) {
  return [wanted](std::string_view op) { return op == wanted; };
}

StandardRule read_rule(const YamlValue& value) {
  StandardRule rule;
  std::vector<std::string> keys = {"name", "regex", "standard"};
  keys.insert(keys.end(), kStandardKeys.begin(), kStandardKeys.end());
  value.mapping("an entry of operators", keys, [&](const std::string& key, const YamlValue& entry) {
    if (key == "name" || key == "regex") {
      if (rule.applies) entry.fail("an entry of operators has one of name and regex, not both");
      const std::string text = entry.text(key);
      rule.applies =
          key == "name" ? named(text) : entry.located([&] { return name_pattern(text, "regex"); });
    } else if (key == "standard") {
      rule.standard = entry.located([&] { return parse_standard(entry.text(key)); });
    } else {
      read_standard(key, entry, rule.changes);
    }
  });
  if (!rule.applies) value.fail("an entry of operators needs a name or a regex");
  return rule;
}

// Reads the changes of a file into existing standards.
void read_into(Standards& standards, const std::string& text, const std::string& path) {
  std::vector<std::string> keys = kStandardKeys;
  keys.emplace_back("operators");
  Changes changes;
  const auto read = [&](const std::string& key, const YamlValue& value) {
    if (key != "operators") return read_standard(key, value, changes);
    for (const YamlValue& entry : value.list(key)) standards.rules.push_back(read_rule(entry));
  };
  parse_yaml(text, path).mapping("a file of standards", keys, read);
  for (const StandardChange& change : changes) {
    for (const DType dtype : change.dtypes) {
      change.number(standards.numbers[static_cast<std::size_t>(dtype)]) = change.value;
    }
  }
}

}  // namespace

const Standards& builtin_standards() {
  static const Standards kStandards = [] {
    Standards standards;
    read_into(standards, kStandardsYaml, "judge/standards.yaml");
    return standards;
  }();
  return kStandards;
}

Standards parse_standards(const std::string& text, const std::string& path) {
  Standards standards = builtin_standards();
  read_into(standards, text, path);
  return standards;
}

Standards load_standards(const std::string& path) {
  return parse_standards(read_input_file(path, "file of standards"), path);
}

Tolerance mixed_tolerance(DType dtype) {
  Tolerance tolerance = builtin_standards().numbers[static_cast<std::size_t>(dtype)].mixed;
  tolerance.follows_scale = is_floating(dtype);
  return tolerance;
}

}  // namespace opbench
