#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "dump/dump_types.h"

namespace opbench {

/// Place of an array's elements.
struct ArrayPlace {
  int member = -1;          ///< index in the .zip file; -1: in the file itself
  std::int64_t offset = 0;  ///< bytes from the start of the member or file
  bool is_swapped = false;  ///< in the byte order opposite to this machine's
};

/// Content of a file of arrays. `places` has one element for each entry.
struct ArrayList {
  std::vector<DumpEntry> entries;
  std::vector<ArrayPlace> places;
  std::vector<std::string> problems;  ///< objects that are not arrays, one line each

  /// Adds an array that is dense, or has strides in elements; its data is at `place` and has at
  /// most `available` bytes. `name` must be unique and not empty. An array that does not fit gets a
  /// problem.
  void add(const std::string& name, StoredType type, const Dims& shape, const Dims& strides,
           const ArrayPlace& place, std::int64_t available);
  /// Adds an entry that cannot be read.
  void add_problem(const std::string& name, const std::string& problem);
};

/// Strides of a dense array whose first axis varies fastest.
Dims column_major_strides(const Dims& shape);

}  // namespace opbench
