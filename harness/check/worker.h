#pragma once

#include <iosfwd>

namespace opbench::check {

/// Runs this program as a worker of `opbench check`: sends a hello, then answers one request per
/// line (harness/check/protocol.h) until `in` ends or the run is interrupted.
void run_worker(std::istream& in, std::ostream& out);

}  // namespace opbench::check
