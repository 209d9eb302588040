#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "compare/match_dumps.h"
#include "compare/name_map.h"
#include "dump/dump_types.h"

namespace opbench {

/// The difference between the numbers of the actual and of the expected dump's calls.
struct NumberShift {
  std::int64_t by = 0;
  const DumpRecord* first = nullptr;  ///< the actual call from which on they are

  bool operator==(const NumberShift&) const = default;
};

/// The shift under which most calls of the actual dump, from one call on, have a partner. A partner
/// is a call of the same operator. Its outputs are about equal, if they can be read. Empty if fewer
/// than three calls have a partner, or if unchanged numbers give at least half as many partners.
/// Reads samples of values of some calls, as `options` define; without samples the operators' names
/// decide. For pairing by number: in load mode, outputs were made from the expected dump's inputs.
std::optional<NumberShift> number_shift(std::span<const DumpRecord> actual,
                                        std::span<const DumpRecord> expected, const NameMap& map,
                                        const MatchOptions& options = {});

}  // namespace opbench
