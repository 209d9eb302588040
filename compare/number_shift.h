#pragma once

#include <cstdint>
#include <optional>
#include <span>

#include "compare/match_dumps.h"
#include "compare/name_map.h"
#include "dump/dump_types.h"

namespace opbench {

/// By how much numbers of the actual dump's calls are larger than the expected dump's.
struct NumberShift {
  std::int64_t by = 0;
  const DumpRecord* first = nullptr;  ///< the actual call from which on they are

  bool operator==(const NumberShift&) const = default;
};

/// The shift under which most calls of the actual dump, from one call on, have a partner: one of
/// the same operator whose outputs, where they can be read, are about the same; none where less
/// than three have, or numbers as they are do half as well. Of the values a sample is read of some
/// calls alone: `options` says how, and without samples the operators' names decide. For pairing
/// by number, in load mode: outputs there were made from the expected dump's inputs.
std::optional<NumberShift> number_shift(std::span<const DumpRecord> actual,
                                        std::span<const DumpRecord> expected, const NameMap& map,
                                        const MatchOptions& options = {});

}  // namespace opbench
