#include "judge/cause_texts.h"

#include <nlohmann/json.hpp>

namespace opbench {

std::string looks_like(const Cause& cause) { return "Looks like: " + cause.text; }

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
