#pragma once

#include <cstddef>
#include <iosfwd>
#include <span>
#include <string>

#include "harness/run/record.h"
#include "text/fitted.h"

namespace opbench::report {

/// How bars are drawn.
struct PlotStyle {
  ConsoleStyle console;
  bool is_unicode = true;  ///< eighths of blocks; else '#'
  std::size_t width = 80;  ///< columns of a line
};

/// A bar of `share`, from 0 to 1, of `columns`; at least its thinnest where the share is not 0.
std::string bar_text(double share, std::size_t columns, bool is_unicode);

/// The times of a case's variants as bars, the longest over the whole width; of a context the
/// ladder of its steps, with the factor to the first. Nothing where less than two were timed.
void plot_case(std::ostream& out, std::span<const Record> records, const PlotStyle& style);

/// How often variants over all cases are as fast as native (geometric mean) as bars; nothing where
/// less than two have such a number.
void plot_variants(std::ostream& out, std::span<const Record> records, const PlotStyle& style);

}  // namespace opbench::report
