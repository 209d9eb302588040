#include "dump/dump_types.h"

#include <fmt/format.h>

#include <algorithm>

#include "dump/hdf5/c_api.h"
#include "tensor/utf8.h"

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

std::string to_string(DeviceType device) {
  switch (device) {
    case DeviceType::cpu:
      return "CPU";
    case DeviceType::cuda:
      return "CUDA";
    case DeviceType::npu:
      return "NPU";
  }
  return fmt::format("device {}", static_cast<std::int32_t>(device));
}

std::size_t size_of(StoredType stored) {
  switch (stored) {
    case StoredType::none:
      return 0;
    case StoredType::i8:
    case StoredType::u8:
    case StoredType::boolean:
      return 1;
    case StoredType::f16:
    case StoredType::i16:
    case StoredType::u16:
    case StoredType::bf16:
      return 2;
    case StoredType::f32:
    case StoredType::i32:
    case StoredType::u32:
      return 4;
    case StoredType::f64:
    case StoredType::i64:
    case StoredType::u64:
    case StoredType::c64:
      return 8;
    case StoredType::c128:
      break;
  }
  return 16;
}

std::string_view numpy_name(StoredType stored) {
  switch (stored) {
    case StoredType::none:
      return "";
    case StoredType::f16:
      return "float16";
    case StoredType::f32:
      return "float32";
    case StoredType::f64:
      return "float64";
    case StoredType::i8:
      return "int8";
    case StoredType::i16:
      return "int16";
    case StoredType::i32:
      return "int32";
    case StoredType::i64:
      return "int64";
    case StoredType::u8:
      return "uint8";
    case StoredType::u16:
      return "uint16";
    case StoredType::u32:
      return "uint32";
    case StoredType::u64:
      return "uint64";
    case StoredType::boolean:
      return "bool";
    case StoredType::bf16:
      return "bfloat16";
    case StoredType::c64:
      return "complex64";
    case StoredType::c128:
      break;
  }
  return "complex128";
}

std::vector<const DumpEntry*> DumpRecord::on(Side side) const {
  std::vector<const DumpEntry*> found;
  for (const DumpEntry& entry : entries) {
    if (entry.side == side) found.push_back(&entry);
  }
  return found;
}

const std::string* DumpRecord::note(std::string_view name) const {
  for (const Note& one : notes) {
    if (one.name == name) return &one.value;
  }
  return nullptr;
}

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
