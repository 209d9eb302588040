#pragma once

#include <iosfwd>

namespace opbench::check {

/// The build that this program is, as a worker of `opbench check`: says hello, then answers one
/// request a line (harness/check/protocol.h) until `in` ends or the run is interrupted.
///
/// For tests of the check only: the variable OPBENCH_TEST_SLOWDOWN ("softplus_v2=10") makes
/// variants look slower by that many percent of extra calls, with OPBENCH_TEST_SLOW_PROCESSES
/// ("30") in so many percent of the processes; OPBENCH_TEST_WRONG_CALLS ("relu=10") gives so many
/// percent of the calls a wrong element.
void run_worker(std::istream& in, std::ostream& out);

}  // namespace opbench::check
