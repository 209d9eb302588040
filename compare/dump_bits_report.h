#pragma once

#include <iosfwd>

#include "compare/dump_bits.h"

namespace opbench {

/// Prints the calls whose bits differ, at most `top` (0: all), with the first unequal element of
/// each, the explanations, and the counts. `has_all`: also the calls with equal bits.
void print_bits(std::ostream& out, const BitComparison& found, std::size_t top, bool has_all,
                std::size_t width);

/// {"first", "second", "partial", "calls": [{"op", "seq", "module", "state", "equal_inputs",
/// "explanation", "outputs": [{"name", "elements", "unequal", "how", "place", "first", "second",
/// "ulp", "reason"}]}]}
void write_bits_json(std::ostream& out, const BitComparison& found);

}  // namespace opbench
