#pragma once

#include <string>

#include "dump/dump_source.h"

namespace opbench {

/// Numbers and short lists of numbers, such as alpha or a stride, that differ between both records
/// of a call: "alpha is 2, expected 1, and stride is [1,1], expected [2,2]". Empty if nothing
/// differs. Numbers on one side only and unreadable numbers are ignored.
std::string differing_numbers(DumpSource& actual_file, const DumpRecord& actual,
                              DumpSource& expected_file, const DumpRecord& expected);

}  // namespace opbench
