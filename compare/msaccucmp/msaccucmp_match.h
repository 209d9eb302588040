#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "compare/matching.h"
#include "compare/name_map.h"
#include "dump/dump_types.h"

namespace opbench {

/// The rows of msaccucmp's result in its order, by its own rules: the k-th execution of an operator
/// against the k-th of its partner, names and parameters mapped, load mode where `actual` holds no
/// inputs of any kind, then what is left of the golden dump. Only tensors get rows.
/// `actual` and `golden` are ordered as DumpSource::records() gives them; rows point into them.
/// Source: the behaviour of msaccucmp.py of CANN 8.1.
std::vector<MsaccucmpRow> match_as_msaccucmp(std::span<const DumpRecord> actual,
                                             std::span<const DumpRecord> golden,
                                             const NameMap& map = default_name_map());

/// The first device of a dump's tensors that is not the CPU, in the file's order; the CPU if there
/// is none. msaccucmp does not look at the golden dump's inputs in load mode.
DeviceType device_of(std::span<const DumpRecord> records, bool counts_inputs = true);

}  // namespace opbench
