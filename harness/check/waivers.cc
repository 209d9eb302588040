#include "harness/check/waivers.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "text/input_file.h"
#include "text/name_pattern.h"
#include "text/yaml_reader.h"

namespace opbench::check {
namespace {

constexpr double kMostPercent = 1000, kMostFactor = 1e6;
constexpr std::size_t kMostWaivers = 1000;  // each is held against every result

std::string filled_text(const YamlValue& value, const std::string& what) {
  std::string text = value.text(what);
  if (text.empty()) value.fail(what + " is empty");
  return text;
}

bool is_date(const std::string& text) {
  constexpr std::string_view kForm = "0000-00-00";
  const auto fits = [](char letter, char form) {
    return form == '0' ? letter >= '0' && letter <= '9' : letter == form;
  };
  if (!std::equal(text.begin(), text.end(), kForm.begin(), kForm.end(), fits)) return false;
  const auto number = [&](std::size_t at, std::size_t digits) {
    return std::stoi(text.substr(at, digits));
  };
  return std::chrono::year_month_day(std::chrono::year(number(0, 4)),
                                     std::chrono::month(static_cast<unsigned>(number(5, 2))),
                                     std::chrono::day(static_cast<unsigned>(number(8, 2))))
      .ok();
}

// As text, which is ordered as days are.
std::string date_of(const YamlValue& value) {
  const std::string text = value.text("expires");
  if (!is_date(text))
    value.fail(fmt::format("expires is '{}'; it must be a day: 2026-12-31", text));
  return text;
}

void read_allowance(const YamlValue& value, Waiver& waiver) {
  value.mapping("allow", {"slower", "error", "gone"},
                [&](const std::string& key, const YamlValue& allowed) {
                  if (key == "slower") {
                    waiver.slower_percent = allowed.number("slower, percent", 0.1, kMostPercent);
                  } else if (key == "error") {
                    waiver.error_factor = allowed.number("error, a factor", 1, kMostFactor);
                  } else {
                    waiver.allows_gone = allowed.boolean("gone");
                  }
                });
  if (!waiver.slower_percent && !waiver.error_factor && !waiver.allows_gone) {
    value.fail("allow allows nothing; it needs slower: PERCENT, error: FACTOR or gone: true");
  }
}

void read_key(const std::string& key, const YamlValue& value, Waiver& waiver) {
  if (key == "id") {
    waiver.pattern = filled_text(value, "id");
    waiver.matches = value.located([&] { return name_pattern(waiver.pattern, "id"); });
  } else if (key == "variant") {
    waiver.variant = filled_text(value, "variant");
  } else if (key == "reason") {
    waiver.reason = filled_text(value, "reason");
  } else if (key == "expires") {
    waiver.expires = date_of(value);
  } else {
    read_allowance(value, waiver);
  }
}

Waiver read_waiver(const YamlValue& value) {
  Waiver waiver;
  waiver.place = value.place();
  bool is_allowance_there = false;
  value.mapping("a waiver", {"id", "variant", "reason", "expires", "allow"},
                [&](const std::string& key, const YamlValue& part) {
                  is_allowance_there |= key == "allow";
                  read_key(key, part, waiver);
                });
  const std::pair<bool, const char*> kNeeded[] = {{!waiver.pattern.empty(), "id"},
                                                  {!waiver.reason.empty(), "reason"},
                                                  {!waiver.expires.empty(), "expires"},
                                                  {is_allowance_there, "allow"}};
  for (const auto& [is_there, key] : kNeeded) {
    if (!is_there) value.fail(fmt::format("a waiver has no '{}'", key));
  }
  return waiver;
}

}  // namespace

std::vector<Waiver> parse_waivers(const std::string& text, const std::string& path) {
  std::vector<Waiver> waivers;
  parse_yaml(text, path)
      .mapping("the file", {"waivers"}, [&](const std::string&, const YamlValue& list) {
        const std::vector<YamlValue> values = list.list("waivers");
        if (values.size() > kMostWaivers) {
          list.fail(fmt::format("there are {} waivers; at most {} are allowed", values.size(),
                                kMostWaivers));
        }
        for (const YamlValue& value : values) waivers.push_back(read_waiver(value));
      });
  return waivers;
}

std::vector<Waiver> load_waivers(const std::string& path) {
  return parse_waivers(read_input_file(path, "file of waivers"), path);
}

}  // namespace opbench::check
