#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "harness/plan/case_selection.h"

namespace opbench {

/// Options of one run, from its command line.
struct RunOptions {
  CaseSelection selection;
  std::vector<int> threads;  ///< empty: all cores

  double seconds_per_case = 0.1;
  int repetitions = 9;
  bool cold = false;
  bool verify = true;
  /// Larger outputs are verified on a sample of about this many elements.
  std::int64_t most_verified = std::int64_t{1} << 21;
  std::string standard = "bound";  ///< of rounded outputs; see parse_output_rule
  bool times = true;               ///< false: outputs are only verified, and dumped if requested
};

}  // namespace opbench
