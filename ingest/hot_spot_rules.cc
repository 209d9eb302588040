#include "ingest/hot_spot_rules.h"

#include <algorithm>
#include <cmath>

#include "opbench_hot_spot_rules.h"
#include "text/yaml_reader.h"

namespace opbench {
namespace {

std::vector<std::string> words(const YamlValue& value, const std::string& what) {
  std::vector<std::string> all;
  for (const YamlValue& one : value.list(what, true)) all.push_back(one.text(what));
  return all;
}

bool is_among(const std::vector<std::string>& all, std::string_view text) {
  return std::find(all.begin(), all.end(), text) != all.end();
}

TaskGroup read_group(const YamlValue& value) {
  TaskGroup group;
  value.mapping("a group", {"name", "types", "cores", "names"},
                [&](const std::string& key, const YamlValue& of) {
                  if (key == "name") group.name = of.text("a name");
                  if (key == "types") group.types = words(of, "a type");
                  if (key == "cores") group.cores = words(of, "a core");
                  if (key == "names") group.name_parts = words(of, "a part of a name");
                });
  if (group.name.empty()) value.fail("a group needs a 'name'");
  return group;
}

void read_wait(const YamlValue& value, HotSpotRules& rules) {
  constexpr double kMostUs = 1e9;
  value.mapping("wait", {"longer_than_us", "share"},
                [&](const std::string& key, const YamlValue& of) {
                  if (key == "share") {
                    rules.wait_share = of.number("a share", 0, 1);
                  } else {
                    rules.long_wait_ps = std::llround(1e6 * of.number("a time", 0, kMostUs));
                  }
                });
}

}  // namespace

bool TaskGroup::holds(const DeviceTask& task) const {
  if (is_among(types, task.type) || is_among(cores, task.core)) return true;
  return task.type.empty() &&
         std::any_of(name_parts.begin(), name_parts.end(), [&](const std::string& part) {
           return task.name.find(part) != std::string_view::npos;
         });
}

HotSpotRules HotSpotRules::parse(const std::string& text, const std::string& path) {
  HotSpotRules rules;
  parse_yaml(text, path)
      .mapping(
          "hot spot rules", {"communication", "timeline", "groups", "wait", "recompile"},
          [&](const std::string& key, const YamlValue& value) {
            if (key == "groups") {
              for (const YamlValue& one : value.list(key)) rules.groups.push_back(read_group(one));
            } else if (key == "recompile") {
              value.mapping(key, {"after_steps"}, [&](const std::string&, const YamlValue& of) {
                rules.warm_steps = of.integer("steps", 0, 1000);
              });
            } else if (key == "wait") {
              read_wait(value, rules);
            } else if (key == "timeline") {
              value.mapping(key, {"computing", "copies"},
                            [&](const std::string& part, const YamlValue& of) {
                              (part == "copies" ? rules.copying_types : rules.computing_types) =
                                  words(of, part);
                            });
            } else {
              value.mapping(
                  key, {"cores", "names"}, [&](const std::string& part, const YamlValue& of) {
                    (part == "cores" ? rules.communication_cores : rules.communication_names) =
                        words(of, part);
                  });
            }
          });
  return rules;
}

const HotSpotRules& HotSpotRules::builtin() {
  static const HotSpotRules rules = parse(kHotSpotRulesYaml, "hot_spot_rules.yaml");
  return rules;
}

bool HotSpotRules::is_communication(const DeviceTask& task) const {
  return is_among(communication_cores, task.core) || is_communication_name(task.name);
}

bool HotSpotRules::is_communication_name(std::string_view name) const {
  return std::any_of(communication_names.begin(), communication_names.end(),
                     [&](const std::string& begin) { return name.starts_with(begin); });
}

bool HotSpotRules::computes(std::string_view task_type) const {
  return is_among(computing_types, task_type);
}

bool HotSpotRules::copies(std::string_view task_type) const {
  return is_among(copying_types, task_type);
}

}  // namespace opbench
