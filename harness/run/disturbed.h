#pragma once

#include "harness/run/record.h"

namespace opbench {

/// Whether the times are those of the machine's other work rather than of the variant, by the
/// samples alone: their median is far above the best of them, or they are whole ticks of the
/// scheduler that took the cores away. Such a median is compared with nothing: no ratio, no mean
/// over cases, no fastest variant.
bool is_disturbed(const Times& times);

/// The same of a record; false where it was not timed.
bool is_disturbed(const Record& record);

/// Timed, and not disturbed: its median may be compared.
bool is_comparable(const Record& record);

}  // namespace opbench
