#include "judge/causes.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <set>

#include "opbench_causes.h"
#include "tensor/error.h"
#include "text/fitted.h"
#include "text/json_reader.h"
#include "text/yaml_reader.h"

namespace opbench {
namespace {

constexpr double kLargest = 1e300;
constexpr std::string_view kPlaces = "places_text";

void check_name(const YamlValue& place, const std::string& name) {
  const auto known = evidence_names();
  if (std::find(known.begin(), known.end(), name) != known.end()) return;
  const std::vector<std::string> names(known.begin(), known.end());
  place.fail(fmt::format("there is no evidence '{}'{}", name, suggestion(name, names)));
}

EvidenceRange read_range(const YamlValue& value) {
  EvidenceRange range;
  value.mapping("a range", {"least", "most"}, [&](const std::string& key, const YamlValue& of) {
    (key == "least" ? range.least : range.most) = of.number("a limit", -kLargest, kLargest);
  });
  if (!range.least && !range.most) value.fail("a range needs a 'least' or a 'most'");
  return range;
}

// The names in braces.
std::vector<std::string> placeholders(const YamlValue& value, const std::string& says) {
  std::vector<std::string> names;
  for (std::size_t at = says.find('{'); at != std::string::npos; at = says.find('{', at + 1)) {
    const std::size_t end = says.find('}', at);
    if (end == std::string::npos) value.fail("a { without its }");
    names.push_back(says.substr(at + 1, end - at - 1));
  }
  return names;
}

CauseRule read_rule(const YamlValue& value) {
  CauseRule rule;
  value.mapping("a cause", {"name", "group", "when", "says"},
                [&](const std::string& key, const YamlValue& of) {
                  if (key == "name") rule.name = of.text("a name");
                  if (key == "group") rule.group = of.text("a group");
                  if (key == "says") {
                    rule.says = of.text("a sentence");
                    for (const std::string& name : placeholders(of, rule.says)) {
                      if (name != kPlaces) check_name(of, name);
                    }
                  }
                  if (key != "when") return;
                  of.mapping("when", [&](const std::string& name, const YamlValue& range) {
                    check_name(range, name);
                    rule.when[name] = read_range(range);
                  });
                });
  if (rule.name.empty() || rule.group.empty() || rule.says.empty() || rule.when.empty()) {
    value.fail("a cause needs 'name', 'group', 'when' and 'says'");
  }
  return rule;
}

bool holds(const CauseRule& rule, const DepartureEvidence& evidence) {
  return std::all_of(rule.when.begin(), rule.when.end(), [&](const auto& condition) {
    const auto found = evidence.numbers.find(condition.first);
    if (found == evidence.numbers.end()) return false;
    const EvidenceRange& range = condition.second;
    return !(range.least && !(found->second >= *range.least)) &&
           !(range.most && !(found->second <= *range.most));
  });
}

std::string filled(const std::string& says, const DepartureEvidence& evidence) {
  std::string text;
  std::size_t from = 0;
  for (std::size_t at = says.find('{'); at != std::string::npos; at = says.find('{', from)) {
    const std::size_t end = says.find('}', at);
    text += says.substr(from, at - from);
    const std::string name = says.substr(at + 1, end - at - 1);
    const auto found = evidence.numbers.find(name);
    if (name == kPlaces) {
      text += evidence.places;
    } else {
      text += found == evidence.numbers.end() ? "?" : fmt::format("{:.6g}", found->second);
    }
    from = end + 1;
  }
  return text + says.substr(from);
}

}  // namespace

std::vector<CauseRule> parse_causes(const std::string& text, const std::string& path) {
  std::vector<CauseRule> rules;
  for (const YamlValue& one : parse_yaml(text, path).list("causes"))
    rules.push_back(read_rule(one));
  return rules;
}

const std::vector<CauseRule>& builtin_causes() {
  static const std::vector<CauseRule> rules = parse_causes(kCausesYaml, "causes.yaml");
  return rules;
}

std::vector<Cause> causes_of(const DepartureEvidence& evidence,
                             const std::vector<CauseRule>& rules) {
  std::vector<Cause> causes;
  std::set<std::string> spoken;
  for (const CauseRule& rule : rules) {
    if (spoken.contains(rule.group) || !holds(rule, evidence)) continue;
    spoken.insert(rule.group);
    causes.push_back({rule.name, filled(rule.says, evidence)});
  }
  return causes;
}

std::vector<Cause> find_causes(const DepartedValues& values) {
  return causes_of(find_evidence(values), builtin_causes());
}

std::string looks_like(const Cause& cause) { return "Looks like: " + cause.text; }

void say_causes(std::ostream& out, const JsonValue& output, std::size_t indent) {
  if (!output.has("causes")) return;  // older files and correct outputs
  output.member("causes").elements([&](const JsonValue& cause) {
    say(out, looks_like({"", cause.member("text").text()}), indent);
  });
}

std::string causes_cell(const std::vector<Cause>& causes) {
  std::string text;
  for (const Cause& cause : causes) text += (text.empty() ? "" : "; ") + cause.rule;
  return text;
}

nlohmann::ordered_json causes_value(const std::vector<Cause>& causes) {
  auto value = nlohmann::ordered_json::array();
  for (const Cause& cause : causes) value.push_back({{"rule", cause.rule}, {"text", cause.text}});
  return value;
}

}  // namespace opbench
