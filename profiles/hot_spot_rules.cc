#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "opbench_hot_spot_rules.h"
#include "profiles/hot_spots.h"
#include "tensor/error.h"
#include "text/input_file.h"
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

std::int64_t picoseconds(const YamlValue& value) {
  constexpr double kMostUs = 1e9;
  return std::llround(1e6 * value.number("a time", 0, kMostUs));
}

void read_wait(const YamlValue& value, HotSpotRules& rules) {
  value.mapping("wait", {"longer_than_us", "share"},
                [&](const std::string& key, const YamlValue& of) {
                  if (key == "share") {
                    rules.wait_share = of.number("a share", 0, 1);
                  } else {
                    rules.long_wait_ps = picoseconds(of);
                  }
                });
}

void read_finding(const YamlValue& value, FindingRule& rule) {
  constexpr double kLargest = 1e6;
  value.mapping("a finding",
                {"share", "limit", "longer_than_us", "times", "types", "estimate", "advice", "try"},
                [&](const std::string& key, const YamlValue& of) {
                  if (key == "share") rule.share = of.number("a share", 0, 1);
                  if (key == "limit") rule.limit = of.number("a limit", 0, kLargest);
                  if (key == "longer_than_us") rule.longer_than_ps = picoseconds(of);
                  if (key == "times") rule.times = of.integer("a number", 0, 1'000'000);
                  if (key == "types") rule.types = words(of, "a type");
                  if (key == "estimate") rule.estimate = of.text("an estimate");
                  if (key == "advice") rule.advice = of.text("an advice");
                  if (key == "try") rule.tries = of.text("a way to try it");
                });
}

// Reads thresholds and texts of the findings that the program knows.
void read_findings(const YamlValue& value, HotSpotRules& rules) {
  const bool is_first = rules.findings.empty();
  value.mapping("findings", [&](const std::string& key, const YamlValue& of) {
    if (!is_first && !rules.findings.contains(key)) {
      std::vector<std::string> known;
      for (const auto& [name, rule] : rules.findings) known.push_back(name);
      of.fail(fmt::format("there is no finding '{}'{}", key, suggestion(key, known)));
    }
    read_finding(of, rules.findings[key]);
  });
}

void read_small(const YamlValue& value, HotSpotRules& rules) {
  value.mapping("small", {"up_to_us", "runs"}, [&](const std::string& key, const YamlValue& of) {
    if (key == "up_to_us") {
      rules.small_ps = picoseconds(of);
      return;
    }
    rules.runs.clear();
    for (const YamlValue& one : of.list("runs")) {
      KnownRun& run = rules.runs.emplace_back();
      one.mapping("a run", {"name", "types"}, [&](const std::string& part, const YamlValue& text) {
        if (part == "name") run.name = text.text("a name");
        if (part == "types") run.types = words(text, "a type");
      });
      if (run.name.empty() || run.types.empty()) one.fail("a run needs a 'name' and 'types'");
    }
  });
}

void read_communication(const YamlValue& value, HotSpotRules& rules) {
  value.mapping(
      "communication", {"cores", "names"}, [&](const std::string& part, const YamlValue& of) {
        (part == "cores" ? rules.communication_cores : rules.communication_names) = words(of, part);
      });
}

void read_timeline(const YamlValue& value, HotSpotRules& rules) {
  const std::map<std::string, std::vector<std::string>*> lists = {
      {"computing", &rules.computing_types},
      {"copies", &rules.copying_types},
      {"host_compiles", &rules.host_compiles},
      {"host_waits", &rules.host_waits},
      {"host_loads", &rules.host_loads}};
  value.mapping(
      "timeline", {"computing", "copies", "host_compiles", "host_waits", "host_loads"},
      [&](const std::string& part, const YamlValue& of) { *lists.at(part) = words(of, part); });
}

void read_groups(const YamlValue& value, HotSpotRules& rules) {
  rules.groups.clear();
  for (const YamlValue& one : value.list("groups")) rules.groups.push_back(read_group(one));
}

void read_rules(const std::string& text, const std::string& path, HotSpotRules& rules) {
  parse_yaml(text, path)
      .mapping("hot spot rules",
               {"communication", "timeline", "groups", "warning", "wait", "recompile", "small",
                "findings"},
               [&](const std::string& key, const YamlValue& value) {
                 if (key == "communication") read_communication(value, rules);
                 if (key == "timeline") read_timeline(value, rules);
                 if (key == "groups") read_groups(value, rules);
                 if (key == "warning") rules.warning = value.number("a share", 0, 1);
                 if (key == "wait") read_wait(value, rules);
                 if (key == "small") read_small(value, rules);
                 if (key == "findings") read_findings(value, rules);
                 if (key != "recompile") return;
                 value.mapping(key, {"after_steps"}, [&](const std::string&, const YamlValue& of) {
                   rules.warm_steps = of.integer("steps", 0, 1000);
                 });
               });
}

}  // namespace

bool TaskGroup::holds(const DeviceTask& task) const {
  if (is_among(types, task.type) || is_among(cores, task.core)) return true;
  return task.type.empty() && has_part_of(name_parts, task.name);
}

HotSpotRules HotSpotRules::parse(const std::string& text, const std::string& path) {
  HotSpotRules rules = builtin();
  read_rules(text, path, rules);
  return rules;
}

HotSpotRules HotSpotRules::load(const std::string& path) {
  return parse(read_input_file(path, "rules"), path);
}

const HotSpotRules& HotSpotRules::builtin() {
  static const HotSpotRules rules = [] {
    HotSpotRules read;
    read_rules(kHotSpotRulesYaml, "hot_spot_rules.yaml", read);
    return read;
  }();
  return rules;
}

bool HotSpotRules::is_in(std::span<const std::string_view> names, const HotOperator& one) const {
  DeviceTask task;
  task.type = one.type;
  task.core = one.core;
  task.name = one.name;
  return std::any_of(groups.begin(), groups.end(), [&](const TaskGroup& group) {
    return std::find(names.begin(), names.end(), group.name) != names.end() && group.holds(task);
  });
}

bool HotSpotRules::is_communication(const DeviceTask& task) const {
  return is_among(communication_cores, task.core) || is_communication_name(task.name);
}

// Graphs name operators with a path: "Default/AllReduce-op534_0".
bool HotSpotRules::is_communication_name(std::string_view name) const {
  name.remove_prefix(std::min(name.size(), name.rfind('/') + 1));
  return std::any_of(communication_names.begin(), communication_names.end(),
                     [&](const std::string& begin) { return name.starts_with(begin); });
}

bool HotSpotRules::computes(std::string_view task_type) const {
  return is_among(computing_types, task_type);
}

bool HotSpotRules::copies(std::string_view task_type) const {
  return is_among(copying_types, task_type);
}

std::optional<HostState> HotSpotRules::host_state(std::string_view name) const {
  if (has_part_of(host_compiles, name)) return HostState::compiles;
  if (has_part_of(host_waits, name)) return HostState::waits;
  if (has_part_of(host_loads, name)) return HostState::loads;
  return std::nullopt;
}

}  // namespace opbench
