#pragma once

#include <cstdint>

#include "judge/pair_rules.h"
#include "judge/pair_stats.h"

namespace opbench {

/// One element at a time, whatever the values: what vector code must agree with, and what it leaves
/// to this. `first` is the index of the first element in its tensor.
PairStats measure_doubles(const PairRules& rules, std::int64_t first, std::int64_t count,
                          const double* actual, const double* expected);

/// Integers in a type that holds every difference of theirs.
__extension__ using WideInteger = __int128;

/// The same for whole numbers of any width, stored as `rules` say: subtracted exactly. `scratch`
/// has room for them.
PairStats measure_integers(const PairRules& rules, std::int64_t first, std::int64_t count,
                           const void* actual, const void* expected, WideInteger* scratch);

/// Adds a pair with a NaN or an Inf, but not its values.
void add_nonfinite(PairStats& stats, std::int64_t index, double actual, double expected);

/// Adds one value to a side whose range is open.
void add_value(ValueCounts& values, double value);

/// Inf to -Inf stands for no values until a range is closed. Closing makes 0 of -0: which of both
/// is smaller nobody says.
void open_range(ValueCounts& values);
void close_range(ValueCounts& values);

}  // namespace opbench
