#pragma once

#include <iosfwd>

namespace opbench::check {

/// The build that this program is, as a worker of `opbench check`: says hello, then answers one
/// request a line (harness/check/protocol.h) until `in` ends or the run is interrupted.
void run_worker(std::istream& in, std::ostream& out);

}  // namespace opbench::check
