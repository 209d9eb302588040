#include "dump/device/device_names.h"

#include <fmt/format.h>

#include <algorithm>

#include "dump/dump_types.h"
#include "tensor/buffer.h"
#include "tensor/error.h"
#include "text/input_file.h"
#include "text/output_file.h"

namespace opbench {
namespace {

namespace fs = std::filesystem;

constexpr const char* kMappingFile = "mapping.csv";

std::vector<std::string> parts_of(std::string_view name) {
  std::vector<std::string> parts(1);
  for (const char letter : name) {
    if (letter == '.') {
      parts.emplace_back();
    } else {
      parts.back() += letter;
    }
  }
  return parts;
}

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(),
                                      [](char letter) { return letter >= '0' && letter <= '9'; });
}

}  // namespace

bool is_device_dump_name(std::string_view name) {
  constexpr std::size_t kFewest = 4, kMost = 9;
  const std::vector<std::string> parts = parts_of(name);
  return parts.size() >= kFewest && parts.size() <= kMost && !parts[0].empty() &&
         !parts[1].empty() && std::all_of(parts.begin() + 2, parts.end(), is_number);
}

std::string short_dump_name(std::string_view name, std::string_view op_name) {
  constexpr std::size_t kParts = 5;
  std::vector<std::string> parts = parts_of(name);
  if (parts.size() != kParts) return std::string(name);
  if (const std::size_t slash = op_name.rfind('/'); slash != op_name.npos) {
    op_name.remove_prefix(slash + 1);
  } else if (op_name.empty()) {
    op_name = parts[1];
    op_name.remove_prefix(op_name.rfind('_') + 1);
  }
  std::string last(op_name);
  std::replace_if(
      last.begin(), last.end(), [](char c) { return c == '.' || c == '\\'; }, '_');
  if (last.empty() || !component_problem(last).empty()) return std::string(name);
  return fmt::format("{}.{}.{}.{}.{}", parts[0], last, parts[2], parts[3], parts[4]);
}

NameMapping read_name_mapping(const fs::path& directory) {
  NameMapping mapping;
  const fs::path file = directory / kMappingFile;
  std::error_code ignored;
  if (!fs::exists(file, ignored)) return mapping;
  constexpr std::size_t kLargest = 256 << 20;
  const std::string text = read_input_file(file.string(), "", kLargest);
  std::size_t line = 0;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = std::min(text.find('\n', at), text.size());
    std::string_view row = std::string_view(text).substr(at, end - at);
    at = end + 1;
    ++line;
    if (row.ends_with('\r')) row.remove_suffix(1);
    if (row.empty()) continue;
    const std::size_t comma = row.find(',');
    const std::string_view name = comma == row.npos ? "" : row.substr(comma + 1);
    if (name.empty() || name.find('/') != name.npos || name.find('\0') != name.npos) {
      throw Error(fmt::format("{}:{}: expected a file's name, a comma and the name of a dump",
                              file.string(), line));
    }
    mapping.emplace(row.substr(0, comma), name);
  }
  return mapping;
}

void add_to_name_mapping(const fs::path& directory, const NameMapping& added) {
  NameMapping mapping = read_name_mapping(directory);
  mapping.insert(added.begin(), added.end());
  OutputFile((directory / kMappingFile).string()).write([&](std::ostream& out) {
    for (const auto& [file, name] : mapping) out << file << ',' << name << '\n';
  });
}

std::string fitting_file_name(const std::string& name) {
  constexpr std::size_t kLongest = 254;
  if (name.size() <= kLongest) return name;
  std::string suffix = fs::path(name).extension().string();
  constexpr std::size_t kLongestSuffix = 10;
  if (suffix.size() > kLongestSuffix) suffix.clear();
  const std::string salted = name + '#';
  return fmt::format("{:016x}{:016x}{}", checksum(name.data(), name.size()),
                     checksum(salted.data(), salted.size()), suffix);
}

}  // namespace opbench
