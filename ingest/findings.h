#pragma once

#include <optional>
#include <string>
#include <vector>

#include "ingest/host_log.h"
#include "ingest/hot_spots.h"

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
  double share = 0;                  ///< of the device time; 0: it is none of it
  std::optional<double> step_share;  ///< of the steps, overlapping time once
  std::vector<Evidence> evidence;    ///< what takes longest first, some of it
  std::string advice, tries;
};

/// Cores of the device, where the user states them: profiles do not.
struct CoreCounts {
  std::int64_t cube = 0, vector = 0;  ///< 0: not stated
};

/// What the rules find in a profile and its logs, the largest share first. Evidence is bounded.
std::vector<Finding> find_remarks(const HotSpots& spots, const HostLogs& logs,
                                  const CoreCounts& cores);

/// The part of the steps that operators are charged with, overlapping time once; none where start
/// times do not tell.
std::optional<double> step_share(const HotSpots& spots, const std::vector<std::uint32_t>& ids);

}  // namespace opbench
