#pragma once

#include <span>
#include <string_view>

#include "tests/lab/planted.h"

namespace opbench {

/// A way in which a kernel may look faster, or more right, than it is.
struct Cheat {
  std::string_view name;
  std::string_view summary;
  Wrap wrap;  ///< around an honest kernel
  /// Null: wherever there are elements. Elsewhere it is honest.
  bool (*cheats_on)(const Problem& problem) = nullptr;
  double seconds = 0.002;  ///< of timing, in which it gets to cheat on a slow machine too
};

/// All that are known. Each must be caught wherever it cheats.
std::span<const Cheat> all_cheats();

}  // namespace opbench
