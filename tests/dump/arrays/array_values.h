#pragma once

#include <gtest/gtest.h>

#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

#include "dump/arrays/array_file.h"

namespace opbench {

inline const DumpEntry& entry_of(const ArrayFile& file, std::string_view name) {
  for (const DumpEntry& entry : file.entries()) {
    if (entry.name == name) return entry;
  }
  throw std::logic_error("no entry " + std::string(name));
}

/// Returns all values of the array of that name.
template <class T>
std::vector<T> values(ArrayFile& file, std::string_view name) {
  const DumpEntry& entry = entry_of(file, name);
  EXPECT_EQ(size_of(entry.stored), sizeof(T));
  std::vector<T> result(static_cast<std::size_t>(entry.desc.elements()));
  file.read(entry, {0, std::ssize(result)}, result.data());
  return result;
}

}  // namespace opbench
