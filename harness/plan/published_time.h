#pragma once

#include <string>

namespace opbench {

/// A step's time on another machine, from a published record of its tuning.
struct PublishedTime {
  double ms = 0;        ///< of one call; 0: not published
  int samples = 1;      ///< per call there
  std::string source;   ///< "tuning record of ShuffleNetV2, Ascend 910"
  double gb_per_s = 0;  ///< of that machine's memory, reads and writes; 0: unknown
};

}  // namespace opbench
