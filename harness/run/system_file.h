#pragma once

#include <filesystem>
#include <fstream>
#include <optional>

namespace opbench {

/// The number or the word that a file of /proc or /sys begins with. None if there is no such file,
/// or if it begins otherwise ("max").
template <class Value>
std::optional<Value> value_in(const std::filesystem::path& file) {
  std::ifstream in(file);
  Value value{};
  return in >> value ? std::optional(value) : std::nullopt;
}

}  // namespace opbench
