#include "compare/name_map_file.h"

#include <fmt/format.h>

#include <algorithm>

#include "text/input_file.h"
#include "text/yaml_reader.h"

namespace opbench {
namespace {

std::string name_of(const YamlValue& value, const std::string& what) {
  const std::string name = value.text(what);
  // A name is one component of a path in the file.
  if (name.empty() || name.find('/') != std::string::npos) {
    value.fail(fmt::format("{} is '{}'; it must not be empty and have no '/'", what, name));
  }
  return name;
}

void read_ops(const YamlValue& value, NameMap& map) {
  value.mapping("ops", [&](const std::string& op, const YamlValue& names) {
    const std::string what = fmt::format("a name of '{}' in the other dump", op);
    const std::vector<YamlValue> list = names.list(fmt::format("ops: {}", op), true);
    if (list.empty()) names.fail(fmt::format("ops: {} is an empty list", op));
    for (const YamlValue& name : list) map.ops[op].push_back(name_of(name, what));
  });
}

void read_params(const YamlValue& value, NameMap& map) {
  value.mapping("params", [&](const std::string& op, const YamlValue& params) {
    params.mapping(fmt::format("params: {}", op), [&](const std::string& mine, const YamlValue& v) {
      map.params[op][mine] = name_of(v, fmt::format("the other name of '{}'", mine));
    });
  });
}

// Adds the entries of the file to `map`, and the reverse of entries if the file has none for it.
void extend(NameMap& map, const NameMap& file) {
  for (const auto& [op, names] : file.ops) map.ops[op] = names;
  for (const auto& [op, names] : file.ops) {
    for (const std::string& name : names) {
      std::vector<std::string>& back = map.ops[name];
      const bool is_known = std::find(back.begin(), back.end(), op) != back.end();
      if (!is_known && !file.ops.contains(name)) back.insert(back.begin(), op);
    }
  }
  for (const auto& [op, params] : file.params) map.params[op] = params;
  for (const auto& [op, params] : file.params) {
    const auto names = map.ops.find(op);
    if (names == map.ops.end()) continue;
    for (const std::string& name : names->second) {
      if (file.params.contains(name)) continue;
      for (const auto& [mine, theirs] : params) map.params[name][theirs] = mine;
    }
  }
}

}  // namespace

NameMap parse_name_map(const std::string& text, const std::string& path) {
  NameMap file;
  parse_yaml(text, path)
      .mapping("a name map", {"ops", "params", "operators"},
               [&](const std::string& key, const YamlValue& value) {
                 if (key == "ops") read_ops(value, file);
                 if (key == "params") read_params(value, file);
                 // "operators" is what opbench judge reads there.
               });
  NameMap map = default_name_map();
  extend(map, file);
  return map;
}

NameMap load_name_map(const std::string& path) {
  return parse_name_map(read_input_file(path, "name map"), path);
}

}  // namespace opbench
