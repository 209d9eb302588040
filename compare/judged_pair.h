#pragma once

#include <vector>

#include "compare/judge_dump.h"
#include "compare/name_map.h"

namespace opbench {

/// A call in two dumps that were judged, or in one of them.
struct JudgedPair {
  const JudgedRecord* first = nullptr;
  const JudgedRecord* second = nullptr;
};

/// Calls as `opbench compare` pairs them, in order of execution; those that were judged on neither
/// side are left out. Points into `first` and `second`.
std::vector<JudgedPair> pair_judged(DumpSource& first_file, const JudgedDump& first,
                                    DumpSource& second_file, const JudgedDump& second,
                                    const NameMap& map);

/// Whether only one side is guilty, which settles where an error was made, or both are.
struct PairCounts {
  std::int64_t pairs = 0, only_first = 0, only_second = 0, both = 0;
};
PairCounts count(const std::vector<JudgedPair>& pairs);

}  // namespace opbench
