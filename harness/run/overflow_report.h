#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <string_view>

#include "harness/run/overflow_scan.h"
#include "text/fitted.h"

namespace opbench {

/// "IR: mul_Tensor SeqId: 3 is overflow!", in the format of Ascend's dumper.
std::string overflow_line(std::string_view op, std::string_view seq);

/// Prints a line for every operator that overflowed, with the values found; then the operators with
/// the least headroom, at most `top` (0: all); then the allowed loss scales.
void print_overflow(std::ostream& out, const OverflowScan& scan, std::size_t top,
                    const ConsoleStyle& style);

/// {"file", "command", "operators", "overflowed", "first", "records": [{"op", "seq", "overflow",
/// "detector"?, "nan", "inf", "largest", "elements", "headroom_bits", "dtype", "path",
/// "problem"?}], "loss_scale"?: {"recorded", "half", "largest", "limit", "limit_value", "smallest",
/// "gradients", "zero_share", "subnormal_share"}, "problems"}
void write_overflow_json(std::ostream& out, const OverflowScan& scan, const std::string& command);

}  // namespace opbench
