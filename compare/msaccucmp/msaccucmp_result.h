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

/// Why msaccucmp would not compare the two tensors: DataType, Stride or, of tensors that can be
/// read, the number of elements; empty if it would. Its own words, and Python's.
std::string msaccucmp_refusal(const std::string& op, const DumpEntry& actual,
                              const DumpEntry& golden);

/// One finished line of the result.
struct MsaccucmpLine {
  MsaccucmpRow row;
  std::string dtype = kMsaccucmpNone, shape = kMsaccucmpNone;
  std::vector<std::string> cells;  ///< as many as there are algorithms
  /// Whether it has a column or not; NaN where there is none or it is NaN.
  double cosine = std::numeric_limits<double>::quiet_NaN();

  /// What `-p 1` keeps: cosine missing, not a number, or at most 0.95.
  bool is_to_look_at() const;
};

/// Calls back with every line of a result, in order. It can be gone through several times, because
/// all lines at once take much memory.
using MsaccucmpLines = std::function<void(const std::function<void(const MsaccucmpLine&)>&)>;

/// The line of a row; `measures` is null where the row or `msaccucmp_refusal` leaves nothing to
/// measure.
MsaccucmpLine msaccucmp_line(const MsaccucmpRow& row, std::span<const Metric> metrics,
                             const MsaccucmpMeasures* measures);

/// The file as msaccucmp writes it: comma separated, CRLF, quotes only where needed.
void write_msaccucmp_csv(std::ostream& out, std::span<const Metric> metrics,
                         const MsaccucmpLines& lines);

/// The three lines of advisor_summary.txt: what kind of problem the cosines show, where it begins,
/// what to do. Without a column of cosines there is no advice.
std::string msaccucmp_advice(const MsaccucmpLines& lines, std::span<const Metric> metrics);

}  // namespace opbench
