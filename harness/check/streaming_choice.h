#pragma once

#include <string>

#include "harness/check/peer.h"

namespace opbench::check {

/// From how many bytes on results go past the caches is measured by each build, which chance moves
/// by a step: workers of all are told the current build's number where both are within a factor of
/// 2, so that only code decides. Where they are further apart in three processes each, the builds
/// differ in how they choose, and each keeps its own.
/// Returns what the report says of that; empty: they agree. Errors: as the calls of `Peer`.
std::string agree_on_streaming(Peer& base, Peer& null, Peer& current);

}  // namespace opbench::check
