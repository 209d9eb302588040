#pragma once

#include <iosfwd>

#include "harness/check/check.h"
#include "harness/report/report.h"
#include "harness/run/machine.h"

namespace opbench::check {

/// Version of check.json. Readers refuse others.
inline constexpr int kReportVersion = 1;

/// The outcome first, then what needs action with its evidence and the next command; what is the
/// same is only counted, unless `verbose`.
void print(std::ostream& out, const CheckReport& report, const ConsoleStyle& style, bool verbose);

/// Everything: format version, command, builds, machine, rule, noise, counts, items.
void write_json(std::ostream& out, const CheckReport& report, const Machine& machine);

/// JUnit XML: a test case for every item, a test suite for every operator; SLOWER and lost accuracy
/// are failures, what could not be judged is an error, AMBIGUOUS and INCOMPARABLE are skipped. The
/// command to run next is in system-out.
void write_junit(std::ostream& out, const CheckReport& report);

/// For a pull request: the outcome, a table of at most ten rows, the rest folded away.
void write_markdown(std::ostream& out, const CheckReport& report);

/// GitHub's workflow commands: an error for each regression, a warning for what is open, at most
/// ten of each, since GitHub shows no more.
void print_annotations(std::ostream& out, const CheckReport& report);

/// "3 SLOWER, 1 ERROR, 26 SAME": verdicts that occur, what needs action first.
std::string counts_text(const CheckReport& report);

/// "opbench 0.1.0 (0123abcd) against old/opbench 0.1.0 (4567cdef)". The revision is opbench's: of a
/// program with kernels of its own the text says so.
std::string builds_text(const CheckReport& report);

/// "this machine shows changes from 1.2%", or that nobody measured it.
std::string noise_text(const CheckReport& report);

/// "softplus_v2 on softplus[...]", "step native of unit[...]", lists in the id cut short.
std::string title_of(const CheckedItem& item);

/// "+0.03% of the network"; empty where there is no time or only one case.
std::string step_text(const CheckedItem& item);

}  // namespace opbench::check
