#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dump/dump_types.h"

namespace opbench {

/// Where the elements of an array lie.
struct ArrayPlace {
  int member = -1;          ///< of the .zip file; -1: in the file itself
  std::int64_t offset = 0;  ///< bytes, from where the member or the file begins
  bool is_swapped = false;  ///< in the other byte order than this machine's
};

/// What a file of arrays holds. `places` has one for each entry.
struct ArrayList {
  std::vector<DumpEntry> entries;
  std::vector<ArrayPlace> places;
  std::vector<std::string> problems;  ///< what is no array, one line each

  /// `name` is not empty and no other's. Adds a dense array, or one with strides in elements of at
  /// most `available` bytes at `place`. What does not fit is told as the entry's problem.
  void add(const std::string& name, StoredType type, const Dims& shape, const Dims& strides,
           const ArrayPlace& place, std::int64_t available);
  /// Adds one that cannot be read.
  void add_problem(const std::string& name, const std::string& problem);
};

/// Strides of a dense array whose first axis varies fastest.
Dims column_major_strides(const Dims& shape);

}  // namespace opbench
