#pragma once

#include <iosfwd>
#include <span>
#include <string>
#include <vector>

#include "compare/match/matching.h"
#include "compare/measure/measure_pairs.h"
#include "compare/msaccucmp/msaccucmp_metrics.h"

namespace opbench {

/// Why msaccucmp would not compare the two tensors: DataType, Stride or the number of elements;
/// empty if it would. Its own words, and Python's.
std::string msaccucmp_refusal(const std::string& op, const DumpEntry& actual,
                              const DumpEntry& golden);

/// One finished line of the result.
struct MsaccucmpLine {
  MsaccucmpRow row;
  std::string dtype = "NaN", shape = "NaN";
  std::vector<std::string> cells;  ///< as many as there are algorithms
};

/// The line of a row; `measures` is null where the row or `msaccucmp_refusal` leaves nothing to
/// measure.
MsaccucmpLine msaccucmp_line(const MsaccucmpRow& row, std::span<const Metric> metrics,
                             const PairMeasures* measures);

/// The file as msaccucmp writes it: comma separated, CRLF, quotes only where needed.
void write_msaccucmp_csv(std::ostream& out, std::span<const Metric> metrics,
                         std::span<const MsaccucmpLine> lines);

/// The lines that `-p 1` keeps: cosine missing, not a number, or at most 0.95; all of them if
/// cosine was not asked for.
std::vector<MsaccucmpLine> lines_to_look_at(std::span<const MsaccucmpLine> lines,
                                            std::span<const Metric> metrics);

/// The three lines of advisor_summary.txt: what kind of problem the cosines show, where it begins,
/// what to do.
std::string msaccucmp_advice(std::span<const MsaccucmpLine> lines, std::span<const Metric> metrics);

}  // namespace opbench
