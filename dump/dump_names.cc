#include "dump/dump_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "dump/hdf5/errors.h"
#include "tensor/printable.h"

namespace opbench {
namespace {

bool is_control(char c) { return static_cast<unsigned char>(c) < 0x20 || c == 0x7f; }

void check_components(std::string_view name, const std::vector<std::string>& components) {
  for (const std::string& component : components) {
    const std::string problem = component_problem(component);
    if (problem.empty()) continue;
    throw Error(
        fmt::format("'{}' cannot name a dumped operator or tensor: {}", printable(name), problem));
  }
}

}  // namespace

std::vector<std::string> split_components(std::string_view name) {
  std::vector<std::string> components;
  for (;;) {
    const std::size_t slash = name.find('/');
    components.emplace_back(name.substr(0, slash));
    if (slash == name.npos) return components;
    name.remove_prefix(slash + 1);
  }
}

std::string component_problem(std::string_view component) {
  if (component.empty()) return "a component is empty";
  if (component == "." || component == "..") return fmt::format("'{}' is a component", component);
  if (component.find('/') != component.npos) return "a component contains '/'";
  if (std::any_of(component.begin(), component.end(), is_control)) {
    return "it contains control characters";
  }
  return "";
}

void check_op_name(std::string_view name) { check_components(name, {std::string(name)}); }

std::vector<std::string> tensor_name_components(std::string_view name) {
  std::vector<std::string> components = split_components(name);
  check_components(name, components);
  if (components.size() > 2) {
    throw Error(
        fmt::format("'{}' cannot name a dumped tensor: it has {} components, allowed are 1 "
                    "(argument) and 2 (list/element)",
                    name, components.size()));
  }
  return components;
}

}  // namespace opbench
