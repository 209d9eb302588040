#pragma once

#include <functional>
#include <iosfwd>
#include <limits>
#include <span>
#include <string>
#include <vector>

#include "compare/matching.h"
#include "compare/msaccucmp/msaccucmp_metrics.h"
#include "judge/measure_pairs.h"

namespace opbench {

/// The reason why msaccucmp would not compare the two tensors, in its own words and those of
/// Python: DataType, Stride or, for readable tensors, the number of elements. Empty if it would
/// compare them.
std::string msaccucmp_refusal(const std::string& op, const DumpEntry& actual,
                              const DumpEntry& golden);

/// One finished line of the result.
struct MsaccucmpLine {
  MsaccucmpRow row;
  std::string dtype = kMsaccucmpNone, shape = kMsaccucmpNone;
  std::vector<std::string> cells;  ///< as many as there are algorithms
  /// Set with and without a column for it. NaN if there is no value or the value is NaN.
  double cosine = std::numeric_limits<double>::quiet_NaN();

  /// True for lines that `-p 1` keeps: cosine missing, not a number, or at most 0.95.
  bool is_to_look_at() const;
};

/// Calls back with every line of a result, in order. It can be called several times, since all
/// lines at once need much memory.
using MsaccucmpLines = std::function<void(const std::function<void(const MsaccucmpLine&)>&)>;

/// The line of a row; `measures` is null if the row or `msaccucmp_refusal` prevents measuring.
MsaccucmpLine msaccucmp_line(const MsaccucmpRow& row, std::span<const Metric> metrics,
                             const MsaccucmpMeasures* measures);

/// Writes the file in msaccucmp's format: comma separated, CRLF, quotes only if needed.
void write_msaccucmp_csv(std::ostream& out, std::span<const Metric> metrics,
                         const MsaccucmpLines& lines);

/// The three lines of advisor_summary.txt: the kind of problem that the cosines show, its first
/// place, and advice. Empty without a column of cosines.
std::string msaccucmp_advice(const MsaccucmpLines& lines, std::span<const Metric> metrics);

}  // namespace opbench
