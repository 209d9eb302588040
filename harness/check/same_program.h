#pragma once

#include "harness/check/peer.h"

namespace opbench::check {

/// True if both programs would do the same: files of the same bytes, which find the same libraries
/// and read the same case files.
bool is_same_program(const PeerProgram& base, const PeerProgram& current);

}  // namespace opbench::check
