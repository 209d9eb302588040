#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "profiles/ingest.h"

namespace opbench {

/// Where the time of a step goes: of all steps on all devices, in picoseconds. Overlapping time of
/// one kind counts once.
struct StepTime {
  std::int64_t count = 0;  ///< steps, or files where the profile has no steps
  bool has_steps = false;
  std::int64_t mean_ps = 0;   ///< how long one takes
  std::int64_t whole_ps = 0;  ///< all of them on all devices
  std::int64_t computing_ps = 0;
  std::int64_t communication_ps = 0;        ///< also while something computes
  std::int64_t communication_alone_ps = 0;  ///< while nothing computes
  std::int64_t copies_alone_ps = 0;         ///< between memories, while neither runs

  /// "step", or "profile" where there are no steps.
  std::string_view whole_name() const { return has_steps ? "step" : "profile"; }
  std::int64_t idle_ps() const;
  double share(std::int64_t picoseconds) const;
};

/// The steps that a trace or step_trace_time.csv marks, else all of a trace, else what the start
/// times of tasks tell of steps; none where none of them tells.
std::optional<StepTime> step_time(const IngestResult& result);

/// The part of the steps in which an operator ran.
double step_share(const IngestResult& result, const StepTime& step, const HotOperator& one);

/// "One step takes 136.6 ms: computing 6.5 %, ..."; where no step is known the device time. Empty
/// where nothing ran on a device.
std::string headline(const IngestResult& result);

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
