#pragma once

#include <string>

#include "dump/dump_source.h"

namespace opbench {

/// The numbers and short lists of numbers, such as alpha or a stride, that are not the same in both
/// records of a call: "alpha is 2, expected 1, and stride is [1,1], expected [2,2]". Empty if none
/// differs, or is on one side only; what cannot be read says nothing.
std::string differing_numbers(DumpSource& actual_file, const DumpRecord& actual,
                              DumpSource& expected_file, const DumpRecord& expected);

}  // namespace opbench
