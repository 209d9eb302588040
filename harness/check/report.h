#pragma once

#include <iosfwd>

#include "harness/check/check.h"
#include "harness/report/report.h"
#include "harness/run/machine.h"

namespace opbench::check {

/// Version of check.json. Readers refuse other versions.
inline constexpr int kReportVersion = 1;

/// Prints the outcome first, then the items that need action with their evidence and the next
/// command. SAME items are only counted, unless `verbose`.
void print(std::ostream& out, const CheckReport& report, const ConsoleStyle& style, bool verbose);

/// Writes the whole report: format version, command, builds, machine, rule, noise, counts, items.
void write_json(std::ostream& out, const CheckReport& report, const Machine& machine);

/// Writes JUnit XML: a test case for every item, a test suite for every operator. SLOWER and lost
/// accuracy are failures, items that could not be judged are errors, AMBIGUOUS and INCOMPARABLE are
/// skipped. The command to run next is in system-out.
void write_junit(std::ostream& out, const CheckReport& report);

/// Writes Markdown for a pull request: the outcome, a table of at most ten rows, and the others
/// folded.
void write_markdown(std::ostream& out, const CheckReport& report);

/// Prints GitHub's workflow commands: an error for each regression, a warning for each open item,
/// at most ten of each, because GitHub shows no more.
void print_annotations(std::ostream& out, const CheckReport& report);

/// "3 SLOWER, 1 ERROR, 26 SAME": the verdicts that occur, most urgent first.
std::string counts_text(const CheckReport& report);

/// "opbench 0.1.0 (0123abcd) against old/opbench 0.1.0 (4567cdef)". The revision is that of
/// opbench. The text says so for a program with kernels of its own.
std::string builds_text(const CheckReport& report);

/// "this machine shows changes from 1.2%", or that the noise was not measured.
std::string noise_text(const CheckReport& report);

/// "softplus_v2 on softplus[...]", "step native of unit[...]". Lists in the id are shortened.
std::string title_of(const CheckedItem& item);

/// "+0.03% of the network"; empty without a time or with a single case.
std::string step_text(const CheckedItem& item);

}  // namespace opbench::check
