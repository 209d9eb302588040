#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "profiles/line_reader.h"

namespace opbench {

/// The beginning of a file, at most 1 MiB. Host logs can begin with other output, up to the first
/// compiled operator.
std::string_view beginning(ByteWindow& window);

/// Files in the order in which they must be read.
struct ReadingOrder {
  std::vector<std::string> files;
  bool has_both = false;  ///< tables, and traces that may refer to their rows
};

/// MindSpore's list of operators comes first, then tables, then traces. A folder stands for the
/// host logs in it.
ReadingOrder in_reading_order(const std::vector<std::string>& paths);

}  // namespace opbench
