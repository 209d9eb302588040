#pragma once

#include <span>
#include <string_view>

#include "tests/lab/planted.h"

namespace opbench {

/// A way in which a kernel may appear faster or more accurate than it is.
struct Cheat {
  std::string_view name;
  std::string_view summary;
  Wrap wrap;  ///< wraps a correct kernel
  /// Null: cheats if there are elements. The kernel is correct for other problems.
  bool (*cheats_on)(const Problem& problem) = nullptr;
  double seconds = 0.002;  ///< seconds of timing; enough for the cheat to start on a slow machine
};

/// All known cheats. Each must be detected in every problem in which it cheats.
std::span<const Cheat> all_cheats();

}  // namespace opbench
