#include "harness/plan/steps_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <vector>

#include "harness/plan/remedy_report.h"
#include "tensor/error.h"

namespace opbench {
namespace {

using Yaml = YAML::Node;

Yaml in_one_line(Yaml node) {
  node.SetStyle(YAML::EmitterStyle::Flow);
  return node;
}

Yaml variants_node(const Variants& variants) {
  Yaml node(YAML::NodeType::Map);
  for (const auto& [op, names] : variants) {
    if (names.size() == 1) {
      node[op] = names.front();
      continue;
    }
    for (const std::string& name : names) node[op].push_back(name);
    in_one_line(node[op]);
  }
  return in_one_line(node);
}

// The rules that differ from those of a context without rules.
Yaml rules_node(const FrameworkRules& rules) {
  Yaml node(YAML::NodeType::Map);
  const FrameworkRules unstated;
  for (const RuleWords& rule : rule_words()) {
    const std::size_t word = rule.get(rules);
    if (word != rule.get(unstated)) node[std::string(rule.name)] = std::string(rule.words[word]);
  }
  return in_one_line(node);
}

// "weight_format_init", "cat_shuffle_split.half"
std::string name_of(const RemedyStep& step) {
  std::vector<std::string> names;
  for (const Change& change : step.changes) {
    names.push_back(change.word == "true" ? change.name
                                          : fmt::format("{}.{}", change.name, change.word));
  }
  return fmt::format("{}", fmt::join(names, "-"));
}

Yaml step_node(const RemedyStep& step, const std::string& name, const std::string& after,
               const std::string& summary) {
  Yaml node;
  node["name"] = name;
  node["after"] = after;
  node["summary"] = summary;
  for (const Change& change : step.changes) {
    node[change.is_rule ? "rules" : "variants"][change.name] = change.word;
  }
  for (const char* key : {"rules", "variants"}) {
    if (node[key]) in_one_line(node[key]);
  }
  return node;
}

// The step called `name` and the steps that it builds on, from the first to the last.
std::vector<Yaml> steps_up_to(const Yaml& steps, std::string name) {
  std::vector<Yaml> chain;
  while (!name.empty()) {
    Yaml found;
    for (const Yaml& step : steps) {
      if (step["name"].as<std::string>() == name) found = step;
    }
    if (!found.IsMap()) throw Error(fmt::format("the context has no step '{}'", name));
    chain.insert(chain.begin(), found);
    name = found["after"] ? found["after"].as<std::string>() : "";
  }
  return chain;
}

// Adds the symbols and blocks that the step or the steps that it builds on replace.
void add_replacements(const std::vector<Yaml>& chain, Yaml& first) {
  for (const char* key : {"set", "blocks"}) {
    for (const Yaml& step : chain) {
      if (!step[key]) continue;
      for (const auto& entry : step[key]) {
        first[key][entry.first.as<std::string>()] = entry.second.as<std::string>();
      }
    }
    if (first[key]) in_one_line(first[key]);
  }
}

Yaml step_nodes(const std::vector<Yaml>& chain, const Remedy& remedy) {
  Yaml steps;
  Yaml first;
  first["name"] = remedy.start;
  first["summary"] = "as it is written";
  if (!remedy.written.variants.empty()) first["variants"] = variants_node(remedy.written.variants);
  if (remedy.written.rules != FrameworkRules{}) first["rules"] = rules_node(remedy.written.rules);
  add_replacements(chain, first);
  steps.push_back(first);
  std::string after = remedy.start;
  PlanCost before = remedy.before;
  for (std::size_t i = 0; i < remedy.steps.size(); ++i) {
    const RemedyStep& step = remedy.steps[i];
    const std::string name = fmt::format("{}.{}", i + 1, name_of(step));
    steps.push_back(step_node(step, name, after, "saves " + savings_text(before, step.cost)));
    after = name;
    before = step.cost;
  }
  return steps;
}

// The context as written, without its steps and the settings that they replace.
Yaml context_node(const Yaml& written, const ContextRemedy& found) {
  const std::vector<Yaml> chain =
      written["steps"] ? steps_up_to(written["steps"], found.remedy.start) : std::vector<Yaml>{};
  Yaml context;
  for (const auto& entry : written) {
    const auto key = entry.first.as<std::string>();
    if (key == "steps" || key == "variants" || key == "rules" || key == "dtypes") continue;
    context[key] = entry.second;
  }
  for (const char* key : {"precision", "standard", "samples"}) {
    for (const Yaml& step : chain) {
      if (step[key]) context[key] = step[key];
    }
  }
  context["dtypes"].push_back(std::string(name(found.dtype)));
  in_one_line(context["dtypes"]);
  context["steps"] = step_nodes(chain, found.remedy);
  return context;
}

Yaml context_called(const Yaml& document, const std::string& name) {
  for (const Yaml& context : document["contexts"]) {
    if (context["name"].as<std::string>() == name) return context;
  }
  throw Error(fmt::format("the file has no context '{}'", name));
}

}  // namespace

std::string steps_file_text(const std::string& text, const std::string& path,
                            const Symbols& symbols, std::span<const ContextRemedy> remedies) {
  try {
    const Yaml document = YAML::Load(text);
    Yaml result;
    if (document["symbols"]) result["symbols"] = document["symbols"];
    for (const auto& [symbol, value] : symbols) result["symbols"][symbol] = value;
    if (document["blocks"]) result["blocks"] = document["blocks"];
    for (const ContextRemedy& found : remedies) {
      result["contexts"].push_back(context_node(context_called(document, found.context), found));
    }
    YAML::Emitter emitter;
    emitter << result;
    return std::string(emitter.c_str()) + '\n';
  } catch (const YAML::Exception& error) {
    throw Error(path, error.what());
  }
}

}  // namespace opbench
