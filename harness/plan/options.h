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

  double seconds_per_case = kUsualSeconds;
  int repetitions = 9;
  /// Samples are repeated until their noise (`noise_of`) is within this share, or
  /// `seconds_per_case` have passed. 0: `repetitions` samples are taken.
  double until_noise = 0;
  bool cold = false;
  int input_copies = 1;   ///< places of the tensors, of which each sample uses another
  bool counters = false;  ///< counts during the timed calls
  bool verify = true;
  /// Larger outputs are verified on a sample of about this many elements.
  std::int64_t most_verified = std::int64_t{1} << 21;
  std::string standard = "bound";  ///< of rounded outputs; see parse_output_rule
  bool times = true;               ///< false: outputs are only verified, and dumped if requested

  static constexpr double kUsualSeconds = 0.1;
};

}  // namespace opbench
