#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "compare/match/name_map.h"
#include "dump/dump_types.h"

namespace opbench {

/// By how much the actual dump's numbers of calls are larger than the expected dump's, where that
/// pairs most calls of the same operators and their numbers as they are pair less than half as
/// many; none otherwise. Looks up to 16 in both directions. For pairing by number, in load mode.
std::optional<std::int64_t> number_shift(std::span<const DumpRecord> actual,
                                         std::span<const DumpRecord> expected, const NameMap& map);

}  // namespace opbench
