#pragma once

#include <string>
#include <vector>

namespace opbench {

/// A record of a dump that an item computes again, and what is written of it into another dump.
struct LoadedRecord {
  std::string op;  ///< as in the file
  int seq = 0;
  std::vector<std::string> outputs;  ///< what the case's outputs are called; "": is not recorded
  std::string variant;               ///< whose outputs are written; "": nobody's
  std::vector<std::string> selecting = {};  ///< words of a command line that name the record
};

}  // namespace opbench
