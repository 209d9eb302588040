#include "profiles/cann_operators.h"

#include <algorithm>

#include "opbench_cann_operators.h"
#include "opbench_profile_rows.h"
#include "text/yaml_reader.h"

namespace opbench {
namespace {

std::vector<std::string> texts(const YamlValue& value, const std::string& what) {
  std::vector<std::string> all;
  for (const YamlValue& one : value.list(what)) all.push_back(one.text(what));
  return all;
}

CannOperator read_operator(const YamlValue& row) {
  CannOperator one;
  row.mapping(
      "an operator",
      {"names", "inputs", "outputs", "scalars", "each", "lists", "into", "gives", "part_of"},
      [&](const std::string& part, const YamlValue& of) {
        if (part == "names") one.names = texts(of, "a name");
        if (part == "inputs") one.inputs = texts(of, "an input");
        if (part == "outputs") one.outputs = texts(of, "an output");
        if (part == "scalars") one.scalars = texts(of, "an operand");
        if (part == "each") one.each = of.text("an operator");
        if (part == "lists") one.lists = static_cast<std::size_t>(of.integer("lists", 1, 9));
        if (part == "into") one.into = texts(of, "an operator");
        if (part == "gives") one.gives = of.text("an input");
        if (part == "part_of") one.part_of = of.text("an operator");
      });
  return one;
}

std::vector<CannOperator> read(const std::string& text, const std::string& path) {
  std::vector<CannOperator> all;
  parse_yaml(text, path)
      .mapping("the operators", {"operators"}, [&](const std::string& key, const YamlValue& rows) {
        for (const YamlValue& row : rows.list(key)) all.push_back(read_operator(row));
      });
  return all;
}

}  // namespace

const std::vector<CannOperator>& cann_operators() {
  static const std::vector<CannOperator> all = read(kCannOperatorsYaml, "cann_operators.yaml");
  return all;
}

const CannOperator* find_cann_operator(std::string_view name) {
  for (const CannOperator& one : cann_operators()) {
    if (std::find(one.names.begin(), one.names.end(), name) != one.names.end()) return &one;
  }
  return nullptr;
}

std::string tensor_name(const std::vector<std::string>& names, std::size_t i) {
  const bool is_list = !names.empty() && names.back().ends_with('*');
  if (is_list && i + 1 >= names.size()) {
    const std::string& pattern = names.back();
    return pattern.substr(0, pattern.size() - 1) + std::to_string(i + 1 - names.size());
  }
  return i < names.size() ? names[i] : "";
}

const OpTable& profile_op_table() {
  static const OpTable table = OpTable::parse(kProfileRowsYaml, "profile_rows.yaml");
  return table;
}

}  // namespace opbench
