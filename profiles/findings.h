#pragma once

#include <optional>
#include <string>
#include <vector>

#include "profiles/step_time.h"

namespace opbench {

/// Where a finding can be seen: "Conv2D -> TransData -> MaxPool, 6 times", and a row.
struct Evidence {
  std::string text;
  SourceRow at;
};

/// Something that costs time and that tuning guides know a remedy for.
struct Finding {
  std::string rule;  ///< its name in hot_spot_rules.yaml
  std::string what;  ///< one line
  bool is_warning = false;
  double share = 0;  ///< of the device time; without a step also of what `what` says; 0: none
  std::optional<double> step_share;  ///< of the steps, where they and it are known
  std::vector<Evidence> evidence;    ///< what takes longest first, some of it
  std::string advice, tries;
};

/// Cores of the device, where the user states them: profiles do not.
struct CoreCounts {
  std::int64_t cube = 0, vector = 0;  ///< 0: not stated
};

/// What the rules find in a profile and its logs, the largest share of the step first; where no
/// step is known, of the device time. Evidence is bounded.
std::vector<Finding> find_remarks(const IngestResult& result, const CoreCounts& cores);

}  // namespace opbench
