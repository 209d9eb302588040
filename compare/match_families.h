#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "compare/name_map.h"
#include "dump/dump_types.h"

namespace opbench {

/// All calls of an operator in one dump, or of several operators that are counted together.
struct CallFamily {
  std::string op;                        ///< the first one's name
  std::vector<const DumpRecord*> calls;  ///< in order of execution
};

/// Calls of an operator in both dumps; either side may be empty.
struct FamilyPair {
  CallFamily actual, expected;
};

/// Includes every record of both dumps once.
std::vector<FamilyPair> pair_families(std::span<const DumpRecord> actual,
                                      std::span<const DumpRecord> expected, const NameMap& map);

}  // namespace opbench
